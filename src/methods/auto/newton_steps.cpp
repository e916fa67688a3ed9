#include "methods/auto/newton_steps.h"

#include <algorithm>
#include <cmath>

#include "base/squared_length.h"
#include "methods/auto/curvature.h"

namespace ration {
namespace {

constexpr double kNewton = 1.4;  // steps over Newton's
constexpr double kShrink = 0.5;  // of James and Stein's

// Steps of the squared loss, whose curvature is known, are Newton's.
double newton_part(const StepModel& model) {
  return model.loss == GlmLoss::squared ? 1 : kNewton;
}

double longest_step(const StepModel& model) {
  return std::max(12.0, 3 * static_cast<double>(model.outputs));
}

// Of each output, for weights w.
struct Outputs {
  std::vector<double> means, stddevs;
};

Outputs expected_outputs(const Design& design, std::span<const double> w) {
  Outputs outputs;
  const double per_direction = design.expected_squared_norm / static_cast<double>(design.directions);
  for (std::size_t first = 0; first < w.size(); first += design.view->coordinates()) {
    const double squares = squared_length(w.subspan(first, design.directions));
    outputs.means.push_back(w[first + design.directions]);
    outputs.stddevs.push_back(std::sqrt(squares * per_direction));
  }
  return outputs;
}

}  // namespace

std::vector<double> expected_hessian(const StepModel& model, const Design& design,
                                     std::span<const double> w) {
  const auto [means, stddevs] = expected_outputs(design, w);
  if (model.outputs > 1) return expected_softmax_hessian(means, stddevs);
  return {expected_curvature(model.loss, model.huber_width, means[0], stddevs[0])};
}

std::vector<double> step_lengths(const StepModel& model, const Design& design, bool is_white,
                                 std::span<const double> w) {
  const auto [means, stddevs] = expected_outputs(design, w);
  std::vector<double> lengths =
      model.outputs == 1
          ? std::vector{expected_curvature(model.loss, model.huber_width, means[0], stddevs[0])}
          : expected_softmax_curvatures(means, stddevs);
  const double damping = is_white ? 1 : 1 / (1 + design.expected_squared_norm);
  for (double& length : lengths) {  // also where there is no curvature to speak of, or no number
    const double steps = newton_part(model) / length;
    length = damping * (steps < longest_step(model) ? steps : longest_step(model));
  }
  return lengths;
}

void shrink_by_known_noise(const StepModel& model, const Design& design, bool is_white, double gradient_noise,
                           std::size_t averaged, std::span<double> w) {
  const std::vector<double> lengths = step_lengths(model, design, is_white, w);
  const double of_average =
      gradient_noise / std::sqrt(static_cast<double>(std::max<std::size_t>(1, averaged)));
  for (std::size_t k = 0; k < model.outputs; ++k) {
    const auto of_output = w.subspan(k * design.view->coordinates(), design.directions);
    const double noise = lengths[k] / newton_part(model) * of_average;
    const double squares = squared_length(of_output);
    const double of_noise = static_cast<double>(design.directions) * noise * noise;
    const double factor = squares > 0 ? std::max(0.0, 1 - kShrink * of_noise / squares) : 0;
    for (double& weight : of_output) weight *= factor;
  }
}

}  // namespace ration
