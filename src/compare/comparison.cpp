#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/check.h"
#include "base/quote.h"
#include "compare/results.h"
#include "ration/base/error.h"
#include "train/method_plan.h"

namespace ration::compare {
namespace {

template <class Choice>
std::string names_of(const std::vector<Choice>& choices) {
  std::string names;
  for (const Choice& choice : choices) names += (names.empty() ? "" : ", ") + choice.name;
  return names;
}

template <class Choice>
const Choice* find(const std::vector<Choice>& choices, const std::string& name) {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) { return choice.name == name; });
  return found == choices.end() ? nullptr : &*found;
}

// `make` gives a choice that the comparison does not list, or throws.
template <class Choice, class Make>
void choose(std::vector<Choice>& choices, const std::vector<std::string>& names, std::string_view where,
            const Make& make) {
  std::vector<Choice> chosen;
  for (const std::string& name : names) {
    if (find(chosen, name) != nullptr) throw InputError(fmt::format("{}: '{}' is named twice", where, name));
    const Choice* const known = find(choices, name);
    chosen.push_back(known != nullptr ? *known : make(name));
  }
  if (names.empty()) {
    std::copy_if(choices.begin(), choices.end(), std::back_inserter(chosen),
                 [](const Choice& choice) { return choice.by_default; });
  }
  choices = std::move(chosen);
}

// A choice that is one value of a plan's key.
template <class Choice>
Choice choice_of_plan(const std::string& key, const std::string& name, const std::vector<Choice>& listed,
                      std::string_view where) {
  try {
    Plan scratch;
    plan_key(key).set(scratch, where, name);
  } catch (const InputError& error) {
    if (listed.empty()) throw;
    throw InputError(fmt::format("{}; the file has {}", error.what(), names_of(listed)));
  }
  Choice choice;
  choice.name = name;
  choice.settings = {{key, name, std::string(where)}};
  return choice;
}

void set_keys(Plan& plan, const Settings& settings) {
  for (const Setting& setting : settings) forget_other_way(plan, setting.key, setting.text);
  for (const Setting& setting : settings) plan_key(setting.key).set(plan, setting.where, setting.text);
}

// What several methods share may hold settings that this one does not have.
Settings used(Settings shared, const Plan& chosen) {
  std::erase_if(shared, [&](const Setting& setting) { return !is_used(chosen, setting.key); });
  return shared;
}

// Names become parts of file names and fields of a table.
template <class Choice>
void require_names(const std::vector<Choice>& choices, std::string_view what) {
  if (choices.empty()) throw InputError(fmt::format("compare: expected at least one {}, got none", what));
  std::set<std::string> seen;
  for (const Choice& choice : choices) {
    const bool plain =
        !choice.name.empty() && std::all_of(choice.name.begin(), choice.name.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
        });
    if (!plain) {
      throw InputError(fmt::format("compare: {} {}: expected a name of letters, digits, '-', '_' and '.'",
                                   what, in_quotes(choice.name)));
    }
    if (choice.name == kMeanOfData)
      throw InputError(fmt::format("compare: {} 'mean': expected another name, this one is taken", what));
    if (!seen.insert(choice.name).second)
      throw InputError(fmt::format("compare: {} '{}' is there twice", what, choice.name));
  }
}

void require_epsilons(const Comparison& comparison) {
  if (comparison.epsilons.empty()) throw InputError("compare: epsilons are needed: numbers > 0");
  std::set<double> seen;
  for (const double epsilon : comparison.epsilons) {
    require("compare", "epsilon", epsilon, greater_than(0));
    if (!seen.insert(epsilon).second)
      throw InputError(fmt::format("compare: epsilon {} is there twice", show(epsilon)));
  }
  if (!comparison.delta) throw InputError("compare: delta is needed: 0 < delta < 1, well below 1 / rows");
  require("compare", "delta", *comparison.delta, greater_than(0).less_than(1));
}

void append(std::string& out, const Settings& settings) {
  for (const Setting& setting : settings) out += fmt::format("{} = \"{}\"\n", setting.key, setting.text);
}

std::string to_toml(const DataSet& set) {
  std::string out = fmt::format("\n[data.{}]\nfiles = [", set.name);
  for (const std::string& file : set.files)
    out += fmt::format("{}\"{}\"", out.back() == '[' ? "" : ", ", file);
  out += fmt::format("]\nschema = \"{}\"\n", set.schema);
  return out;
}

