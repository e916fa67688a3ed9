#include "support/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace ration::testing {
namespace {

constexpr double kSixSigma = 6.2;  // P[|normal| > 6.2] = 5.6e-10

double largest_distance(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double expected = cdf(sample[i]);
    const double below = static_cast<double>(i) / n;
    const double above = static_cast<double>(i + 1) / n;
    distance = std::max({distance, expected - below, above - expected});
  }
  return distance;
}

bool all_finite(std::span<const double> sample) {
  return std::all_of(sample.begin(), sample.end(), [](double x) { return std::isfinite(x); });
}

// Smallest t with exp(-t) (e t / d)^d <= 1e-9, by bisection above d, where the bound decreases.
double entropy_threshold(double degrees) {
  const auto log_bound = [degrees](double t) { return degrees * (1 + std::log(t / degrees)) - t; };
  double low = degrees;
  double high = 10 * degrees + 100;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (log_bound(middle) > std::log(kFailureProbability) ? low : high) = middle;
  }
  return high;
}

}  // namespace

bool follows(std::span<const double> sample, const std::function<double(double)>& cdf,
             double failure_probability) {
  if (sample.empty()) throw std::invalid_argument("follows: an empty sample says nothing");
  if (!all_finite(sample)) return false;
  const double n = static_cast<double>(sample.size());
  const double allowed = std::sqrt(std::log(2 / failure_probability) / (2 * n));
  return largest_distance({sample.begin(), sample.end()}, cdf) <= allowed;
}

bool follows_normal(std::span<const double> sample, double stddev) {
  return follows(sample, [=](double x) { return 0.5 * std::erfc(-x / (stddev * std::sqrt(2.0))); });
}

bool follows_laplace(std::span<const double> sample, double scale) {
  return follows(sample, [=](double x) {
    const double tail = 0.5 * std::exp(-std::abs(x) / scale);
    return x < 0 ? tail : 1 - tail;
  });
}

bool follows_exponential(std::span<const double> sample, double mean) {
  return follows(sample, [=](double x) { return x <= 0 ? 0 : -std::expm1(-x / mean); });
}

bool follows_uniform(std::span<const double> sample) {
  return follows(sample, [](double x) { return std::clamp(x, 0.0, 1.0); });
}

bool follows_pmf(std::span<const std::uint64_t> counts, std::span<const double> probabilities) {
  if (counts.size() != probabilities.size() || counts.size() < 2) {
    throw std::invalid_argument("follows_pmf: expected two or more cells, as many counts as probabilities");
  }
  if (std::abs(std::accumulate(probabilities.begin(), probabilities.end(), 0.0) - 1) > 1e-9) {
    throw std::invalid_argument("follows_pmf: the probabilities must sum to 1; add a cell for the rest");
  }
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double scaled_entropy = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double count = static_cast<double>(counts[i]);
    if (probabilities[i] <= 0) return false;
    scaled_entropy += count * std::log(count / (n * probabilities[i]));
  }
  return scaled_entropy <= entropy_threshold(static_cast<double>(counts.size() - 1));
}

bool mean_is(std::span<const double> sample, double mean, double stddev) {
  const double n = static_cast<double>(sample.size());
  const double observed = std::accumulate(sample.begin(), sample.end(), 0.0) / n;
  return std::abs(observed - mean) <= kSixSigma * stddev / std::sqrt(n);
}

bool uncorrelated(std::span<const double> a, std::span<const double> b) {
  const double product = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  return std::abs(product) <= kSixSigma * std::sqrt(static_cast<double>(a.size()));
}

}  // namespace ration::testing
