#pragma once

#include <memory>
#include <optional>

#include "clipping/adaptive.h"
#include "methods/method.h"
#include "steps/averaging.h"
#include "steps/learning_rate.h"
#include "steps/step_rule.h"

namespace ration {

// A clip bound that follows a quantile of the gradients' norms: each step also asks, of the same batch, how
// many rows are within the bound.
struct FollowQuantile {
  QuantileFollower follower{};
  double count_noise_ratio = 10;  // > 0; the count's noise multiplier over the gradient's
};

struct GradientDescentOptions {
  AnyClipRule clip = AutoS{};
  std::optional<FollowQuantile> follow{};  // only with `abadi` clipping
  std::vector<double> noise{};  // noise multiplier of each step, so its size is the number of steps
  LearningRate learning_rate{};
  StepOptions step{};
  AverageOptions average{};
  std::vector<double> start{};  // where it begins, one number per parameter; empty: at zero
};

// Private gradient descent: g = (sum of clipped gradients + noise) / divisor, then a step rule. [Abadi16,
// Alg. 1; Hong22, Alg. 1; L2P, Alg. 1]
//
// Stops after its last step, or before the first query that the budget refuses. InputError if the weights
// overflow.
// A step that throws may have moved some of the weights: they are private, but a step of their own, and the
// run goes on from its last checkpoint. A quantile is followed at the price of one more query on the same
// batch, charged together with the gradient. [Andrew21]
std::unique_ptr<Method> make_gradient_descent(GradientDescentOptions options, std::size_t parameters);

// The event of one of its steps, before sampling.
Event gradient_descent_event(double noise_multiplier, const std::optional<FollowQuantile>& follow);

}  // namespace ration
