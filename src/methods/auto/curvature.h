#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ration/objectives/glm/glm_loss.h"

namespace ration {

// The expected second derivative of a loss in its output, for outputs that are normal with this mean and
// standard deviation: about what a linear model has on whitened rows, given its weights. So the length of a
// Newton step follows from released numbers alone.
//
// Losses    logistic: E[p (1 - p)]. squared: 1. hinge and huber: that of a hinge rounded off within a
//           distance of at least 1, labels half and half; a kink has no second derivative.
double expected_curvature(GlmLoss loss, double huber_width, double mean, double stddev);

// The same of rows that are not clipped: whose slope is at most `kept`. Logistic and softmax (one class
// against the others): labels are as probable as the outputs say. hinge and huber: slopes are cut to `kept`,
// and so is the curvature. squared: all, since how far labels are from outputs is not known.
double clipped_curvature(GlmLoss loss, double huber_width, double mean, double stddev, double kept);

// Of softmax, for each class. As outputs pull on each other, it is that of the logistic loss of the class's
// output against all others', whose spread counts as far as they are probable, times the largest ratio
// between the Hessian H = diag(p) - p p^T of all outputs together and its diagonal: 1 + 1 / (classes - 1) for
// classes that are even, 2 where two of many have nearly all rows. p: the classes' probabilities at the
// means.
std::vector<double> expected_softmax_curvatures(std::span<const double> means,
                                                std::span<const double> stddevs);

// The expected Hessian of softmax in its outputs, diag(p) - p p^T, for outputs that are normal, each for
// itself: classes x classes.
std::vector<double> expected_softmax_hessian(std::span<const double> means, std::span<const double> stddevs);

}  // namespace ration
