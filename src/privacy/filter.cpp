#include "ration/privacy/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "privacy/event_hash.h"
#include "privacy/gdp.h"
#include "privacy/rdp.h"
#include "privacy/steps.h"
#include "privacy/tcdp.h"
#include "privacy/zcdp.h"
#include "privacy/zcdp_cost.h"
#include "ration/base/error.h"

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

// The order is omega_a, at which both branches of the conversion meet; a fixed one, as for RDP.
class CtcdpFilter final : public AdditiveFilter {
 public:
  CtcdpFilter(const Budget& budget, Relation relation)
      : CtcdpFilter(budget, relation, Ctcdp::from_budget(validated(budget).epsilon, budget.delta)) {}
  double spent_epsilon() const override {
    if (spent_ == 0) return 0;
    const double conversion = std::log(1 / budget_.delta) / (worth_.omega_a - 1);
    return std::min(budget_.epsilon, (spent_ * worth_.omega_a + conversion) * kAgainstUs);
  }

 private:
  CtcdpFilter(const Budget& budget, Relation relation, const Ctcdp& worth)
      : AdditiveFilter(Accountant::tcdp, budget, relation, worth.rho_a), worth_(worth) {}

  double step_cost(const Step& step) const override {
    const double rho = zcdp_cost(step);
    return step.sampling == Sampling::full ? rho : subsample_zcdp(rho, step.rate, worth_).rho;
  }

  Ctcdp worth_;
};

// Orders below 2 help large budgets; where only integers are proven their cost is infinite.
std::vector<double> candidate_orders() {
  std::vector<double> orders;
  for (double order = 1.05; order < 1.99; order += 0.05) orders.push_back(order);
  const std::vector<double>& integers = integer_orders();
  orders.insert(orders.end(), integers.begin(), integers.end());
  return orders;
}

double cost_at(RdpCurve& curve, double order) {
  const bool proven = !curve.needs_integer_orders() || order == std::floor(order);
  return proven ? curve(order) * kAgainstUs : kInfinity;
}

double limit_at(const Budget& budget, double order) {
  return budget.epsilon - rdp_conversion_term(order, budget.delta);
}

// The order at which the typical event uses the smallest part of the budget.
double best_order(const Event& typical, const Budget& budget, Relation relation) {
  double best = 2;
  double least = kInfinity;
  RdpCurve curve(typical, relation);
  for (const double order : candidate_orders()) {
    const double limit = limit_at(budget, order);
    if (!(limit > 0)) continue;
    const double share = cost_at(curve, order) / limit;
    if (share < least) {
      least = share;
      best = order;
    }
  }
  return best;
}

class RdpFilter final : public BudgetFilter {
 public:
  RdpFilter(const Budget& budget, Relation relation, const Event& typical)
      : budget_(validated(budget)),
        relation_(relation),
        order_(best_order(typical, budget, relation)),
        limit_(limit_at(budget, order_)) {}

  bool fits(const Event& event) const override { return spent_ + cost(event) <= limit_; }
  bool spend(const Event& event) override {
    const double after = spent_ + cost(event);
    if (!(after <= limit_)) return false;
    spent_ = after;
    return true;
  }
  double spent_epsilon() const override {
    return spent_ == 0 ? 0 : std::min(budget_.epsilon, rdp_to_epsilon(spent_, order_, budget_.delta));
  }
  double spent_share() const override { return limit_ > 0 ? spent_ / limit_ : 1; }

 private:
  // The costs of the last few events are kept: a run asks the same ones over and over.
  double cost(const Event& event) const {
    for (const auto& [known, value] : recent_) {
      if (known == event) return value;
    }
    constexpr std::size_t kKept = 8;
    if (recent_.size() == kKept) recent_.erase(recent_.begin());
    RdpCurve curve(event, relation_);
    recent_.emplace_back(event, cost_at(curve, order_));
    return recent_.back().second;
  }

  Budget budget_;
  Relation relation_;
  double order_;
  double limit_;
  double spent_ = 0;
  mutable std::vector<std::pair<Event, double>> recent_;
};

// How often an event was planned and how often it happened.
struct PlannedEvent {
  Event event;
  std::int64_t planned = 0;
  std::int64_t spent = 0;

  std::int64_t left() const { return planned - spent; }
};

class PlanFilter final : public BudgetFilter {
 public:
  PlanFilter(const Event& plan, Accountant accountant, const Budget& budget, Relation relation)
      : accountant_(accountant), budget_(validated(budget)), relation_(relation) {
    for (const CountedEvent& one : flatten(plan)) {
      const auto [place, is_new] = places_.emplace(one.event, events_.size());
      if (is_new) events_.push_back({.event = one.event});
      add_to_plan(events_[place->second], one.count);
    }
    require_within_budget(account(plan, relation, accountant, budget.delta));
  }

