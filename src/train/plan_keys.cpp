#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/quote.h"
#include "base/read_number.h"
#include "ration/base/error.h"
#include "ration/train/plan.h"

namespace ration {
namespace {

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

template <class Enum>
void append_choices(std::vector<NameAndHelp>& choices) {
  for (const NamedValue<Enum>& one : name_table(Enum{}).values)
    choices.push_back({std::string(one.name), std::string(one.help)});
}

// The keys in the order of the help text; each function adds one.
class KeyList {
 public:
  std::vector<PlanKey> keys;

  void group(std::string name) { group_ = std::move(name); }

  void text(std::string name, std::string value, std::string Plan::*member, std::string help) {
    add({.name = std::move(name),
         .value = std::move(value),
         .help = std::move(help),
         .rule = {},
         .group = {},
         .choices = {},
         .set = [member](Plan& plan, std::string_view, std::string_view text) { plan.*member = text; },
         .get = [member](const Plan& plan) -> std::optional<std::string> {
           if ((plan.*member).empty()) return std::nullopt;
           return quoted(plan.*member);
         }});
  }

  template <class Enum>
  void choice(std::string name, Named<Enum> Plan::*member, std::string help) {
    PlanKey& key = add_choice(std::move(name), member, std::move(help));
    append_choices<Enum>(key.choices);
    key.set = [member](Plan& plan, std::string_view where, std::string_view text) {
      plan.*member = named<Enum>(where, text);
    };
  }

  template <class Enum>
  void choice(std::string name, NamedOrAuto<Enum> Plan::*member, std::string help, std::string help_of_auto) {
    PlanKey& key = add_choice(std::move(name), member, std::move(help));
    key.choices.push_back({std::string(kAuto), std::move(help_of_auto)});
    append_choices<Enum>(key.choices);
    key.set = [member](Plan& plan, std::string_view where, std::string_view text) {
      plan.*member = NamedOrAuto<Enum>::parsed(where, text);
    };
  }

  void model(std::string name, ModelName Plan::*member, std::string help) {
    PlanKey& key = add_choice(std::move(name), member, std::move(help));
    key.choices.assign(ModelName::choices().begin(), ModelName::choices().end());
    key.set = [member](Plan& plan, std::string_view where, std::string_view text) {
      plan.*member = ModelName(where, text);
    };
  }

  void schedule(std::string name, ScheduleName Plan::*member, std::string help) {
    PlanKey& key = add_choice(std::move(name), member, std::move(help));
    key.value = "NAME|FILE";
    append_choices<ScheduleKind>(key.choices);
    key.set = [member](Plan& plan, std::string_view where, std::string_view text) {
      plan.*member = ScheduleName(where, text);
    };
  }

  // Member is double or optional<double>.
  template <class Member>
  void number(std::string name, std::string value, Member Plan::*member, Interval allowed, std::string help) {
    add({.name = name,
         .value = std::move(value),
         .help = std::move(help),
         .rule = allowed.describe(name),
         .group = {},
         .choices = {},
         .set = [name, member, allowed](
                    Plan& plan, std::string_view where,
                    std::string_view text) { plan.*member = read_number(where, name, text, allowed); },
         .get = [member](const Plan& plan) { return shown(plan.*member); }});
  }

  // Member is int64 or optional<int64>; `least` is 0 or 1.
  template <class Member>
  void count(std::string name, std::string value, Member Plan::*member, int least, std::string help) {
    add({.name = name,
         .value = std::move(value),
         .help = std::move(help),
         .rule = fmt::format("a whole number >= {}", least),
         .group = {},
         .choices = {},
         .set =
             [name, member, least](Plan& plan, std::string_view where, std::string_view text) {
               if (least == 0 && text == "0") {
                 plan.*member = 0;
               } else {
                 plan.*member = read_count(where, name, text);
               }
             },
         .get = [member](const Plan& plan) { return shown(plan.*member); }});
  }

