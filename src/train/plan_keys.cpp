#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "base/read_number.h"
#include "ration/base/error.h"
#include "ration/objectives/network.h"
#include "ration/privacy/accountant.h"
#include "ration/train/plan.h"
#include "train/method_plan.h"
#include "train/noise_plan.h"

namespace ration {
namespace {

using Choices = std::vector<std::string>;

// A text as TOML writes it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Values that are not in a list, but are known when they are seen.
struct OtherChoices {
  bool (*accepts)(std::string_view) = [](std::string_view) { return false; };
  Choices (*names)() = [] { return Choices{}; };
};

// The keys in the order of the help text; each function adds one.
class KeyList {
 public:
  std::vector<PlanKey> keys;

  void group(std::string name) { group_ = std::move(name); }

  void text(std::string name, std::string value, std::string Plan::*member, std::string help) {
    add(
        name, std::move(value), std::move(help),
        [member](Plan& plan, std::string_view, std::string_view text) { plan.*member = text; },
        [member](const Plan& plan) -> std::optional<std::string> {
          if ((plan.*member).empty()) return std::nullopt;
          return quoted(plan.*member);
        });
  }

  void choice(std::string name, std::string Plan::*member, Choices choices, std::string help,
              OtherChoices others = {}) {
    help += fmt::format(" ({})", fmt::join(choices, ", "));
    add(
        name, "NAME", std::move(help),
        [name, member, choices = std::move(choices), others](Plan& plan, std::string_view where,
                                                             std::string_view text) {
          if (std::find(choices.begin(), choices.end(), text) == choices.end() && !others.accepts(text)) {
            Choices all = choices;
            for (std::string& other : others.names()) all.push_back(std::move(other));
            throw InputError(
                fmt::format("{}: expected one of {}, got '{}'", where, fmt::join(all, ", "), text));
          }
          plan.*member = text;
        },
        [member](const Plan& plan) { return std::optional(quoted(plan.*member)); });
  }

  // One of the shapes, or a file's path.
  void schedule(std::string name, std::string Plan::*member, std::string help) {
    help += fmt::format(" ({})", fmt::join(schedule_names(), ", "));
    add(
        name, "NAME|FILE", std::move(help),
        [member](Plan& plan, std::string_view where, std::string_view text) {
          require_schedule(where, text);
          plan.*member = text;
        },
        [member](const Plan& plan) { return std::optional(quoted(plan.*member)); });
  }

  // Member is double or optional<double>.
  template <class Member>
  void number(std::string name, std::string value, Member Plan::*member, Interval allowed, std::string help) {
    add(
        name, std::move(value), fmt::format("{}; {}", help, allowed.describe(name)),
        [name, member, allowed](Plan& plan, std::string_view where, std::string_view text) {
          plan.*member = read_number(where, name, text, allowed);
        },
        [member](const Plan& plan) { return shown(plan.*member); });
  }

  // Member is int64 or optional<int64>; `least` is 0 or 1.
  template <class Member>
  void count(std::string name, std::string value, Member Plan::*member, int least, std::string help) {
    add(
        name, std::move(value), fmt::format("{}; a whole number >= {}", help, least),
        [name, member, least](Plan& plan, std::string_view where, std::string_view text) {
          if (least == 0 && text == "0") {
            plan.*member = 0;
          } else {
            plan.*member = read_count(where, name, text);
          }
        },
        [member](const Plan& plan) { return shown(plan.*member); });
  }

  void yes_or_no(std::string name, bool Plan::*member, std::string help) {
    add(
        name, "", std::move(help),
        [member](Plan& plan, std::string_view where, std::string_view text) {
          if (text != "true" && text != "false") {
            throw InputError(fmt::format("{}: expected true or false, got '{}'", where, text));
          }
          plan.*member = text == "true";
        },
        [member](const Plan& plan) { return std::optional<std::string>(plan.*member ? "true" : "false"); });
  }

 private:
  static std::string shown_value(double value) { return show(value); }
  static std::string shown_value(std::int64_t value) { return std::to_string(value); }
  template <class Value>
  static std::optional<std::string> shown(const Value& value) {
    return shown_value(value);
  }
  template <class Value>
  static std::optional<std::string> shown(const std::optional<Value>& value) {
    if (!value) return std::nullopt;
    return shown_value(*value);
  }

  void add(std::string name, std::string value, std::string help, decltype(PlanKey::set) set,
           decltype(PlanKey::get) get) {
    keys.push_back(
        {std::move(name), std::move(value), std::move(help), group_, std::move(set), std::move(get)});
  }

