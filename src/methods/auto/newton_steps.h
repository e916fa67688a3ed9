#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "methods/auto/design.h"
#include "ration/objectives/glm/glm_loss.h"

namespace ration {

// How far steps of a linear model on whitened rows go, and what is known of the noise in the end: all of it
// from weights and designs, which are private already.

// Of what a step is a step.
struct StepModel {
  GlmLoss loss = GlmLoss::logistic;
  double huber_width = 0.5;  // huber only
  std::size_t outputs = 1;   // 1 but for softmax
};

// Lengths for the gradients at w, one for each output: a part more than one over the curvature that rows of
// this design have there (curvature.h), since the curvature is an upper bound where rows are clipped; at most
// three over the curvature that a logistic or softmax model has at w = 0. `is_white`: the design comes from a
// second moment; else a row may have all its length in one direction, and lengths are divided by that.
std::vector<double> step_lengths(const StepModel& model, const Design& design, bool is_white,
                                 std::span<const double> w);

// Of one white direction at w, outputs x outputs: the Hessian that rows of this design have there.
std::vector<double> expected_hessian(const StepModel& model, const Design& design, std::span<const double> w);

// What is known of the noise in averaged weights.
struct NoiseOfAverage {
  double gradient_stddev = 0;  // of a coordinate of each gradient
  std::size_t steps = 0;       // all of them
  std::size_t averaged = 0;    // the last ones
  double kept_slope = 1;       // steeper rows of the expected length are clipped
};

// Shrinks all weights but the biases towards zero by the noise that is known to be in them [JamesStein61]. A
// step takes back as much of the noise before it as the curvature says that rows have which are not clipped;
// where most are, noise adds up from step to step.
void shrink_by_known_noise(const StepModel& model, const Design& design, bool is_white,
                           const NoiseOfAverage& noise, std::span<double> w);

}  // namespace ration
