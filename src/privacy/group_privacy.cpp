#include "privacy/group_privacy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "privacy/gdp.h"
#include "privacy/rdp.h"
#include "privacy/sampler_delta.h"
#include "privacy/steps.h"
#include "privacy/zcdp.h"
#include "privacy/zcdp_cost.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Covers the rounding of sums and of the inverses here, which are far more exact.
constexpr double kAgainstUs = 1 + 1e-9;
// A run within its filter's last digits of the budget.
constexpr double kFilterDigits = 1 + 1e-8;

constexpr const char* kGaussian = "Gaussian DP: k mu [Dong22, Thm 2.14]";
constexpr const char* kConcentrated = "zCDP: k^2 rho [BunSteinke16, Prop. 1.9]";
constexpr const char* kChain = "k steps of the curve for one row [Vadhan17, Lemma 2.2]";
constexpr const char* kOnePoint = "k steps of the guarantee for one row [Vadhan17, Lemma 2.2]";
constexpr const char* kPure = "pure DP: k epsilon";

Event all_of(const std::vector<CountedEvent>& events) {
  std::vector<Event> parts;
  for (const CountedEvent& one : events) parts.push_back(Event::repeated(one.event, one.count));
  return Event::composed(std::move(parts));
}

// log(1 + e^x + ... + e^{(k-1) x}), rounded up; x >= 0.
double log_of_chain(double x, int k) {
  double sum = 0;
  for (int j = 0; j < k; ++j) sum += std::exp(-j * x);
  return (k - 1) * x + std::log(sum) + 1e-12 * (1 + k * x);
}

// What the accounting for one row says of its trade-off, beside the one point (epsilon, delta).
class RowCurve {
 public:
  explicit RowCurve(const Certificate& certificate) : certificate_(certificate) {
    certificate.spending_by == SpendingBy::plan ? by_events() : by_budget();
  }

  bool is_nothing() const { return nothing_; }

  // The least epsilon of k rows at `delta`, and by which theorem; infinite if there is none.
  GroupGuarantee of_group(int k, double delta) const {
    GroupGuarantee best{.rows = k, .epsilon = std::nullopt, .delta = delta, .by = kOnePoint};
    double least = kInfinity;
    const auto offer = [&](double epsilon, const char* by) {
      if (!(epsilon < least)) return;
      least = epsilon;
      best.epsilon = epsilon;
      best.by = by;
    };
    if (pure_) offer(k * *pure_ * kAgainstUs, kPure);
    if (delta > 0 && mu_) offer(gdp_epsilon(k * *mu_ * kAgainstUs, delta), kGaussian);
    if (delta > 0 && rho_) offer(zcdp_epsilon(k * k * *rho_ * kAgainstUs, delta), kConcentrated);
    if (delta > 0 && !orders_.empty()) offer(by_chain(k, delta), kChain);
    return best;
  }

 private:
  // Of a plan all events are known before.
  void by_events() {
    const Event event = all_of(certificate_.events);
    const std::vector<Step> steps = steps_of(event, certificate_.relation);
    nothing_ = steps.empty();
    if (nothing_) return;
    if (certificate_.delta == 0) {
      pure_ = certificate_.epsilon;
      return;
    }
    const bool all_rows = std::all_of(steps.begin(), steps.end(),
                                      [](const Step& step) { return step.sampling == Sampling::full; });
    if (!all_rows) return tabulate(event);
    double squared_mu = 0;
    double rho = 0;
    bool gaussian = true;
    for (const Step& step : steps) {
      const auto count = static_cast<double>(step.count);
      rho += count * zcdp_cost(step);
      gaussian = gaussian && step.gaussian_noise;
      if (gaussian) squared_mu += count / (*step.gaussian_noise * *step.gaussian_noise);
    }
    rho_ = rho * kAgainstUs;
    if (gaussian) mu_ = std::sqrt(squared_mu) * kAgainstUs;
  }

