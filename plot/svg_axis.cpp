#include "plot/svg_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ration::plot {
namespace {

// 1, 2 or 5 times a power of ten, so that four to seven ticks fit.
double round_tick_distance(double span) {
  const double rough = span / 7;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

double power_of_ten_below(double value) {
  return std::pow(10.0, std::floor(std::log10(value) + 1e-9));
}

// The largest of 1, 2, 5 times a power of ten that is not above the value.
double round_below(double value) {
  const double power = power_of_ten_below(value);
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

// 1, 2, 5 in each decade while there are few of them, then every decade, then every few.
std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 7)));
  const std::vector<double> factors = decades <= 3 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  std::vector<double> ticks;
  for (double power = power_of_ten_below(low); power <= high; power *= std::pow(10.0, stride)) {
    for (const double factor : factors) {
      const double tick = factor * power;
      if (tick >= low * (1 - 1e-9) && tick <= high) ticks.push_back(tick);
    }
  }
  return ticks;
}

}  // namespace

double Axis::position(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<double> Axis::ticks() const {
  if (logarithmic) return log_ticks(low, high);
  const double distance = round_tick_distance(high - low);
  std::vector<double> ticks;
  for (double k = std::ceil(low / distance - 1e-9); k * distance <= high * (1 + 1e-9); ++k) {
    ticks.push_back(k * distance);
  }
  return ticks;
}

Axis axis_for(const std::vector<double>& values, bool logarithmic) {
  double smallest = INFINITY;
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  if (largest == 0) return {};
  if (!logarithmic) return {.low = 0, .high = largest * 1.03, .logarithmic = false};
  return {.low = round_below(smallest), .high = largest * 1.1, .logarithmic = true};
}

Axis close_axis_for(const std::vector<double>& values) {
  double smallest = INFINITY;
  double largest = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  if (smallest > largest) return {};
  const double span = std::max(largest - smallest, 1e-6 + 0.01 * std::abs(largest));
  return {.low = smallest - 0.06 * span, .high = largest + 0.06 * span, .logarithmic = false};
}

Axis close_log_axis_for(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) {
    if (std::isfinite(value) && value > 0) logs.push_back(std::log(value));
  }
  if (logs.empty()) return {.low = 0.1, .high = 1, .logarithmic = true};
  const Axis axis = close_axis_for(logs);
  return {.low = std::exp(axis.low), .high = std::exp(axis.high), .logarithmic = true};
}

std::string tick_label(double value) {
  const double rounded = std::abs(value) < 1e-12 ? 0 : value;
  if (rounded != 0 && (std::abs(rounded) >= 1e6 || std::abs(rounded) < 1e-3)) {
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9));
    return fmt::format("{:.3g}e{}", rounded / std::pow(10.0, exponent), exponent);
  }
  return fmt::format("{:.6g}", rounded);
}

}  // namespace ration::plot
