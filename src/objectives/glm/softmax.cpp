#include "objectives/glm/losses.h"

namespace ration {
namespace {

// Replaces each output by e^(output - largest): none overflows. If one is NaN or infinite, some of them
// become NaN, and with them all sums over them.
void exponentiate(std::span<double> z) {
  const double largest = *std::max_element(z.begin(), z.end());
  for (double& value : z) value = std::exp(value - largest);
}

double sum_without(std::span<const double> values, std::size_t left_out) {
  double sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k) sum += k == left_out ? 0 : values[k];
  return sum;
}

}  // namespace

// Where the label's output is the largest, log(1 + others) keeps the digits that the textbook form loses.
double SoftmaxLoss::loss_at(std::span<const double> z, double label) const {
  const auto y = static_cast<std::size_t>(label);
  const double largest = *std::max_element(z.begin(), z.end());
  double others = 0;
  for (std::size_t k = 0; k < z.size(); ++k) others += k == y ? 0 : std::exp(z[k] - largest);
  if (z[y] == largest) return std::log1p(others);
  return largest - z[y] + std::log(others + std::exp(z[y] - largest));
}

// p_y - 1 is computed as minus the others' share, since it would lose its digits where p_y is almost 1.
double SoftmaxLoss::to_slopes(std::span<double> z, double label) const {
  const auto y = static_cast<std::size_t>(label);
  exponentiate(z);
  const double others = sum_without(z, y);
  const double all = others + z[y];
  z[y] = -others;
  double squares = 0;
  for (double& value : z) {
    value /= all;
    squares += value * value;
  }
  constexpr double kTooSmall = 1e-240;
  return squares < kTooSmall ? 0 : std::sqrt(squares);
}

}  // namespace ration
