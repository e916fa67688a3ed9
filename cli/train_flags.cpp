#include "train_flags.h"

namespace ration::cli {

void TrainFlags::add_to(CLI::App& command) {
  command.add_option("--plan", plan_, "A plan file (TOML); flags win over it")->type_name("FILE");
  values_.resize(plan_keys().size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const PlanKey& key = plan_keys()[i];
    std::optional<std::string>& value = values_[i];
    CLI::Option* const option = key.value.empty()
                                    ? command.add_flag_callback(
                                          key.flag(), [&value] { value = "true"; }, key.help)
                                    : command.add_option(key.flag(), value, key.help)->type_name(key.value);
    option->group(key.group);
  }
}

Plan TrainFlags::read() const {
  Plan plan = plan_ ? read_plan(*plan_) : Plan{};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const PlanKey& key = plan_keys()[i];
    if (values_[i]) key.set(plan, key.flag(), *values_[i]);
  }
  return plan;
}

std::string TrainFlags::first_given() const {
  if (plan_) return "--plan";
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) return plan_keys()[i].flag();
  }
  return "";
}

}  // namespace ration::cli
