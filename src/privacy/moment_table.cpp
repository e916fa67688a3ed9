#include "privacy/moment_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "privacy/mixture.h"

namespace ration {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
// e^{-kReach^2/2} is below 1e-18: nodes further than this from the mode cannot be seen in a double (header).
constexpr double kReach = 9.2;
// The rule's error is e^{-2 pi d / step} at a distance d from the nearest singularity, and e^{-2 pi^2 /
// (step^2 c)} for a bell of curvature c; e^{-37} is below 1e-16.
constexpr double kDigits = 37;
constexpr double kWidestStep = 0.4;
// Above this exponent the sum is scaled, so that it does not overflow.
constexpr double kLargestExponent = 600;
// Below this size of s (r - 1) the binomial series is used instead of a difference.
constexpr double kSeriesBelow = 0.02;
// Of what the rule and the ends of the table may cost, relative to log G.
constexpr double kRuleError = 1e-12;

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
      last_output_(limits.output),
      left_end_(-kReach) {
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

// Nodes are whole multiples of the step, so that their places do not drift. They are kept in no order.
void MomentTable::extend_to(double s) {
  if (s < lowest_order_) {
    lowest_order_ = s;
    const Bell bell = add_bell(-s);
    left_end_ = bell.mode - kReach;
    if (const double step = add_step(bell.curvature); step < step_) start_again(step);
  }
  right_end_ = std::max(right_end_, std::min(last_output_, std::max(s, 2.0) * inverse_noise_ + kReach));
  for (; static_cast<double>(next_right_) * step_ <= right_end_; ++next_right_) {
    add_node(static_cast<double>(next_right_) * step_);
  }
  for (; static_cast<double>(next_left_) * step_ >= left_end_; --next_left_) {
    add_node(static_cast<double>(next_left_) * step_);
  }
}

// Where the rate is not seen beside 1 - rate, r^s is about exp(s rate e^u), which grows off the real line
// already at half the distance of the zeros of r.
double MomentTable::add_step(double curvature) const {
  constexpr double kPi = std::numbers::pi;
  return std::min(kPi * std::sqrt(2 / (kDigits * curvature)), kPi * kPi / (inverse_noise_ * kDigits));
}

void MomentTable::start_again(double step) {
  step_ = step;
  next_right_ = 0;
  next_left_ = -1;
  for (std::vector<double>* column : {&loss_, &log_weight_, &weight_, &excess_, &weighted_excess_}) {
    column->clear();
  }
}

// With w = rate e^u / r, which rises with y, the exponent -z log r - y^2/2 has the slope -z mu w - y and the
// second derivative -1 - z mu^2 w (1 - w). Its mode lies above -z mu, and, since -log r is at most -log(1 -
// rate), not where y^2/2 is more than z times that.
MomentTable::Bell MomentTable::add_bell(double z) const {
  const double mu = inverse_noise_;
  const auto share = [&](double y) { return 1 / (1 + (1 - rate_) / rate_ * std::exp(-mu * (y - 0.5 * mu))); };
  double low = -std::min(z * mu, std::sqrt(-2 * z * std::log1p(-rate_)));
  double high = 0;
  constexpr double kCloseEnough = 1e-3;
  while (high - low > kCloseEnough * (1 - high)) {
    const double middle = 0.5 * (low + high);
    (z * mu * share(middle) + middle > 0 ? high : low) = middle;
  }
  const double w = share(low);
  return {low, 1 + z * mu * mu * w * (1 - w)};
}

double MomentTable::largest_exponent(double s) const {
  double largest = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) largest = std::max(largest, s * loss_[i] + log_weight_[i]);
  return largest;
}

MomentTable::Value MomentTable::scaled_log_sum(double s, double largest) const {
  double sum = 0;
  double rounding = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) {
    const double term = std::exp(s * loss_[i] + log_weight_[i] - largest);
    sum += term;
    rounding += term * (std::abs(s * loss_[i]) - log_weight_[i]);
  }
  return {largest + std::log(sum * step_ / std::sqrt(2 * std::numbers::pi)), rounding / sum};
}

// r^s - 1 - s (r - 1) at a node, times its weight, and the size of what was subtracted from each other. Close
// to s = 1 it is written as r (r^t - 1) - t (r - 1), t = s - 1, which keeps the digits that t leaves.
MomentTable::Value MomentTable::excess_at(std::size_t i, double s) const {
  constexpr double kCloseToOne = 0.5;
  const double t = s - 1;
  if (std::abs(t) < kCloseToOne) {
    const double power = std::exp(loss_[i] + log_weight_[i]) * std::expm1(t * loss_[i]);
    const double linear = t * weighted_excess_[i];
    return {power - linear, std::abs(power) * (1 + std::abs(loss_[i]) - log_weight_[i]) + std::abs(linear)};
  }
  const double power = std::exp(s * loss_[i] + log_weight_[i]);
  const double linear = s * weighted_excess_[i];
  return {power - weight_[i] - linear,
          power * (1 + std::abs(s * loss_[i]) - log_weight_[i]) + weight_[i] + std::abs(linear)};
}

MomentTable::Value MomentTable::evaluate(double s) {
  if (rate_ == 1) return {0.5 * s * (s - 1) * inverse_noise_ * inverse_noise_, 0};
  extend_to(s);
  const double largest = largest_exponent(s);
  if (largest > kLargestExponent) return scaled_log_sum(s, largest);
  const double series_below = kSeriesBelow / std::max(1.0, std::abs(s));
  double sum = 0;
  double rounding = 0;
  for (std::size_t i = 0; i < loss_.size(); ++i) {
    if (std::abs(excess_[i]) < series_below) {
      sum += weight_[i] * second_order_excess(s, excess_[i]);
      continue;
    }
    const Value excess = excess_at(i, s);
    sum += excess.log_moment;
    rounding += excess.rounding;
  }
  const double scale = step_ / std::sqrt(2 * std::numbers::pi);
  return {std::log1p(sum * scale), rounding * scale / (1 + sum * scale)};
}

double MomentTable::log_moment(double s) {
  return evaluate(s).log_moment;
}

double MomentTable::log_moment_upper(double s) {
  const auto [log_moment, rounding] = evaluate(s);
  return log_moment + kRuleError * std::abs(log_moment) + 8 * kUnit * rounding;
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

double loss_cumulant_upper(MomentTable& table, Direction direction, double z) {
  return table.log_moment_upper(direction == Direction::remove ? z + 1 : -z);
}

std::complex<double> loss_cumulant(MomentTable& table, Direction direction, std::complex<double> z) {
  return table.log_moment(direction == Direction::remove ? z + 1.0 : -z);
}

}  // namespace ration
