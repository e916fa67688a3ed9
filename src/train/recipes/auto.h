#pragma once

#include <vector>

#include "methods/auto/auto_linear.h"
#include "train/method_plan.h"

namespace ration {

std::vector<Recipe> auto_recipes();

// Rows of a step at most: of more declared rows, each release sees a sample of about so many, drawn for it.
// 18 passes over ten million rows of 14 entries take about ten seconds on one thread, and of so many rows
// noise hardly matters.
inline constexpr double kMostRowsOfAStep = 10'000'000;

// Of a linear model: the releases of make_auto_linear(), scaled onto the budget.
class AutoPlan final : public FixedMethod {
 public:
  AutoPlan(GlmLoss loss, double huber_width);

  std::int64_t steps() const override { return static_cast<std::int64_t>(options_.stages.size()); }
  std::vector<CountedEvent> events(std::int64_t first_steps) const override;
  void set_noise(double size) override { options_.noise = size; }
  std::unique_ptr<Method> make(const ModelShape& model, const StepsSoFar& so_far) const override;
  std::string settings() const override;
  std::vector<PlannedRelease> releases() const override;

 private:
  AutoLinearOptions options_;
};

}  // namespace ration