  // A filter proves its own limit, which these two have in the terms of their theorem.
  void by_budget() {
    const Budget promised = certificate_.budget.value_or(Budget{certificate_.epsilon, certificate_.delta});
    if (!(promised.delta > 0)) return;
    const double delta = certificate_.sampler_delta ? delta_of_events(promised.delta) : promised.delta;
    if (certificate_.accountant == Accountant::gdp) mu_ = gdp_mu(promised.epsilon, delta) * kFilterDigits;
    if (certificate_.accountant == Accountant::zcdp) rho_ = zcdp_rho(promised.epsilon, delta) * kFilterDigits;
  }

  void tabulate(const Event& event) {
    RdpCurve curve(event, certificate_.relation);
    for (const double order : integer_orders()) {
      const double divergence = curve(order) * kAgainstUs;
      if (!std::isfinite(divergence)) continue;
      orders_.push_back(order);
      divergences_.push_back(divergence);
    }
  }

  // For one row, at delta = e^{-depth}; rounded up.
  double epsilon_at(double depth) const {
    double least = kInfinity;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      const double a = orders_[i];
      least = std::min(least, divergences_[i] + std::log1p(-1 / a) + (depth - std::log(a)) / (a - 1));
    }
    return std::max(0.0, least) * kAgainstUs;
  }

  // Any depth at which the chain's delta is small enough gives a bound; the least deep is sought, as epsilon
  // grows with depth.
  double by_chain(int k, double delta) const {
    constexpr double kDeepest = 1e5;
    const double goal = -std::log(delta) * (1 + 1e-12);
    const auto fits = [&](double depth) { return depth - log_of_chain(epsilon_at(depth), k) >= goal; };
    double shallow = goal;
    double deep = goal;
    while (!fits(deep)) {
      shallow = deep;
      deep *= 1.1;
      if (deep > kDeepest) return kInfinity;
    }
    for (int halving = 0; halving < 40 && shallow < deep; ++halving) {
      const double middle = 0.5 * (shallow + deep);
      (fits(middle) ? deep : shallow) = middle;
    }
    return k * epsilon_at(deep);
  }

  const Certificate& certificate_;
  bool nothing_ = false;
  std::optional<double> pure_;  // epsilon for one row, delta 0
  std::optional<double> mu_;
  std::optional<double> rho_;
  std::vector<double> orders_;
  std::vector<double> divergences_;
};

// From (epsilon, delta) alone.
GroupGuarantee from_one_point(const Certificate& certificate, int k, double delta) {
  const double grown = std::exp(log_of_chain(certificate.epsilon, k)) * delta;
  if (!(grown < 1)) return {.rows = k, .epsilon = std::nullopt, .delta = delta, .by = kOnePoint};
  return {.rows = k, .epsilon = k * certificate.epsilon, .delta = grown * kAgainstUs, .by = kOnePoint};
}

// The group's delta is that of the events and what the random numbers may take at its epsilon.
void add_sampler(const Certificate& certificate, GroupGuarantee& group) {
  if (!certificate.sampler_delta || !group.epsilon) return;
  const double kept = certificate.delta - delta_of_events(certificate.delta);
  const double taken =
      *group.epsilon <= kLargestSamplerEpsilon ? sampler_delta(*group.epsilon, certificate.random_words) : 0;
  group.delta += std::max(kept, taken);
  // What was the certificate's delta is it again, without the last digit of a sum.
  if (taken <= kept && std::abs(group.delta - certificate.delta) <= 1e-12 * certificate.delta)
    group.delta = certificate.delta;
}

}  // namespace

std::vector<GroupGuarantee> group_guarantees(const Certificate& certificate) {
  if (!certificate.not_private.empty()) return {};
  const RowCurve curve(certificate);
  const double delta = certificate.sampler_delta ? delta_of_events(certificate.delta) : certificate.delta;
  std::vector<GroupGuarantee> groups;
  for (const int k : kGroupSizes) {
    GroupGuarantee group = curve.of_group(k, delta);
    if (curve.is_nothing()) group.epsilon = 0;
    if (!group.epsilon) group = from_one_point(certificate, k, delta);
    add_sampler(certificate, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace ration