  void yes_or_no(std::string name, bool Plan::*member, std::string help) {
    add({.name = std::move(name),
         .value = {},
         .help = std::move(help),
         .rule = {},
         .group = {},
         .choices = {},
         .set =
             [member](Plan& plan, std::string_view where, std::string_view text) {
               if (text != "true" && text != "false") {
                 throw InputError(fmt::format("{}: expected true or false, got {}", where, in_quotes(text)));
               }
               plan.*member = text == "true";
             },
         .get =
             [member](const Plan& plan) {
               return std::optional<std::string>(plan.*member ? "true" : "false");
             }});
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

  PlanKey& add(PlanKey key) {
    key.group = group_;
    return keys.emplace_back(std::move(key));
  }

  // All but the choices and the setter.
  template <class Member>
  PlanKey& add_choice(std::string name, Member Plan::*member, std::string help) {
    return add({.name = std::move(name),
                .value = "NAME",
                .help = std::move(help),
                .rule = {},
                .group = {},
                .choices = {},
                .set = {},
                .get = [member](const Plan& plan) { return std::optional(quoted((plan.*member).name())); }});
  }

  std::string group_;
};

void add_data_keys(KeyList& list) {
  list.group("Data");
  list.text("data", "FILE", &Plan::data,
            "The private rows: CSV, TSV, LIBSVM, .npy or .npz, optionally gzipped; or mnist:DIR, "
            "fashion-mnist, cifar10:DIR, text:FILE");
  list.text("schema", "FILE", &Plan::schema,
            "What is public about the rows: columns, bounds, categories (TOML). Not needed for images and "
            "text:FILE");
  list.text("target", "COLUMN", &Plan::target, "Label column. Default: the schema's");
  list.number("rows", "N", &Plan::rows, at_least(1).at_most(1e15),
              "Number of rows, if it is public. Default: a noisy count, for about 1 % of the budget");
  list.text("unit", "COLUMN", &Plan::unit,
            "Protect whoever this column names, a patient for example, with all rows. Default: the schema's, "
            "or each row by itself");
  list.count(
      "rows_per_unit", "K", &Plan::rows_per_unit, 1,
      "Rows of one unit that are used at most; others are left out at random. Needed with unit. Default: "
      "the schema's");
  list.number("units", "N", &Plan::units, at_least(1).at_most(1e15),
              "Number of units, if it is public. Default: a noisy count, for about 1 % of the budget");
  list.number("row_norm", "R", &Plan::row_norm, greater_than(0),
              "Scale longer rows down to this norm. Default: 1 for objpert, outpert and bolton, whose proofs "
              "need it; otherwise none");
  list.choice("center", &Plan::center, "Subtract the mean of the rows before training a linear model",
              "yes for scatter+softmax, otherwise no.");
  list.choice("features", &Plan::features, "How a linear model sees numbers",
              "for method auto, hats where rows and budget carry them; otherwise linear.");
  list.choice("on_bad_row", &Plan::on_bad_row,
              "What happens to a row that breaks the schema, where the schema does not say (docs/schema.md)");
}

void add_model_keys(KeyList& list) {
  list.group("Model");
  list.model("model", &Plan::model,
             "Model. Also a neural network such as mlp:256,256 or cnn:papernot (docs/networks.md)");
  list.number("huber_width", "H", &Plan::huber_width, greater_than(0),
              "model huber: width of the smooth part");
}

void add_privacy_keys(KeyList& list) {
  list.group("Privacy");
  list.number("epsilon", "EPS", &Plan::epsilon, greater_than(0), "Privacy budget: epsilon");
  list.number("delta", "DELTA", &Plan::delta, greater_than(0).less_than(1),
              "Privacy budget: delta. Choose it well below 1 / rows");
  list.choice("accountant", &Plan::accountant, "Privacy accountant",
              "The tightest one that can certify the plan.");
  list.choice("relation", &Plan::relation, "Which data sets count as neighbours",
              "add_remove, or replace_one with sampling fixed.");
  list.text("ledger", "FILE", &Plan::ledger, "Privacy ledger to charge the run to");
  list.yes_or_no("data_hash", &Plan::data_hash,
                 "Put the SHA-256 of the data into the certificate. Not private: it confirms a guess of the "
                 "whole table. Without it the certificate has the ledger's keyed hash, or none");
}

void add_method_keys(KeyList& list) {
  list.group("Method");
  list.choice("method", &Plan::method, "Training method");
  list.choice("sampling", &Plan::sampling, "Which rows a step uses", "poisson if rate < 1, otherwise full.");
  list.number("rate", "Q", &Plan::rate, greater_than(0).at_most(1),
              "Sampling rate: expected share of the rows in a step. Default: depends on the method");
  list.count("batch", "B", &Plan::batch, 1, "Expected rows in a step, instead of rate. Needs rows");
  list.count("steps", "T", &Plan::steps, 1, "Number of steps. Default: depends on the method");
  list.number("epochs", "E", &Plan::epochs, greater_than(0), "Passes over the data, instead of steps");
  list.schedule("schedule", &Plan::schedule,
                "How the noise changes from step to step. Also a file of noise multipliers, such as 'ration "
                "schedule' writes");
  list.number("gamma", "X", &Plan::gamma, greater_than(0).less_than(1),
              "schedule influence, influence-momentum: 1 - 1 / condition number");
  list.number("schedule_rate", "X", &Plan::schedule_rate, at_least(0),
              "schedule exponential, time: how fast the noise falls");
  list.count("schedule_every", "T", &Plan::schedule_every, 1, "schedule step: steps between drops");
  list.number("schedule_factor", "X", &Plan::schedule_factor, greater_than(0).at_most(1),
              "schedule step: factor of each drop");
  list.number("schedule_end", "X", &Plan::schedule_end, greater_than(0).at_most(1),
              "schedule polynomial: last noise divided by first noise");
  list.number("schedule_power", "X", &Plan::schedule_power, greater_than(0), "schedule polynomial: exponent");
  list.number("noise", "SIGMA", &Plan::noise, greater_than(0),
              "Noise multiplier. Default: the smallest that the budget allows");
  list.choice("clip", &Plan::clip, "Gradient clipping", "abadi; auto-s for most networks.");
  list.number("clip_bound", "R", &Plan::clip_bound, greater_than(0),
              "Clip bound; with clip adaptive, the first one. Default: depends on the method");
  list.number("clip_gamma", "GAMMA", &Plan::clip_gamma, greater_than(0), "clip auto-s: stability constant");
  list.number("clip_quantile", "P", &Plan::clip_quantile, at_least(0).at_most(1),
              "clip adaptive: target quantile of the gradient norms");
  list.number("clip_follow_rate", "X", &Plan::clip_follow_rate, greater_than(0),
              "clip adaptive: how fast the bound follows");
  list.yes_or_no("per_layer", &Plan::per_layer, "Clip each layer of a network separately");
}

void add_search_keys(KeyList& list) {
  list.group("Methods that choose their own steps (blsgd, blsgd-ac, blgd, agd, l2p)");
  list.number("expected_steps", "T", &Plan::expected_steps, greater_than(0),
              "The first step gets the share of the budget that would last for this many steps. Default: 12; "
              "agd 25, blgd 40, networks 4000, l2p the protector's own");
  list.number("loss_bound", "C", &Plan::loss_bound, at_least(1e-200).at_most(1e200),
              "Loss of a row is cut off here when steps are compared. Default: 1; agd and networks 3");
  list.choice("search_noise", &Plan::search_noise, "Noise of the line search");
  list.number("first_step", "X", &Plan::first_step, greater_than(0),
              "First and largest step size that is tried. Default: depends on the method");
  list.count("candidates", "N", &Plan::candidates, 1,
             "Most step sizes that are compared; privgene: population size. Default: depends on the method");
  list.number("shrink", "X", &Plan::shrink, greater_than(0).less_than(1),
              "Line search: each step size divided by the previous one");
  list.number("decrease", "X", &Plan::decrease, greater_than(0).less_than(1),
              "Line search: accept a step that achieves this share of the decrease the gradient predicts");
  list.number("raise", "X", &Plan::raise, greater_than(0),
              "Relative increase of a budget when no step is found. Default: 0.3; blgd and agd 0.1");
  list.number("clip_decay", "X", &Plan::clip_decay, greater_than(0).less_than(1),
              "blsgd-ac: relative decrease of the clip bounds when no step is found");
  list.text("protector", "FILE", &Plan::protector,
            "l2p: the learned optimiser, from 'ration protector train'. Default: the one that comes with "
            "ration for the nearest budget");
}

void add_step_keys(KeyList& list) {
  list.group("Steps");
  list.choice("step", &Plan::step, "Step rule (optimiser)", "Depends on the method.");
  list.number("lr", "X", &Plan::lr, greater_than(0), "Learning rate. Default: depends on the method");
  list.choice("lr_shape", &Plan::lr_shape, "Learning rate schedule");
  list.count("warm_up", "T", &Plan::warm_up, 0, "Steps of linear warm-up of the learning rate");
  list.count("drop_every", "T", &Plan::drop_every, 0, "lr_shape step: steps between drops");
  list.number("drop_factor", "X", &Plan::drop_factor, greater_than(0).less_than(1),
              "lr_shape step: factor of each drop");
  list.number("momentum", "B", &Plan::momentum, at_least(0).less_than(1),
              "Momentum; beta_1 of Adam and its variants");
  list.number("second_momentum", "B", &Plan::second_momentum, greater_than(0).less_than(1),
              "beta_2 of Adam and its variants, decay of RMSProp and AdaDelta. Default: 0.999; rmsprop 0.99, "
              "adadelta 0.95");
  list.number("stability", "X", &Plan::stability, greater_than(0),
              "The small constant in the denominator of Adam and its variants. Default: 1e-8; adadelta 1e-6");
  list.number("weight_decay", "X", &Plan::weight_decay, at_least(0),
              "L2 regularisation, added after the noise. Default: depends on the method");
  list.yes_or_no("noise_correction", &Plan::noise_correction,
                 "adam, adamw, nadam: subtract the noise variance from the second moment");
  list.choice("average", &Plan::average, "Which iterates become the model", "Depends on the method.");
  list.number("average_decay", "B", &Plan::average_decay, at_least(0).less_than(1),
              "average exponential: decay. Default: a memory of a tenth of the steps; 0.9 where their number "
              "is not known in advance");
  list.count("checkpoint_every", "T", &Plan::checkpoint_every, 1,
             "Steps between checkpoints. Default: ten checkpoints in a run");
}

std::vector<PlanKey> all_keys() {
  KeyList list;
  add_data_keys(list);
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

std::string PlanKey::usual() const {
  const std::string toml = get(Plan{}).value_or("");
  return toml.starts_with('"') ? toml.substr(1, toml.size() - 2) : toml;
}

std::string PlanKey::describe() const {
  std::string text = help;
  if (!rule.empty()) text += "; " + rule;
  if (!choices.empty()) {
    std::vector<std::string_view> names;
    for (const NameAndHelp& choice : choices) names.push_back(choice.name);
    text += fmt::format(" ({})", fmt::join(names, ", "));
  }
  if (!value.empty() && !usual().empty()) text += fmt::format(" [{}]", usual());
  return text;
}

std::span<const PlanKey> plan_keys() {
  static const std::vector<PlanKey> keys = all_keys();
  return keys;
}

void forget_other_way(Plan& plan, std::string_view key, std::string_view text) {
  if (key == "rate") plan.batch.reset();
  if (key == "batch") plan.rate.reset();
  if (key == "steps") plan.epochs.reset();
  if (key == "epochs") plan.steps.reset();
  if (key == "schedule" && ScheduleName::is_path(text)) plan.steps.reset(), plan.epochs.reset();
}

const PlanKey& plan_key(std::string_view name, std::string_view where) {
  std::vector<std::string_view> names;
  for (const PlanKey& key : plan_keys()) {
    if (key.name == name) return key;
    names.push_back(key.name);
  }
  throw InputError(fmt::format("{}: unknown key {}; keys are {}{}", where, in_quotes(name),
                               fmt::join(names, ", "), did_you_mean(name, names)));
}

}  // namespace ration
