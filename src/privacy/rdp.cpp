#include "privacy/rdp.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>

#include "base/check.h"
#include "base/numeric.h"
#include "base/round_up.h"
#include "privacy/central_moment.h"
#include "privacy/mixture.h"
#include "privacy/moment_table.h"
#include "privacy/rdp_curves.h"
#include "privacy/search_curve.h"
#include "privacy/steps.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUlp = std::numeric_limits<double>::epsilon();
// Below this noise multiplier closed forms stand in for the quadrature.
constexpr double kLittleNoise = 0.01;
// Curves rise with the order, so beyond one whose divergence alone is above the best epsilon none is better.
// Some room is left for bounds that might not quite rise, and for the conversion's term, which can be
// negative by about delta (so with a large delta every order is tried). High orders are the costly ones, and
// leaving one out is never unsafe.
bool no_better_order_follows(double rdp, double best_epsilon, double delta) {
  return delta < 0.01 && rdp > 2 * best_epsilon + 2 * delta;
}

double not_negative(double x) {
  return x < 0 ? 0 : x;  // not std::max, which would take a NaN for 0
}

// Sums of positive terms given by their logarithms, rounded up.
class LogSum {
 public:
  // The logarithm in parts, each right to a few units in the last place (a logarithm of a binomial
  // coefficient to 1e-14), which is added, because parts may cancel.
  void add(std::initializer_list<double> parts) {
    constexpr double kPartError = 1e-14;
    double sum = 0, size = 0;
    for (const double part : parts) {
      sum += part;
      size += std::abs(part);
    }
    terms_.push_back(std::isfinite(size) ? sum + kPartError * size : sum);
  }
  double value() const {
    double largest = -kInfinity;
    for (double term : terms_) largest = std::max(largest, term);
    if (!std::isfinite(largest)) return largest;
    double sum = 0;
    for (double term : terms_) sum += std::exp(term - largest);
    return largest + std::log(sum) + kUlp * (static_cast<double>(terms_.size()) + std::abs(largest));
  }

 private:
  std::vector<double> terms_;
};

// log(1 + e^x)
double log1p_exp(double x) {
  return x > 40 ? x : std::log1p(std::exp(x));
}
// log(e^x - 1), x > 0
double log_expm1(double x) {
  return x > 40 ? x : std::log(std::expm1(x));
}

bool is_integer(double order) {
  return order == std::floor(order);
}

// The binomial sum, minus the part that adds up to one: every term is positive, so nothing cancels.
// [Mironov19, Sec. 3.3: integer orders]
double poisson_gaussian_integer(double rate, double noise, double order) {
  LogSum sum;
  for (double k = 2; k <= order; ++k) {
    sum.add({log_binomial(order, k), (order - k) * std::log1p(-rate), k * std::log(rate),
             log_expm1(0.5 * k * (k - 1) / (noise * noise))});
  }
  return log1p_exp(sum.value()) / (order - 1);
}

// log of t_j, the coefficient of rate^j C(a, j) in the bounds for fixed-size subsets. [Wang19]
double log_second_coefficient(double base_at_2) {
  return std::min(std::log(4.0) + log_expm1(base_at_2), std::log(2.0) + base_at_2);
}
double log_coefficient(double base_at_j, int j) {
  return std::log(2.0) + (j - 1) * base_at_j;
}

// Sum over j of C(a, j) rate^j t_j, for a table of log t_j starting at j = 2.
double rdp_from_coefficients(double rate, const std::vector<double>& log_coefficients, int order) {
  LogSum sum;
  for (int j = 2; j <= order; ++j) {
    sum.add({log_binomial(order, j), j * std::log(rate), log_coefficients[static_cast<std::size_t>(j - 2)]});
  }
  return log1p_exp(sum.value()) / (order - 1);
}

// log t_j for j = 2..: grows on demand, because orders are asked one after the other.
class FixedSizeGaussianCoefficients {
 public:
  explicit FixedSizeGaussianCoefficients(double noise) : noise_(noise) {}

  const std::vector<double>& up_to(int order) {
    for (int j = static_cast<int>(log_t_.size()) + 2; j <= order; ++j) log_t_.push_back(coefficient(j));
    return log_t_;
  }

 private:
  double coefficient(int j) {
    const double general = log_coefficient(rdp_gaussian(noise_, j), j);
    if (j == 2) return log_second_coefficient(rdp_gaussian(noise_, 2));
    if (useless_in_a_row_ >= kGiveUpAfter) return general;
    const double sharper =
        std::log(4.0) + 0.5 * (central_moment(2 * (j / 2)) + central_moment(2 * ((j + 1) / 2)));
    useless_in_a_row_ = sharper < general ? 0 : useless_in_a_row_ + 1;
    return std::min(general, sharper);
  }
  double central_moment(int l) {
    if (l != last_l_) {
      last_l_ = l;
      last_value_ = log_central_moment(noise_, l);
    }
    return last_value_;
  }

