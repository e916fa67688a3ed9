#include "metrics/regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

namespace ration {
namespace {

double mean_square(std::span<const double> predictions, std::span<const double> labels) {
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    sum += (predictions[i] - labels[i]) * (predictions[i] - labels[i]);
  return sum / static_cast<double>(labels.size());
}

// In two passes, so that a large mean costs no digits.
double variance(std::span<const double> labels) {
  const auto count = static_cast<double>(labels.size());
  const double mean = std::accumulate(labels.begin(), labels.end(), 0.0) / count;
  double sum = 0;
  for (const double label : labels) sum += (label - mean) * (label - mean);
  return sum / count;
}

}  // namespace

double root_mean_square_error(std::span<const double> predictions, std::span<const double> labels) {
  return std::sqrt(mean_square(predictions, labels));
}

double mean_absolute_error(std::span<const double> predictions, std::span<const double> labels) {
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) sum += std::abs(predictions[i] - labels[i]);
  return sum / static_cast<double>(labels.size());
}

std::optional<double> r_squared(std::span<const double> predictions, std::span<const double> labels) {
  const bool all_equal =
      std::adjacent_find(labels.begin(), labels.end(), std::not_equal_to<>()) == labels.end();
  if (all_equal) return std::nullopt;
  return 1 - mean_square(predictions, labels) / variance(labels);
}

}  // namespace ration
