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

// Shrinks all weights but the biases towards zero by the noise that is known to be in them [JamesStein61]:
// that of the mean of `averaged` gradients with noise of this standard deviation, after a Newton step.
void shrink_by_known_noise(const StepModel& model, const Design& design, bool is_white, double gradient_noise,
                           std::size_t averaged, std::span<double> w);

}  // namespace ration