  // The central moment approaches the raw one from below as l grows; once it stops helping it never will
  // again, and leaving a candidate out of a minimum is always safe.
  static constexpr int kGiveUpAfter = 4;
  double noise_;
  std::vector<double> log_t_;
  int useless_in_a_row_ = 0;
  int last_l_ = 0;
  double last_value_ = 0;
};

RdpFunction leaf_curve(const Event& event) {
  return visit(
      event,
      [](const Event::Gaussian& e) -> RdpFunction {
        return [noise = e.noise_multiplier](double a) { return rdp_gaussian(noise, a); };
      },
      [](const Event::Laplace& e) -> RdpFunction {
        return [scale = e.scale](double a) { return rdp_laplace(scale, a); };
      },
      [](const Event::PureDp& e) -> RdpFunction {
        return [epsilon = e.epsilon](double a) { return rdp_pure(epsilon, a); };
      },
      [](const Event::AboveThresholdLaplace& e) -> RdpFunction {
        return [curve = laplace_search_curve(e.threshold_epsilon, e.query_epsilon)](double a) {
          return curve->rdp(a);
        };
      },
      [](const Event::AboveThresholdGaussian& e) -> RdpFunction {
        return [curve = gaussian_search_curve(e.threshold_noise, e.query_noise, e.queries)](double a) {
          return curve->rdp(a);
        };
      },
      [](const Event::DiscreteGaussian& e) -> RdpFunction {
        return [noise = e.noise_multiplier](double a) { return rdp_gaussian(noise, a); };
      },
      [](const Event::BoundedRange& e) -> RdpFunction {
        return [epsilon = e.epsilon](double a) { return rdp_bounded_range(epsilon, a); };
      },
      [](const Event::NoisyMax& e) -> RdpFunction {
        return [epsilon = e.epsilon](double a) { return rdp_noisy_max(epsilon, a); };
      },
      [](const auto&) -> RdpFunction { return [](double) { return 0.0; }; });
}

RdpFunction sum_of_curves(const std::vector<CountedEvent>& mechanisms) {
  std::vector<std::pair<double, RdpFunction>> curves;
  for (const auto& [event, count] : mechanisms)
    curves.emplace_back(static_cast<double>(count), leaf_curve(event));
  return [curves = std::move(curves)](double order) {
    double total = 0;
    for (const auto& [count, curve] : curves) total += count * curve(order);
    return total;
  };
}

RdpFunction remembered(RdpFunction base) {
  return [base = std::move(base), values = std::vector<double>{}](double order) mutable {
    const auto index = static_cast<std::size_t>(order);
    while (values.size() <= index)
      values.push_back(values.size() < 2 ? 0 : base(static_cast<double>(values.size())));
    return values[index];
  };
}

// Three bounds in closed form on the divergence of order 1 + t of a Gaussian on a Poisson sample, with r the
// density ratio (moment_table.h). They are close for little noise, where a quadrature would have to resolve a
// jump by a factor of e^{1/noise^2}:
// - no sampling;
// - Minkowski's inequality: E[r^{1+t}]^{1/(1+t)} <= 1 - rate + rate E[e^{(1+t)u}]^{1/(1+t)};
// - for t <= 1, with P the mixture: without the row E[r^t] <= 1 by Jensen's inequality, and with it r^t <= 1
//   + rate^t e^{tu}, so that E_P[r^t] <= 1 + rate^{1+t} e^{t(1+t)/(2 noise^2)}.
double poisson_gaussian_of_little_noise(double rate, double noise, double order) {
  const double t = order - 1;
  const double full = rdp_gaussian(noise, order);
  const double minkowski = order / t * log_mixture(rate, t / 2 / noise / noise);
  const double least = std::min(full, minkowski);
  return t > 1 ? least : std::min(least, log1p_exp(order * std::log(rate) + t * full) / t);
}

RdpFunction poisson_gaussian_curve(double rate, double noise) {
  if (noise < kLittleNoise) {
    return [=](double order) { return poisson_gaussian_of_little_noise(rate, noise, order); };
  }
  return [table = std::make_shared<MomentTable>(rate, noise), rate, noise](double order) {
    double moment = table->log_moment_upper(order);
    // A table that has grown for an order in the hundred thousands holds losses that overflow at small ones.
    if (std::isnan(moment)) moment = MomentTable(rate, noise).log_moment_upper(order);
    const double sampled = moment / (order - 1), whole = rdp_gaussian(noise, order);
    return sampled < whole ? sampled : whole;  // sampling never costs privacy; and NaN is no bound
  };
}