  std::string group_;
};

void add_data_keys(KeyList& list) {
  list.group("Data");
  list.text("data", "FILE", &Plan::data,
            "The private rows: CSV, TSV, LIBSVM, .npy or .npz, gzip or not; or mnist:DIR, fashion-mnist, "
            "cifar10:DIR, text:FILE");
  list.text("schema", "FILE", &Plan::schema,
            "What is public about them: columns, bounds, categories (TOML); images and texts need none");
  list.text("target", "COLUMN", &Plan::target, "The label, in place of the schema's");
  list.number("rows", "N", &Plan::rows, at_least(1).at_most(1e15),
              "How many rows there are, as far as is public; left out, a noisy count is paid for");
}

void add_row_keys(KeyList& list) {
  list.number(
      "row_norm", "R", &Plan::row_norm, greater_than(0),
      "Longer rows are shortened to this; left out, 1 for objpert, outpert and bolton, whose proofs need it");
  list.choice("center", &Plan::center, {"auto", "yes", "no"},
              "Train a linear model on rows less their mean, which about 1 % of the budget pays for; auto: "
              "on scattered images");
}

void add_model_keys(KeyList& list) {
  list.group("Model");
  list.choice("model", &Plan::model, {"logistic", "softmax", "hinge", "huber", "squared", "scatter+softmax"},
              "What is fitted; scatter+softmax is for images; or a network, such as cnn:papernot",
              {is_network, network_names});
  list.number("huber_width", "H", &Plan::huber_width, greater_than(0),
              "Huber: how far the kink is rounded off");
}

Choices accountant_names() {
  Choices names{"auto"};
  for (const Accountant one : kAccountants) names.emplace_back(to_string(one));
  return names;
}

void add_privacy_keys(KeyList& list) {
  list.group("Privacy");
  list.number("epsilon", "EPS", &Plan::epsilon, greater_than(0), "The budget");
  list.number("delta", "DELTA", &Plan::delta, greater_than(0).less_than(1),
              "The budget; well below 1 / rows");
  list.choice("accountant", &Plan::accountant, accountant_names(),
              "Who adds up; auto takes the tightest that certifies the plan");
  list.choice("relation", &Plan::relation, {"auto", "add_remove", "replace_one"},
              "Which data sets are neighbours");
  list.text("ledger", "FILE", &Plan::ledger, "The ledger that keeps account of these rows");
}

Choices method_names() {
  Choices names;
  for (const Recipe& one : recipes()) names.push_back(one.name);
  return names;
}

void add_method_keys(KeyList& list) {
  list.group("Method");
  list.choice("method", &Plan::method, method_names(), "How it is trained");
  list.choice("sampling", &Plan::sampling, {"auto", "full", "poisson", "fixed"},
              "Which rows a step sees; auto: poisson if the rate is below 1");
  list.number("rate", "Q", &Plan::rate, greater_than(0).at_most(1),
              "The chance that a step sees a row; left out, the method's own");
  list.count("batch", "B", &Plan::batch, 1, "Expected rows in a step, in place of the rate; needs rows");
  list.count("steps", "T", &Plan::steps, 1, "Number of steps; left out, the method's own");
  list.number("epochs", "E", &Plan::epochs, greater_than(0), "Passes over the data, in place of steps");
  list.schedule(
      "schedule", &Plan::schedule,
      "How the noise changes from step to step; or a file of noise multipliers, by 'ration schedule'");
  list.number("gamma", "X", &Plan::gamma, greater_than(0).less_than(1),
              "influence: 1 - 1 / condition number; how much of a step's noise the next one keeps");
  list.number("schedule_rate", "X", &Plan::schedule_rate, at_least(0),
              "exponential, time: how fast the noise falls");
  list.count("schedule_every", "T", &Plan::schedule_every, 1, "step: steps between two drops");
  list.number("schedule_factor", "X", &Plan::schedule_factor, greater_than(0).at_most(1),
              "step: what a drop leaves");
  list.number("schedule_end", "X", &Plan::schedule_end, greater_than(0).at_most(1),
              "polynomial: the last noise over the first");
  list.number("schedule_power", "X", &Plan::schedule_power, greater_than(0), "polynomial: its power");
  list.number("noise", "SIGMA", &Plan::noise, greater_than(0),
              "Noise multiplier; left out, the smallest that the budget allows");
  list.choice("clip", &Plan::clip, {"auto", "abadi", "auto-v", "auto-s", "adaptive"},
              "How a row's gradient is bounded; auto: abadi, for most networks auto-s");
  list.number("clip_bound", "R", &Plan::clip_bound, greater_than(0),
              "The bound (adaptive: the first); left out, the method's own");
  list.number("clip_gamma", "GAMMA", &Plan::clip_gamma, greater_than(0), "auto-s: its stability constant");
  list.number("clip_quantile", "P", &Plan::clip_quantile, at_least(0).at_most(1),
              "adaptive: the quantile followed");
  list.yes_or_no("per_layer", &Plan::per_layer, "Clip each layer of a network by itself");
  list.number("clip_follow_rate", "X", &Plan::clip_follow_rate, greater_than(0), "adaptive: how fast");
}

void add_search_keys(KeyList& list) {
  list.group("Methods that pick their own steps (blsgd, blsgd-ac, blgd, agd, l2p)");
  list.number(
      "expected_steps", "T", &Plan::expected_steps, greater_than(0),
      "First budgets are for about so many steps; left out, 12 (agd 25, blgd 40, l2p the protector's)");
  list.number("loss_bound", "C", &Plan::loss_bound, at_least(1e-200).at_most(1e200),
              "Where a row's loss is cut off when steps are compared; left out, 1 (agd 3)");
  list.choice("search_noise", &Plan::search_noise, {"laplace", "gaussian"}, "Noise of the line search");
  list.number("first_step", "X", &Plan::first_step, greater_than(0),
              "The first candidate, which is the largest; left out, the method's own");
  list.count("candidates", "N", &Plan::candidates, 1, "Steps compared at most; left out, the method's own");
  list.number("shrink", "X", &Plan::shrink, greater_than(0).less_than(1),
              "Line search: each candidate over the one before");
  list.number("decrease", "X", &Plan::decrease, greater_than(0).less_than(1),
              "Line search: how much of the decrease that the gradient promises is enough");
  list.number("raise", "X", &Plan::raise, greater_than(0),
              "By what part a budget grows when no step is found; left out, 0.3 (blgd, agd 0.1)");
  list.number("clip_decay", "X", &Plan::clip_decay, greater_than(0).less_than(1),
              "blsgd-ac: by what part the bounds fall after that");
  list.text(
      "protector", "FILE", &Plan::protector,
      "l2p: who chooses noise and steps, by 'ration protector train'; left out, the shipped one for the "
      "nearest budget");
}

void add_step_keys(KeyList& list) {
  list.group("Steps");
  list.choice("step", &Plan::step,
              {"auto", "sgd", "heavy-ball", "momentum", "nesterov", "adam", "adamw", "nadam", "adagrad",
               "rmsprop", "adadelta"},
              "Step rule");
  list.number("lr", "X", &Plan::lr, greater_than(0), "Learning rate; left out, the method's own");
  list.choice("lr_shape", &Plan::lr_shape, {"constant", "cosine", "step"}, "How the learning rate falls");
  list.count("warm_up", "T", &Plan::warm_up, 0, "Steps in which the learning rate rises");
  list.count("drop_every", "T", &Plan::drop_every, 0, "lr_shape step: steps between two drops");
  list.number("drop_factor", "X", &Plan::drop_factor, greater_than(0).less_than(1),
              "lr_shape step: what a drop leaves");
  list.number("momentum", "B", &Plan::momentum, at_least(0).less_than(1), "Of the step rule");
  list.number("second_momentum", "B", &Plan::second_momentum, greater_than(0).less_than(1),
              "Of Adam and its kin");
  list.number("stability", "X", &Plan::stability, greater_than(0), "Of Adam and its kin");
  list.number("weight_decay", "X", &Plan::weight_decay, at_least(0),
              "L2 regularisation, added after the noise; left out, the method's own");
  list.yes_or_no("noise_correction", &Plan::noise_correction,
                 "Adam: take the noise out of the second moment");
  list.choice("average", &Plan::average, {"auto", "none", "half", "exponential"},
              "Which iterates become the model");
  list.number(
      "average_decay", "B", &Plan::average_decay, at_least(0).less_than(1),
      "average exponential: its memory; left out, a tenth of the steps (0.9 where their number is open)");
  list.count("checkpoint_every", "T", &Plan::checkpoint_every, 1,
             "Steps between checkpoints; left out, ten in a run");
}

std::vector<PlanKey> all_keys() {
  KeyList list;
  add_data_keys(list);
  add_row_keys(list);
  add_model_keys(list);
  add_privacy_keys(list);
  add_method_keys(list);
  add_search_keys(list);
  add_step_keys(list);
  return std::move(list.keys);
}

}  // namespace

std::string PlanKey::flag() const {
  std::string flag = "--" + name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::span<const PlanKey> plan_keys() {
  static const std::vector<PlanKey> keys = all_keys();
  return keys;
}

}  // namespace ration