std::string to_toml(const ModelChoice& model) {
  std::string out = fmt::format("\n[models.{}]\n", model.name);
  append(out, model.settings);
  if (!model.smooth) return out;
  out += fmt::format("[models.{}.smooth]\n", model.name);
  append(out, *model.smooth);
  return out;
}

std::string to_toml(const MethodChoice& method) {
  std::string out = fmt::format("\n[methods.{}]\n", method.name);
  append(out, method.settings);
  if (method.smooth) out += "smooth = true\n";
  out += fmt::format("private = {}\n", method.is_private);
  return out;
}

}  // namespace

void choose_data(Comparison& comparison, const std::vector<std::string>& names, std::string_view where) {
  choose(comparison.data, names, where, [&](const std::string& name) -> DataSet {
    const std::string there =
        comparison.data.empty() ? "" : fmt::format("; there are {}", names_of(comparison.data));
    throw InputError(
        fmt::format("{}: unknown data set '{}'{}; a file needs --schema FILE", where, name, there));
  });
}

void choose_models(Comparison& comparison, const std::vector<std::string>& names, std::string_view where) {
  choose(comparison.models, names, where,
         [&](const std::string& name) { return choice_of_plan("model", name, comparison.models, where); });
}

void choose_methods(Comparison& comparison, const std::vector<std::string>& names, std::string_view where) {
  choose(comparison.methods, names, where, [&](const std::string& name) {
    MethodChoice method = choice_of_plan("method", name, comparison.methods, where);
    method.is_private = find_named<MethodKind>(name) != MethodKind::nonprivate;
    return method;
  });
}

void require_sound(const Comparison& comparison) {
  require_names(comparison.data, "data set");
  require_names(comparison.models, "model");
  require_names(comparison.methods, "method");
  require_epsilons(comparison);
  require("compare", "folds", static_cast<double>(comparison.folds), at_least(2).at_most(1e6));
  require("compare", "repeats", static_cast<double>(comparison.repeats), at_least(1).at_most(1e6));
  for (const DataSet& set : comparison.data) {
    if (set.files.empty() || set.schema.empty())
      throw InputError(fmt::format("compare: data set '{}' needs files and a schema", set.name));
  }
  for (const ModelChoice& model : comparison.models) {
    if (measuring_plan(comparison, model).model.is_auto())
      throw InputError(fmt::format(
          "compare: model '{}': all data sets are compared by one model, so it cannot be auto; name it",
          model.name));
    for (const MethodChoice& method : comparison.methods)
      plan_for(comparison, model, method, comparison.epsilons.front(), 1);
  }
}

Plan plan_for(const Comparison& comparison, const ModelChoice& model, const MethodChoice& method,
              double epsilon, double rows) {
  const Settings& of_model = method.smooth && model.smooth ? *model.smooth : model.settings;
  Plan chosen;
  set_keys(chosen, of_model);
  set_keys(chosen, method.settings);
  Plan plan;
  set_keys(plan, used(comparison.plan, chosen));
  set_keys(plan, used(of_model, chosen));
  set_keys(plan, method.settings);
  plan.epsilon = epsilon;
  plan.delta = comparison.delta;
  plan.rows = rows;
  return plan;
}

Plan measuring_plan(const Comparison& comparison, const ModelChoice& model) {
  Plan plan;
  set_keys(plan, comparison.plan);
  set_keys(plan, model.settings);
  return plan;
}

std::string to_toml(const Comparison& comparison) {
  std::string out = "epsilons = [";
  for (const double epsilon : comparison.epsilons) out += (out.back() == '[' ? "" : ", ") + show(epsilon);
  out += fmt::format("]\ndelta = {}\nfolds = {}\nrepeats = {}\n\n[plan]\n",
                     show(comparison.delta.value_or(0)), comparison.folds, comparison.repeats);
  append(out, comparison.plan);
  for (const DataSet& set : comparison.data) out += to_toml(set);
  for (const ModelChoice& model : comparison.models) out += to_toml(model);
  for (const MethodChoice& method : comparison.methods) out += to_toml(method);
  return out;
}

}  // namespace ration::compare