  bool fits(const Event& event) const override {
    PlanFilter copy(*this);
    return copy.spend(event);
  }

  bool spend(const Event& event) override {
    if (last_ < events_.size() && &event.node() == &events_[last_].event.node()) return take(last_, 1);
    const std::vector<CountedEvent> parts = flatten(event);
    for (auto part = parts.begin(); part != parts.end(); ++part) {
      if (find(part->event) && take(last_, part->count)) continue;
      for (auto taken = parts.begin(); taken != part; ++taken) give_back(*taken);
      return false;
    }
    return true;
  }

  double spent_epsilon() const override {
    std::vector<Event> parts;
    for (const PlannedEvent& one : events_) {
      if (one.spent > 0) parts.push_back(Event::repeated(one.event, one.spent));
    }
    if (parts.empty()) return 0;
    return std::min(
        budget_.epsilon,
        account(Event::composed(std::move(parts)), relation_, accountant_, budget_.delta).epsilon);
  }

  double spent_share() const override {
    double planned = 0;
    double spent = 0;
    for (const PlannedEvent& one : events_) {
      planned += static_cast<double>(one.planned);
      spent += static_cast<double>(one.spent);
    }
    return planned > 0 ? spent / planned : 1;
  }

 private:
  PlanFilter(const PlanFilter& other)
      : BudgetFilter(),
        accountant_(other.accountant_),
        budget_(other.budget_),
        relation_(other.relation_),
        events_(other.events_),
        places_(other.places_) {}

  // Two ways to add up the same events differ in their last digits.
  void require_within_budget(const Guarantee& cost) const {
    if (!cost.certified) {
      throw InputError(fmt::format("accountant '{}' only approximates this plan, and a filter must not",
                                   to_string(accountant_)));
    }
    if (cost.epsilon <= budget_.epsilon * kAgainstUs) return;
    throw InputError(fmt::format("the plan costs epsilon {}, more than its budget of {}",
                                 show_rounded_up(cost.epsilon), budget_.epsilon));
  }

  // A count that overflowed would be a plan that nobody accounted for.
  static void add_to_plan(PlannedEvent& one, std::int64_t count) {
    if (!__builtin_add_overflow(one.planned, count, &one.planned)) return;
    throw InputError(fmt::format("the plan lists {} more often than can be counted", one.event.describe()));
  }

  // Makes it the event asked for last; false if the plan has no such event.
  bool find(const Event& event) {
    const auto place = places_.find(event);
    if (place == places_.end()) return false;
    last_ = place->second;
    events_[last_].event = event;
    return true;
  }

  bool take(std::size_t place, std::int64_t count) {
    if (events_[place].left() < count) return false;
    events_[place].spent += count;
    return true;
  }

  void give_back(const CountedEvent& part) { events_[places_.at(part.event)].spent -= part.count; }

  Accountant accountant_;
  Budget budget_;
  Relation relation_;
  // The last event is found again, quickly, by its place in memory.
  std::vector<PlannedEvent> events_;
  std::unordered_map<Event, std::size_t, EventHash> places_;  // in events_
  std::size_t last_ = 0;                                      // the place of the event asked for last
};

}  // namespace

std::unique_ptr<BudgetFilter> make_plan_filter(const Event& plan, Accountant accountant, const Budget& budget,
                                               Relation relation) {
  return std::make_unique<PlanFilter>(plan, accountant, budget, relation);
}

std::unique_ptr<BudgetFilter> make_zcdp_filter(const Budget& budget, Relation relation) {
  return std::make_unique<ZcdpFilter>(budget, relation);
}

std::unique_ptr<BudgetFilter> make_rdp_filter(const Budget& budget, Relation relation, const Event& typical) {
  return std::make_unique<RdpFilter>(budget, relation, typical);
}

std::unique_ptr<BudgetFilter> make_gdp_filter(const Budget& budget, Relation relation) {
  return std::make_unique<GdpFilter>(budget, relation);
}

std::unique_ptr<BudgetFilter> make_ctcdp_filter(const Budget& budget, Relation relation) {
  return std::make_unique<CtcdpFilter>(budget, relation);
}

std::unique_ptr<BudgetFilter> make_filter(Accountant accountant, const Budget& budget, Relation relation,
                                          const Event& typical) {
  switch (accountant) {
    case Accountant::zcdp:
      return make_zcdp_filter(budget, relation);
    case Accountant::rdp:
      return make_rdp_filter(budget, relation, typical);
    case Accountant::gdp:
      return make_gdp_filter(budget, relation);
    case Accountant::tcdp:
      return make_ctcdp_filter(budget, relation);
    default:
      throw InputError(
          fmt::format("accountant '{}' needs a plan fixed before the run and cannot filter; use 'rdp', "
                      "'zcdp', 'gdp' or 'tcdp'",
                      to_string(accountant)));
  }
}

}  // namespace ration
