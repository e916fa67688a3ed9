#include "ration/privacy/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "base/check.h"
#include "privacy/exact.h"
#include "privacy/pld.h"
#include "privacy/steps.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = 1e12;
constexpr double kSmallest = 1e-4;

void validate(const Budget& budget) {
  require("Budget", "epsilon", budget.epsilon, greater_than(0));
  require("Budget", "delta", budget.delta, greater_than(0).less_than(1));
}

// The accountant's epsilon of one event, as the searches see it.
class Judge {
 public:
  Judge(Relation relation, Accountant accountant, const Budget& budget)
      : relation_(relation), accountant_(accountant), budget_(budget) {
    validate(budget);
  }

  double epsilon(const Event& event) const {
    // tCDP holds under conditions on the parameters; where they fail, that parameter is simply too costly.
    if (accountant_ == Accountant::tcdp && !refusal(event, relation_, accountant_).empty()) return kInfinity;
    if (accountant_ != Accountant::pld) return account(event, relation_, accountant_, budget_.delta).epsilon;
    refuse(event);
    return pld_epsilon_upper(gaussian_plan(steps_of(event, relation_)), budget_.delta);
  }
  bool within(const Event& event) const { return epsilon(event) <= budget_.epsilon; }

  // A quick, uncertified stand-in that the search may start from.
  std::optional<double> estimate(const Event& event) const {
    if (accountant_ != Accountant::pld) return std::nullopt;
    refuse(event);
    return exact_epsilon(gaussian_plan(steps_of(event, relation_)), budget_.delta);
  }
  void refuse(const Event& event) const {
    if (std::string reason = refusal(event, relation_, accountant_); !reason.empty())
      throw InputError(reason);
  }
  double target() const { return budget_.epsilon; }
  bool is_costly() const { return accountant_ == Accountant::pld; }

 private:
  Relation relation_;
  Accountant accountant_;
  Budget budget_;
};

// log(epsilon / target), kept finite: the root finder needs a number also where epsilon is 0 or infinite.
// Above 0 exactly where epsilon is above the target.
double log_excess(double epsilon, double target) {
  constexpr double kFarOff = 50;
  if (epsilon <= 0) return -kFarOff;
  if (epsilon <= target) return std::clamp(std::log(epsilon / target), -kFarOff, 0.0);
  if (!(epsilon < kInfinity)) return kFarOff;  // no bound at all, or not a number: never within
  return std::clamp(std::log(epsilon / target), std::numeric_limits<double>::min(), kFarOff);
}

struct Bracket {
  double low;   // too costly, or the smallest value allowed
  double high;  // within the target
};

// Widens geometrically from `start`, in growing strides, until both ends are known.
Bracket bracket(const std::function<double(double)>& excess, double start, double stride) {
  double high = start;
  if (excess(high) <= 0) {
    double low = high / stride;
    while (low > kSmallest && excess(low) <= 0) {
      high = low;
      stride *= stride;
      low = high / stride;
    }
    return {std::max(low, kSmallest), high};
  }
  double low = high;
  do {
    low = high;
    high *= stride;
    stride = std::min(stride * stride, 1e3);
    if (high > kLargest) return {kLargest, kInfinity};
  } while (excess(high) > 0);
  return {low, high};
}

double solve(const std::function<double(double)>& epsilon, double target, double start, double stride,
             double precision) {
  const auto excess = [&](double x) { return log_excess(epsilon(x), target); };
  const auto [low, high] = bracket(excess, start, stride);
  if (std::isinf(high)) return high;
  const double at_low = excess(low);
  if (at_low <= 0) return low;
  const auto in_logarithm = [&](double log_x) { return excess(std::exp(log_x)); };
  const auto close_enough = [&](double a, double b) { return std::abs(b - a) < precision; };
  std::uintmax_t iterations = 200;
  const auto root = boost::math::tools::toms748_solve(in_logarithm, std::log(low), std::log(high),
                                                      close_enough, iterations);
  // The upper end is within the target as evaluated; going through the logarithm may have moved it by an ulp
  // or two.
  double x = std::exp(root.second);
  while (excess(x) > 0) x *= 1 + 1e-14;
  return x;
}