RdpFunction fixed_size_gaussian_curve(double rate, double noise) {
  return [rate, coefficients = FixedSizeGaussianCoefficients(noise)](double order) mutable {
    const int integer_order = static_cast<int>(order);
    return rdp_from_coefficients(rate, coefficients.up_to(integer_order), integer_order);
  };
}

RdpFunction sampled_curve(const Step& step, const RdpFunction& base) {
  if (step.sampling == Sampling::poisson) {
    return [rate = step.rate, base](double order) {
      return rdp_poisson_general(rate, base, static_cast<int>(order));
    };
  }
  if (step.gaussian_noise) return fixed_size_gaussian_curve(step.rate, *step.gaussian_noise);
  return [rate = step.rate, base](double order) {
    return rdp_fixed_size_general(rate, base, static_cast<int>(order));
  };
}

double times_up(std::int64_t count, double epsilon) {
  const auto rounded = static_cast<double>(count);
  return multiply_up(rounded < 0x1p53 ? rounded : next_up(rounded), epsilon);
}

// The epsilon of everything that ran on one sample, if all of it is pure DP; rounded up.
std::optional<double> pure_epsilon(const std::vector<CountedEvent>& mechanisms) {
  double total = 0;
  for (const auto& [event, count] : mechanisms) {
    const std::optional<double> epsilon = visit(
        event, [](const Event::Laplace& e) -> std::optional<double> { return divide_up(1, e.scale); },
        [](const Event::PureDp& e) -> std::optional<double> { return e.epsilon; },
        [](const Event::AboveThresholdLaplace& e) -> std::optional<double> {
          return add_up(e.threshold_epsilon, 2 * e.query_epsilon);
        },
        [](const Event::NoisyMax& e) -> std::optional<double> { return e.epsilon; },
        [](const Event::BoundedRange& e) -> std::optional<double> { return e.epsilon; },
        [](const auto&) -> std::optional<double> { return std::nullopt; });
    if (!epsilon) return std::nullopt;
    total = add_up(total, times_up(count, *epsilon));
  }
  return total;
}

// What a sample leaves of pure epsilon-DP: ln(1 + rate (e^epsilon - 1)), for Poisson samples under add_remove
// and subsets of fixed size under replace_one. [Balle18b, Thm 8 and 9]
double amplified_pure_epsilon(double epsilon, double rate) {
  constexpr double kTooLarge = 700;  // for e^epsilon; nothing to gain there
  return epsilon > kTooLarge ? epsilon : std::log1p(rate * std::expm1(epsilon));
}

// Whether the general bounds are surely above `value`, found in O(1) where they take as many terms as the
// order: from the third on, each term is at least twice the binomial's, so together they are at least twice
// its tail.
bool general_bounds_exceed(double value, double rate, double order) {
  const double others_missing = std::pow(1 - rate, order - 2);
  const double at_most_two = others_missing * ((1 - rate) * (1 - rate) + order * rate * (1 - rate) +
                                               order * (order - 1) / 2 * rate * rate);
  return std::log1p(2 * std::max(0.0, 1 - at_most_two)) / (order - 1) > value;
}

// Sampling never costs privacy (the divergence of two mixtures is at most the worst divergence of their
// coupled parts: joint quasi-convexity), so where an amplification bound is loose the unsampled curve stands
// in. The general bound is loose from the order on at which a sample is likely to hold three of `order` rows,
// by the factor 3 of its tail; there the curve of amplified pure DP takes over, for mechanisms that are pure
// DP.
RdpFunction step_curve(const Step& step) {
  if (step.sampling == Sampling::full) return sum_of_curves(step.mechanisms);
  if (step.sampling == Sampling::poisson && step.gaussian_noise) {
    return poisson_gaussian_curve(step.rate, *step.gaussian_noise);
  }
  const RdpFunction base = remembered(sum_of_curves(step.mechanisms));
  const RdpFunction sampled = sampled_curve(step, base);
  const std::optional<double> pure = pure_epsilon(step.mechanisms);
  if (!pure) {
    return [base, sampled](double order) { return std::min(base(order), sampled(order)); };
  }
  return [base, sampled, rate = step.rate, epsilon = amplified_pure_epsilon(*pure, step.rate)](double order) {
    const double bound = std::min(base(order), rdp_pure(epsilon, order));
    return general_bounds_exceed(bound, rate, order) ? bound : std::min(bound, sampled(order));
  };
}

