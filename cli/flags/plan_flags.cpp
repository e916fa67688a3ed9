#include "flags/plan_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "flags/explain.h"
#include "ration/base/error.h"

namespace ration::cli {

void offer_choices(CLI::Option* option, const PlanKey& key) {
  std::vector<Choice> choices;
  for (const NameAndHelp& one : key.choices) choices.push_back({one.name, one.help});
  if (!choices.empty()) offer_explained(option, std::move(choices));
}

void PlanFlags::add_to(CLI::App& command) {
  command.add_option("file", data_, "Private rows, same as --data")->type_name("FILE");
  add_keys_to(command);
}

void PlanFlags::add_with_plan_word_to(CLI::App& command) {
  command.add_option("which", plan_word_, "Plan file, or the folder of a run, same as --plan")
      ->type_name("PLAN");
  add_keys_to(command);
}

void PlanFlags::add_keys_to(CLI::App& command) {
  command.add_option("--plan", plan_, "Plan file (TOML); flags override it")->type_name("FILE");
  values_.resize(plan_keys().size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const PlanKey& key = plan_keys()[i];
    std::optional<std::string>& value = values_[i];
    CLI::Option* const option =
        key.value.empty() ? command.add_flag_callback(
                                key.flag(), [&value] { value = "true"; }, key.help)
                          : command.add_option(key.flag(), value, key.describe())->type_name(key.value);
    option->group(key.group);
    offer_choices(option, key);
  }
}

std::optional<std::string> PlanFlags::plan_file() const {
  if (plan_ && plan_word_) {
    throw InputError(fmt::format("the plan is given twice: '{}' and '{}'", *plan_word_, *plan_));
  }
  if (plan_word_ && std::filesystem::is_directory(*plan_word_)) return *plan_word_ + "/plan.toml";
  return plan_word_ ? plan_word_ : plan_;
}

Plan PlanFlags::read() const {
  const std::optional<std::string> file = plan_file();
  Plan plan = file ? read_plan(*file) : Plan{};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) forget_other_way(plan, plan_keys()[i].name, *values_[i]);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const PlanKey& key = plan_keys()[i];
    if (values_[i]) key.set(plan, key.flag(), *values_[i]);
  }
  if (data_ && has_data_flag()) {
    throw InputError(fmt::format("the data is given twice: '{}' and '{}'", *data_, plan.data));
  }
  if (data_) plan.data = *data_;
  return plan;
}

bool PlanFlags::has_data_flag() const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (plan_keys()[i].name == "data") return values_[i].has_value();
  }
  return false;
}

std::string PlanFlags::first_given() const {
  if (data_) return "'" + *data_ + "'";
  if (plan_word_) return "'" + *plan_word_ + "'";
  if (plan_) return "--plan";
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) return plan_keys()[i].flag();
  }
  return "";
}

}  // namespace ration::cli
