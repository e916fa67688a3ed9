#include "flags/plan_flags.h"

#include <fmt/format.h>

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

Plan PlanFlags::read() const {
  Plan plan = plan_ ? read_plan(*plan_) : Plan{};
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
  if (plan_) return "--plan";
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) return plan_keys()[i].flag();
  }
  return "";
}

}  // namespace ration::cli