bool has_search(const Step& step) {
  return std::any_of(step.mechanisms.begin(), step.mechanisms.end(), [](const CountedEvent& one) {
    return visit(
        one.event, [](const Event::AboveThresholdLaplace&) { return true; },
        [](const Event::AboveThresholdGaussian&) { return true; }, [](const auto&) { return false; });
  });
}

bool only_integers_are_proven(const Step& step) {
  if (step.sampling == Sampling::full) return false;
  return step.sampling == Sampling::fixed_size || !step.gaussian_noise;
}

}  // namespace

double rdp_conversion_term(double order, double delta, RdpConversion conversion) {
  const double log_delta = std::log(delta), log_order = std::log(order);
  const double rounding = 4 * kUlp * (1 / order + (log_order - log_delta) / (order - 1));
  if (conversion == RdpConversion::classic) return -log_delta / (order - 1) + rounding;
  return std::log1p(-1 / order) - (log_delta + log_order) / (order - 1) + rounding;
}

double rdp_to_epsilon(double rdp, double order, double delta, RdpConversion conversion) {
  require("rdp_to_epsilon", "order", order, greater_than(1));
  require("rdp_to_epsilon", "delta", delta, greater_than(0).less_than(1));
  return not_negative(rdp + rdp_conversion_term(order, delta, conversion));
}

double rdp_poisson_gaussian(double rate, double noise, double order) {
  require("Poisson", "rate", rate, greater_than(0).at_most(1));
  require("Gaussian", "noise_multiplier", noise, greater_than(0));
  require("rdp_poisson_gaussian", "order", order, greater_than(1));
  constexpr double kLongestSum = 4096;
  if (rate == 1) return rdp_gaussian(noise, order);
  if (is_integer(order) && order <= kLongestSum) return poisson_gaussian_integer(rate, noise, order);
  if (noise < kLittleNoise) return poisson_gaussian_of_little_noise(rate, noise, order);
  return MomentTable(rate, noise).log_moment_upper(order) / (order - 1);
}

double rdp_poisson_general(double rate, const RdpFunction& base, int order, double tail_factor) {
  require("Poisson", "rate", rate, greater_than(0).at_most(1));
  require("rdp_poisson_general", "order", order, at_least(2));
  if (rate == 1) return base(order);
  // The terms of the bound minus the binomial terms that add up to one; each is positive.
  LogSum sum;
  for (int l = 2; l <= order; ++l) {
    const double exponent = (l - 1) * base(l);
    const double excess = l == 2 ? log_expm1(exponent) : log_sub_exp(std::log(tail_factor) + exponent, 0);
    sum.add({log_binomial(order, l), (order - l) * std::log1p(-rate), l * std::log(rate), excess});
  }
  return log1p_exp(sum.value()) / (order - 1);
}

double rdp_fixed_size_general(double rate, const RdpFunction& base, int order) {
  require("FixedSize", "rate", rate, greater_than(0).at_most(1));
  require("rdp_fixed_size_general", "order", order, at_least(2));
  if (rate == 1) return base(order);
  std::vector<double> log_t = {log_second_coefficient(base(2))};
  for (int j = 3; j <= order; ++j) log_t.push_back(log_coefficient(base(j), j));
  return rdp_from_coefficients(rate, log_t, order);
}

double rdp_fixed_size_gaussian(double rate, double noise, int order) {
  require("FixedSize", "rate", rate, greater_than(0).at_most(1));
  require("Gaussian", "noise_multiplier", noise, greater_than(0));
  require("rdp_fixed_size_gaussian", "order", order, at_least(2));
  if (rate == 1) return rdp_gaussian(noise, order);
  return rdp_from_coefficients(rate, FixedSizeGaussianCoefficients(noise).up_to(order), order);
}

std::optional<double> pure_epsilon(const Event& event, Relation relation) {
  constexpr double kRoundedUp = 1 + 1e-14;  // more than logarithm and exponential are off by
  double total = 0;
  for (const Step& step : steps_of(event, relation)) {
    const std::optional<double> one = pure_epsilon(step.mechanisms);
    if (!one) return std::nullopt;
    const double kept =
        step.sampling == Sampling::full ? *one : amplified_pure_epsilon(*one, step.rate) * kRoundedUp;
    total = add_up(total, times_up(step.count, kept));
  }
  return total;
}

const std::vector<double>& integer_orders() {
  static const std::vector<double> orders = [] {
    std::vector<double> out;
    for (double order = 2; order <= 4096; order = order < 128 ? order + 1 : std::floor(order * 1.04)) {
      out.push_back(order);
    }
    return out;
  }();
  return orders;
}

