#pragma once

#include <vector>

#include "methods/gradient_descent.h"
#include "train/method_plan.h"

namespace ration {

// Private gradient descent with a noise schedule.
class GradientDescentPlan final : public FixedMethod {
 public:
  // `shape`: the noise of each step, relative to the others.
  GradientDescentPlan(GradientDescentOptions options, std::vector<double> shape);

  std::int64_t steps() const override { return static_cast<std::int64_t>(shape_.size()); }
  std::vector<CountedEvent> events(std::int64_t first_steps) const override;
  double usual_noise() const override;
  void set_noise(double size) override;
  std::unique_ptr<Method> make(const ModelShape& model, const StepsSoFar& so_far) const override;
  std::string settings() const override;

  const GradientDescentOptions& options() const { return options_; }

 private:
  GradientDescentOptions options_;
  std::vector<double> shape_;
};

// dpsgd, and the baselines that differ from it in their defaults only: sgd-adv, sgd-ma, dpadam.
std::vector<Recipe> gradient_descent_recipes();

// What dpsgd leaves open gets the settings that suit a linear model of bags of words.
void fill_for_texts(Plan& plan);

}  // namespace ration
