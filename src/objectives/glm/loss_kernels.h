#pragma once

#include <cstddef>
#include <span>

#include "objectives/glm/losses.h"

namespace ration {

// The losses of losses.h over a few rows at once, as vector instructions for those with one output. The same
// to a few units in the last place; what is bounded there is bounded here.

// Replaces each output by its slope.
void to_slopes(const LogisticLoss& loss, std::span<double> outputs, const double* labels);
void to_slopes(const HingeLoss& loss, std::span<double> outputs, const double* labels);
void to_slopes(const HuberHingeLoss& loss, std::span<double> outputs, const double* labels);
void to_slopes(const SquaredLoss& loss, std::span<double> outputs, const double* labels);

// The sum of the losses, each clipped into [0, bound]; one that is not finite counts 0. Overwrites the
// outputs.
double clipped_loss_sum(const LogisticLoss& loss, std::span<double> outputs, const double* labels,
                        double bound);
double clipped_loss_sum(const HingeLoss& loss, std::span<double> outputs, const double* labels, double bound);
double clipped_loss_sum(const HuberHingeLoss& loss, std::span<double> outputs, const double* labels,
                        double bound);
double clipped_loss_sum(const SquaredLoss& loss, std::span<double> outputs, const double* labels,
                        double bound);

// What rows have to do with a line w - step d: their products with w and with d.
struct LineOutputs {
  const double* starts;
  const double* slopes;
  const double* labels;
  std::size_t count;  // of rows
  double* scratch;    // as many places
};

// sums[k] += the sum of the losses at the k-th step, each clipped as above.
void add_clipped_losses(const LogisticLoss& loss, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums);
void add_clipped_losses(const HingeLoss& loss, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums);
void add_clipped_losses(const HuberHingeLoss& loss, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums);
void add_clipped_losses(const SquaredLoss& loss, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums);

}  // namespace ration
