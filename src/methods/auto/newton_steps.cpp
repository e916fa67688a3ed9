#include "methods/auto/newton_steps.h"

#include <algorithm>
#include <cmath>

#include "base/squared_length.h"
#include "methods/auto/curvature.h"

namespace ration {
namespace {

constexpr double kNewton = 1.4;   // steps over Newton's
constexpr double kShrink = 0.25;  // of James and Stein's: more of it helps rare classes, and costs others

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

namespace {

// The variance of an average of the last `averaged` of `steps` weights in units of that of one step's noise,
// if a step leaves `kept` of what there was.
double variance_of_average(std::size_t steps, std::size_t averaged, double kept) {
  double sum = 0;
  double reaches = 0;  // how much of a step's noise the average's weights have together
  for (std::size_t left = 1; left <= steps; ++left) {
    reaches = left <= averaged ? 1 + kept * reaches : kept * reaches;
    sum += reaches * reaches;
  }
  return sum / (static_cast<double>(averaged) * static_cast<double>(averaged));
}

}  // namespace

void shrink_by_known_noise(const StepModel& model, const Design& design, bool is_white,
                           const NoiseOfAverage& noise, std::span<double> w) {
  const std::size_t coordinates = design.view->coordinates();
  const std::vector<double> lengths = step_lengths(model, design, is_white, w);
  const double per_direction = design.expected_squared_norm / static_cast<double>(design.directions);
  for (std::size_t k = 0; k < model.outputs; ++k) {
    const auto of_output = w.subspan(k * coordinates, design.directions);
    const double squares = squared_length(of_output);
    const double curvature =
        clipped_curvature(model.loss, model.huber_width, w[k * coordinates + design.directions],
                          std::sqrt(squares * per_direction), noise.kept_slope);
    const double kept = std::clamp(1 - lengths[k] * curvature * per_direction, -1.0, 1.0);
    const double stddev = lengths[k] * noise.gradient_stddev;
    const double of_noise = static_cast<double>(design.directions) * stddev * stddev *
                            variance_of_average(noise.steps, std::max<std::size_t>(1, noise.averaged), kept);
    const double factor = squares > 0 ? std::max(0.0, 1 - kShrink * of_noise / squares) : 0;
    for (double& weight : of_output) weight *= factor;
  }
}

}  // namespace ration
