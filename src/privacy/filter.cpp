#include "ration/privacy/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "privacy/steps.h"
#include "privacy/zcdp_cost.h"
#include "ration/base/check.h"
#include "ration/base/error.h"
#include "ration/privacy/gdp.h"
#include "ration/privacy/rdp.h"
#include "ration/privacy/zcdp.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Every charge is rounded up by more than the summation can lose.
constexpr double kAgainstUs = 1 + 1e-12;

const Budget& validated(const Budget& budget) {
  require("Budget", "epsilon", budget.epsilon, greater_than(0));
  require("Budget", "delta", budget.delta, greater_than(0).less_than(1));
  return budget;
}

void refuse_uncovered(const Event& event, Relation relation, Accountant accountant) {
  if (std::string reason = refusal(event, relation, accountant); !reason.empty()) throw InputError(reason);
}

// A budget in one additive currency.
class AdditiveFilter : public BudgetFilter {
 public:
  bool fits(const Event& event) const override { return spent_ + cost(event) <= total_; }
  bool spend(const Event& event) override {
    const double after = spent_ + cost(event);
    if (!(after <= total_)) return false;
    spent_ = after;
    return true;
  }
  double spent_share() const override { return spent_ / total_; }

 protected:
  AdditiveFilter(Accountant accountant, const Budget& budget, Relation relation, double total)
      : accountant_(accountant), budget_(validated(budget)), relation_(relation), total_(total) {}

  virtual double step_cost(const Step& step) const = 0;

  Accountant accountant_;
  Budget budget_;
  Relation relation_;
  double total_;
  double spent_ = 0;

 private:
  double cost(const Event& event) const {
    refuse_uncovered(event, relation_, accountant_);
    double sum = 0;
    for (const Step& step : steps_of(event, relation_)) {
      if (accountant_ == Accountant::gdp && step.sampling != Sampling::full) {
        throw InputError(
            "accountant 'gdp' only approximates sampled steps, and a filter must not; use 'rdp'");
      }
      sum += static_cast<double>(step.count) * step_cost(step);
    }
    return sum * kAgainstUs;
  }
};

class ZcdpFilter final : public AdditiveFilter {
 public:
  ZcdpFilter(const Budget& budget, Relation relation)
      : AdditiveFilter(Accountant::zcdp, budget, relation,
                       zcdp_rho(validated(budget).epsilon, budget.delta)) {}
  double spent_epsilon() const override {
    return spent_ == 0 ? 0 : std::min(budget_.epsilon, zcdp_epsilon(spent_, budget_.delta));
  }

 private:
  double step_cost(const Step& step) const override { return zcdp_cost(step); }
};

class GdpFilter final : public AdditiveFilter {
 public:
  GdpFilter(const Budget& budget, Relation relation)
      : AdditiveFilter(Accountant::gdp, budget, relation, squared_mu(validated(budget))) {}
  double spent_epsilon() const override {
    return spent_ == 0 ? 0 : std::min(budget_.epsilon, gdp_epsilon(std::sqrt(spent_), budget_.delta));
  }

 private:
  static double squared_mu(const Budget& budget) {
    const double mu = gdp_mu(budget.epsilon, budget.delta);
    return mu * mu * (1 - 1e-15);
  }
  double step_cost(const Step& step) const override {
    return 1 / (*step.gaussian_noise * *step.gaussian_noise);
  }
};

// Orders below 2 help large budgets; where only integers are proven their cost is infinite, and stays so.
std::vector<double> filter_orders() {
  std::vector<double> orders;
  for (double order = 1.05; order < 1.99; order += 0.05) orders.push_back(order);
  const std::vector<double>& integers = integer_orders();
  orders.insert(orders.end(), integers.begin(), integers.end());
  return orders;
}

class RdpFilter final : public BudgetFilter {
 public:
  RdpFilter(const Budget& budget, Relation relation)
      : budget_(validated(budget)), relation_(relation), orders_(filter_orders()), spent_(orders_.size()) {
    for (const double order : orders_) {
      limits_.push_back(budget_.epsilon - rdp_conversion_term(order, budget_.delta));
    }
  }

  bool fits(const Event& event) const override {
    const std::vector<double>& costs = costs_of(event);
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      if (spent_[i] + costs[i] <= limits_[i]) return true;
    }
    return false;
  }

  bool spend(const Event& event) override {
    if (!fits(event)) return false;
    const std::vector<double>& costs = costs_of(event);
    for (std::size_t i = 0; i < orders_.size(); ++i) spent_[i] += costs[i];
    return true;
  }

  double spent_epsilon() const override {
    if (spent_share() == 0) return 0;
    double best = budget_.epsilon;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      best = std::min(best, rdp_to_epsilon(spent_[i], orders_[i], budget_.delta));
    }
    return best;
  }

  double spent_share() const override {
    double least = kInfinity;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      if (limits_[i] > 0) least = std::min(least, spent_[i] / limits_[i]);
    }
    return std::isinf(least) ? 1 : least;
  }

 private:
  // The costs of the last few kinds of event are kept: a run asks the same ones over and over.
  const std::vector<double>& costs_of(const Event& event) const {
    for (const auto& [known, costs] : recent_) {
      if (&known.node() == &event.node()) return costs;
    }
    constexpr std::size_t kKept = 8;
    if (recent_.size() == kKept) recent_.erase(recent_.begin());
    recent_.emplace_back(event, computed_costs(event));
    return recent_.back().second;
  }

  std::vector<double> computed_costs(const Event& event) const {
    RdpCurve curve(event, relation_);
    std::vector<double> costs;
    for (const double order : orders_) {
      const bool proven = !curve.needs_integer_orders() || order >= 2;
      costs.push_back(proven ? curve(order) * kAgainstUs : kInfinity);
    }
    return costs;
  }

  Budget budget_;
  Relation relation_;
  std::vector<double> orders_;
  std::vector<double> limits_;
  std::vector<double> spent_;
  mutable std::vector<std::pair<Event, std::vector<double>>> recent_;
};

}  // namespace

std::unique_ptr<BudgetFilter> make_zcdp_filter(const Budget& budget, Relation relation) {
  return std::make_unique<ZcdpFilter>(budget, relation);
}

std::unique_ptr<BudgetFilter> make_rdp_filter(const Budget& budget, Relation relation) {
  return std::make_unique<RdpFilter>(budget, relation);
}

std::unique_ptr<BudgetFilter> make_gdp_filter(const Budget& budget, Relation relation) {
  return std::make_unique<GdpFilter>(budget, relation);
}

std::unique_ptr<BudgetFilter> make_filter(Accountant accountant, const Budget& budget, Relation relation) {
  switch (accountant) {
    case Accountant::zcdp:
      return make_zcdp_filter(budget, relation);
    case Accountant::rdp:
      return make_rdp_filter(budget, relation);
    case Accountant::gdp:
      return make_gdp_filter(budget, relation);
    default:
      throw InputError(
          fmt::format("accountant '{}' needs a plan fixed before the run and cannot filter; use 'rdp', "
                      "'zcdp' or 'gdp'",
                      to_string(accountant)));
  }
}

}  // namespace ration
