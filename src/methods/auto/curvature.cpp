#include "methods/auto/curvature.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <limits>

namespace ration {
namespace {

// Points of a lattice fill space evenly: in each class they are all multiples of 1 / kPoints, in another
// order.
constexpr std::size_t kPoints = 509;      // a prime
constexpr std::size_t kNextNumber = 273;  // the order of a class from that of the class before

std::vector<double> normal_quantiles() {
  std::vector<double> quantiles(kPoints);
  for (std::size_t i = 1; i < kPoints; ++i) {
    quantiles[i] = boost::math::quantile(boost::math::normal_distribution<double>(),
                                         static_cast<double>(i) / static_cast<double>(kPoints));
  }
  return quantiles;
}

double logistic_curvature(double z) {
  const double tail = std::exp(-std::abs(z));
  return tail / ((1 + tail) * (1 + tail));
}

// Of both labels, half and half.
double hinge_curvature(double z, double width) {
  const double of_one = std::abs(1 - z) <= width ? 1 : 0;
  const double of_zero = std::abs(1 + z) <= width ? 1 : 0;
  return (of_one + of_zero) / (4 * width);
}

double curvature_at(GlmLoss loss, double huber_width, double z) {
  switch (loss) {
    case GlmLoss::logistic:
    case GlmLoss::softmax:
      return logistic_curvature(z);
    case GlmLoss::hinge:
      return hinge_curvature(z, 1);
    case GlmLoss::huber:
      return hinge_curvature(z, std::max(1.0, huber_width));
    case GlmLoss::squared:
      break;
  }
  return 1;
}

// The largest eigenvalue of D^-1/2 H D^-1/2 = diag(1 + o) - u u^T, u^2 = o, o = p / (1 - p): the root of
// 1 = sum of o_k / (1 + o_k - x) between the two largest 1 + o [Golub73, Sec. 5]; at most 2.
double pull_of_outputs(std::vector<double> odds) {
  std::sort(odds.begin(), odds.end(), std::greater{});
  double low = std::min(2.0, 1 + odds[1]);
  double high = std::min(2.0, 1 + odds[0]);
  for (int round = 0; round < 40 && low < high; ++round) {
    const double middle = 0.5 * (low + high);
    double sum = 0;
    for (const double o : odds) sum += o / (1 + o - middle);
    (sum < 1 ? low : high) = middle;
  }
  return high;
}

}  // namespace

// By the trapezoidal rule, which converges faster than any power for what ends as a normal density does.
template <class Function>
double normal_mean(const Function& f, double mean, double stddev) {
  constexpr int kHalf = 24;
  constexpr double kEnd = 6;
  double sum = 0;
  double weights = 0;
  for (int i = -kHalf; i <= kHalf; ++i) {
    const double x = kEnd * i / kHalf;
    const double weight = std::exp(-0.5 * x * x);
    sum += weight * f(mean + stddev * x);
    weights += weight;
  }
  return sum / weights;
}

double expected_curvature(GlmLoss loss, double huber_width, double mean, double stddev) {
  return normal_mean([&](double z) { return curvature_at(loss, huber_width, z); }, mean, stddev);
}

double clipped_curvature(GlmLoss loss, double huber_width, double mean, double stddev, double kept) {
  switch (loss) {
    case GlmLoss::logistic:
    case GlmLoss::softmax:
      return normal_mean(
          [&](double z) {
            const double p = 1 / (1 + std::exp(-z));  // of label 1, whose slope is 1 - p
            return ((1 - p <= kept ? p : 0) + (p <= kept ? 1 - p : 0)) * logistic_curvature(z);
          },
          mean, stddev);
    case GlmLoss::hinge:
    case GlmLoss::huber:
      return std::min(1.0, kept) * expected_curvature(loss, huber_width, mean, stddev);
    case GlmLoss::squared:
      break;
  }
  return 1;
}

std::vector<double> expected_softmax_curvatures(std::span<const double> means,
                                                std::span<const double> stddevs) {
  const std::size_t classes = means.size();
  std::vector<double> curvatures(classes);
  std::vector<double> odds(classes);  // for each class, against all others
  for (std::size_t k = 0; k < classes; ++k) {
    double largest = -std::numeric_limits<double>::infinity();  // of the others
    for (std::size_t j = 0; j < classes; ++j) {
      if (j != k) largest = std::max(largest, means[j]);
    }
    double others = 0;
    double spread = 0;
    for (std::size_t j = 0; j < classes; ++j) {
      if (j == k) continue;
      const double share = std::exp(means[j] - largest);
      others += share;
      spread += share * share * stddevs[j] * stddevs[j];
    }
    const double mean = means[k] - largest - std::log(others);
    const double stddev = std::sqrt(stddevs[k] * stddevs[k] + spread / (others * others));
    curvatures[k] = expected_curvature(GlmLoss::logistic, 1, mean, stddev);
    odds[k] = std::exp(mean);
  }
  const double pull = pull_of_outputs(odds);
  for (double& curvature : curvatures) curvature *= pull;
  return curvatures;
}

std::vector<double> expected_softmax_hessian(std::span<const double> means, std::span<const double> stddevs) {
  static const std::vector<double> quantiles = normal_quantiles();
  const std::size_t classes = means.size();
  std::vector<double> hessian(classes * classes), p(classes);
  for (std::size_t point = 1; point < kPoints; ++point) {
    std::size_t place = point;
    for (std::size_t k = 0; k < classes; ++k) {
      p[k] = means[k] + stddevs[k] * quantiles[place];
      place = place * kNextNumber % kPoints;
    }
    const double largest = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - largest);
    for (double& value : p) value /= sum;
    for (std::size_t a = 0; a < classes; ++a) {
      hessian[a * classes + a] += p[a] / (kPoints - 1);
      for (std::size_t b = 0; b < classes; ++b) hessian[a * classes + b] -= p[a] * p[b] / (kPoints - 1);
    }
  }
  return hessian;
}

}  // namespace ration