struct RdpCurve::Part {
  RdpFunction curve;
  double count;
  bool integers_only;
  bool kinks;  // it is the curve of a search, which may have more than one local minimum
};

RdpCurve::RdpCurve(const Event& event, Relation relation) {
  for (const Step& step : steps_of(event, relation)) {
    parts_.push_back({step_curve(step), static_cast<double>(step.count), only_integers_are_proven(step),
                      has_search(step)});
  }
}
RdpCurve::RdpCurve(RdpCurve&&) noexcept = default;
RdpCurve& RdpCurve::operator=(RdpCurve&&) noexcept = default;
RdpCurve::~RdpCurve() = default;

bool RdpCurve::needs_integer_orders() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.integers_only; });
}

double RdpCurve::operator()(double order) {
  constexpr double kRoundedUp = 1 + 1e-13;
  require("RdpCurve", "order", order, needs_integer_orders() ? at_least(2) : greater_than(1));
  if (needs_integer_orders() && !is_integer(order)) {
    throw InputError(fmt::format("RdpCurve: expected a whole order, got {}", show(order)));
  }
  double total = 0;
  for (Part& part : parts_) total += part.count * part.curve(order);
  return total * kRoundedUp;
}

RdpOptimum RdpCurve::epsilon(double delta, std::span<const double> orders, RdpConversion conversion) {
  RdpOptimum best{kInfinity, 0};
  for (double order : orders) {
    const double rdp = (*this)(order);
    const double epsilon = rdp_to_epsilon(rdp, order, delta, conversion);
    if (epsilon < best.epsilon) best = {epsilon, order};
    if (no_better_order_follows(rdp, best.epsilon, delta)) break;
  }
  return best;
}

RdpOptimum RdpCurve::epsilon(double delta, RdpConversion conversion, double max_order) {
  require("RdpCurve", "delta", delta, greater_than(0).less_than(1));
  if (parts_.empty()) return {0, kInfinity};
  if (needs_integer_orders()) return epsilon(delta, integer_orders(), conversion);
  // Finite, because the search interpolates; what lies beyond is no bound.
  constexpr double kUseless = 1e100;
  double rdp = 0;
  struct Found {
    double epsilon, log_t;
  } best{kUseless, 0};
  const auto at = [&](double log_t) {
    const double order = 1 + std::exp(log_t);
    rdp = (*this)(order);
    const double epsilon = rdp + rdp_conversion_term(order, delta, conversion);
    if (epsilon < best.epsilon) best = {epsilon, log_t};
    return epsilon < kUseless ? epsilon : kUseless;
  };
  // Whether orders from here on can only be worse: curves rise (half of it is room for those that do not
  // quite), and from this order on the conversion's term is at least -(1 + log order)/(order - 1).
  const auto none_follows = [&](double log_t) {
    const double t = std::exp(log_t);
    return rdp / 2 - (1 + std::log1p(t)) / t > best.epsilon;
  };
  // Two octaves of order - 1 at a time, over the whole range.
  const double node = std::numbers::ln2 / 8, last = std::log(max_order - 1);
  constexpr int kFirst = -14 * 8, kStride = 16;
  for (int index = kFirst;; index += kStride) {
    const double log_t = std::min(index * node, last);
    at(log_t);
    if (log_t >= last || none_follows(log_t)) break;
  }
  constexpr int kBits = 26;  // of the abscissa; the minimum itself is then right to the last digits
  const auto look_between = [&](double from, double to) {
    boost::math::tools::brent_find_minima(at, from, to, kBits);
  };
  const double middle = best.log_t;
  const bool kinks = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.kinks; });
  if (!kinks) {
    look_between(middle - kStride * node, std::min(middle + kStride * node, last));
  } else {
    // Kinks are at eighths of an octave (search_curve.h). Between two of them the curve may be lower than at
    // both by less than this part.
    constexpr double kClose = 0.003;
    std::vector<Found> nodes;
    const int center = static_cast<int>(std::lround(middle / node));
    for (int index = center - kStride; index <= center + kStride; ++index) {
      const double log_t = std::min(index * node, last);
      nodes.push_back({at(log_t), log_t});
      if (log_t >= last) break;
    }
    const double close = best.epsilon + kClose * std::abs(best.epsilon);
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (std::min(nodes[i - 1].epsilon, nodes[i].epsilon) > close) continue;
      look_between(nodes[i - 1].log_t, nodes[i].log_t);
    }
  }
  if (!(best.epsilon < kUseless)) return {kInfinity, max_order};
  return {not_negative(best.epsilon), 1 + std::exp(best.log_t)};
}

}  // namespace ration
