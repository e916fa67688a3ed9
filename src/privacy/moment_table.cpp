#include "privacy/moment_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "privacy/mixture.h"

namespace ration {
namespace {

// e^{-kReach^2/2} is below 1e-18: nodes further out cannot be seen in a double.
constexpr double kReach = 9.2;
// The rule's error is e^{-2 pi d / step} at a distance d from the nearest singularity; e^{-37} is below
// 1e-16.
constexpr double kDigits = 37;
constexpr double kWidestStep = 0.4;
// Above this exponent the sum is scaled, so that it does not overflow.
constexpr double kLargestExponent = 600;
// Below this size of s (r - 1) the binomial series is used instead of a difference.
constexpr double kSeriesBelow = 0.02;

double quadrature_step(double noise, double max_imaginary) {
  const double pi = std::numbers::pi;
  const double singularity = 2 * pi * pi * noise / kDigits;
  const double oscillation = 2 * pi / (kReach + max_imaginary / noise);
  return std::min({kWidestStep, singularity, oscillation});
}

// (1 + d)^s - 1 - s d = sum_{k >= 2} C(s, k) d^k for small s d.
template <class Number>
Number second_order_excess(Number s, double d) {
  constexpr int kTerms = 9;
  Number tail = 1;
  for (int k = kTerms; k >= 3; --k) tail = 1.0 + (s - (k - 1.0)) * (d / k) * tail;
  return s * (s - 1.0) * (0.5 * d * d) * tail;
}

std::complex<double> log_one_plus(std::complex<double> x) {
  constexpr double kNormIsSafe = 1e100;  // its square does not overflow, and beside it 1 cannot be seen
  if (std::abs(x) > kNormIsSafe) return std::log(x);
  return {0.5 * std::log1p(2 * x.real() + std::norm(x)), std::atan2(x.imag(), 1 + x.real())};
}

}  // namespace

MomentTable::MomentTable(double rate, double noise, const Limits& limits)
    : rate_(rate),
      inverse_noise_(1 / noise),
      step_(quadrature_step(noise, limits.imaginary)),
      next_node_(-step_ * std::ceil(kReach / step_)),
      last_node_(limits.output) {
  if (rate_ < 1) extend_to(2);  // the second moment governs how small rates behave
}

void MomentTable::add_node(double y) {
  const double u = inverse_noise_ * (y - 0.5 * inverse_noise_);
  const double log_weight = -0.5 * y * y;
  const double weight = std::exp(log_weight);
  constexpr double kExponentialIsHuge = 300;
  loss_.push_back(log_mixture(rate_, u));
  log_weight_.push_back(log_weight);
  weight_.push_back(weight);
  excess_.push_back(rate_ * std::expm1(u));
  weighted_excess_.push_back(u < kExponentialIsHuge ? weight * excess_.back()
                                                    : rate_ * std::exp(u + log_weight));
}

void MomentTable::extend_to(double order) {
  const double last = std::min(last_node_, std::max(order, 2.0) * inverse_noise_ + kReach);
  for (; next_node_ <= last; next_node_ += step_) add_node(next_node_);
}

double MomentTable::largest_exponent(double s) const {
  double largest = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) largest = std::max(largest, s * loss_[i] + log_weight_[i]);
  return largest;
}

double MomentTable::scaled_log_sum(double s, double largest) const {
  double sum = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) sum += std::exp(s * loss_[i] + log_weight_[i] - largest);
  return largest + std::log(sum * step_ / std::sqrt(2 * std::numbers::pi));
}

double MomentTable::log_moment(double s) {
  if (rate_ == 1) return 0.5 * s * (s - 1) * inverse_noise_ * inverse_noise_;
  extend_to(s);
  const double largest = largest_exponent(s);
  if (largest > kLargestExponent) return scaled_log_sum(s, largest);
  const double series_below = kSeriesBelow / std::max(1.0, std::abs(s));
  double sum = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) {
    sum += std::abs(excess_[i]) < series_below
               ? weight_[i] * second_order_excess(s, excess_[i])
               : std::exp(s * loss_[i] + log_weight_[i]) - weight_[i] - s * weighted_excess_[i];
  }
  return std::log1p(sum * step_ / std::sqrt(2 * std::numbers::pi));
}

std::complex<double> MomentTable::log_moment(std::complex<double> s) {
  if (rate_ == 1) return 0.5 * s * (s - 1.0) * (inverse_noise_ * inverse_noise_);
  extend_to(s.real());
  const double largest = largest_exponent(s.real());
  const double shift = largest > kLargestExponent ? largest : 0;
  const double series_below = kSeriesBelow / std::max(1.0, std::abs(s));
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) {
    const std::complex<double> power =
        std::polar(std::exp(s.real() * loss_[i] + log_weight_[i] - shift), s.imag() * loss_[i]);
    if (shift > 0) {
      sum += power;
    } else if (std::abs(excess_[i]) < series_below) {
      sum += weight_[i] * second_order_excess(s, excess_[i]);
    } else {
      sum += power - weight_[i] - s * weighted_excess_[i];
    }
  }
  sum *= step_ / std::sqrt(2 * std::numbers::pi);
  return shift > 0 ? shift + std::log(sum) : log_one_plus(sum);
}

double loss_cumulant(MomentTable& table, Direction direction, double z) {
  return table.log_moment(direction == Direction::remove ? z + 1 : -z);
}

std::complex<double> loss_cumulant(MomentTable& table, Direction direction, std::complex<double> z) {
  return table.log_moment(direction == Direction::remove ? z + 1.0 : -z);
}

}  // namespace ration