// The largest count in [1, ...) that is within the budget, given that more costs more; 0 if not even one is.
std::int64_t largest_count(const std::function<bool(std::int64_t)>& within, std::int64_t start) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  std::int64_t good = 0;
  std::int64_t bad = 0;
  std::int64_t stride = std::max<std::int64_t>(1, start / 64);
  if (within(start)) {
    good = start;
    while (bad == 0 && good < kMost) {
      const std::int64_t next = std::min(kMost, good + stride);
      within(next) ? good = next : bad = next;
      stride *= 2;
    }
    if (bad == 0) return good;
  } else {
    bad = start;
    while (good == 0 && bad > 1) {
      const std::int64_t next = std::max<std::int64_t>(1, bad - stride);
      within(next) ? good = next : bad = next;
      stride *= 2;
    }
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    within(middle) ? good = middle : bad = middle;
  }
  return good;
}

[[noreturn]] void nothing_fits(const char* what, const Budget& budget) {
  throw InputError(
      fmt::format("no {} meets epsilon {} at delta {}; raise the budget or lower the other costs", what,
                  show(budget.epsilon), show(budget.delta)));
}

// A costly accountant is searched to four digits, around the root of its quick stand-in; others to nine.
double calibrated(const Judge& judge, const std::function<Event(double)>& plan) {
  const auto epsilon = [&](double x) { return judge.epsilon(plan(x)); };
  if (!judge.is_costly()) return smallest_within(epsilon, judge.target());
  bool known = true;
  const auto estimate = [&](double x) {
    const auto value = judge.estimate(plan(x));
    known = known && value.has_value();
    return value ? *value : epsilon(x);
  };
  const double start = smallest_within(estimate, judge.target(), 1, 1e-6);
  return solve(epsilon, judge.target(), start, known ? 1.001 : 1.1, 1e-4);
}

}  // namespace

double smallest_within(const std::function<double(double)>& epsilon, double target, double start,
                       double precision) {
  require("smallest_within", "target", target, greater_than(0));
  return solve(epsilon, target, start, 2, precision);
}

double calibrate_noise(const std::function<Event(double)>& plan, Relation relation, Accountant accountant,
                       const Budget& budget) {
  const Judge judge(relation, accountant, budget);
  judge.refuse(plan(kLargest));
  const double noise = calibrated(judge, plan);
  if (std::isinf(noise)) nothing_fits("noise multiplier", budget);
  return noise;
}

std::int64_t calibrate_steps(const std::function<Event(std::int64_t)>& plan, Relation relation,
                             Accountant accountant, const Budget& budget) {
  const Judge judge(relation, accountant, budget);
  judge.refuse(plan(1));
  std::int64_t start = 1;
  if (judge.is_costly()) {
    start = largest_count(
        [&](std::int64_t n) { return judge.estimate(plan(n)).value_or(kInfinity) <= judge.target(); }, 1);
  }
  const std::int64_t steps =
      largest_count([&](std::int64_t n) { return judge.within(plan(n)); }, std::max<std::int64_t>(1, start));
  if (steps == 0) nothing_fits("number of steps", budget);
  return steps;
}

double calibrate_rate(const std::function<Event(double)>& plan, Relation relation, Accountant accountant,
                      const Budget& budget) {
  const Judge judge(relation, accountant, budget);
  if (refusal(plan(1), relation, accountant).empty() && judge.within(plan(1))) return 1;
  judge.refuse(plan(1 / kLargest));
  // The searches look for a smallest value of something that costs less as it grows: one over the rate.
  const auto by_inverse = [&](double inverse) { return plan(1 / std::max(1.0, inverse)); };
  const double inverse = calibrated(judge, by_inverse);
  if (std::isinf(inverse)) nothing_fits("sampling rate", budget);
  return 1 / std::max(1.0, inverse);
}

}  // namespace ration
