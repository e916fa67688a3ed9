// Stable: changes only with a new major version.
#pragma once

#include <memory>
#include <vector>

#include "ration/privacy/calibrate.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

// A budget that is asked before every query. Methods choose their next query from what they have already
// seen, so composition is fully adaptive, and a sum that is checked only at the end proves nothing; a filter
// does.
//
// Guarantee   whatever the caller asks, in whatever order and for whatever reason, everything that was
//             granted together is (epsilon, delta)-DP.
// A refused query changes nothing, so a cheaper one may still be granted later.
// Not thread-safe: one run, one filter.
class BudgetFilter {
 public:
  virtual ~BudgetFilter() = default;
  BudgetFilter(const BudgetFilter&) = delete;
  BudgetFilter& operator=(const BudgetFilter&) = delete;

  // Whether the event would still fit. Throws InputError for an event this filter has no theorem for.
  virtual bool fits(const Event& event) const = 0;
  // Charges the event if it fits, and says whether it did.
  [[nodiscard]] virtual bool spend(const Event& event) = 0;
  // The epsilon, at the budget's delta, that everything granted so far adds up to; never above the budget's.
  virtual double spent_epsilon() const = 0;
  // The share of the budget that is gone, in the filter's own currency: 0 to 1, for progress bars.
  virtual double spent_share() const = 0;

 protected:
  BudgetFilter() = default;
};

// sum of rho <= rho_total: full-batch events. [Whitehouse23, Thm 1; Feldman21]
std::unique_ptr<BudgetFilter> make_zcdp_filter(const Budget& budget, Relation relation);

// Grants while, at one order fixed before the run, the sum stays within epsilon minus the conversion's term:
// any event. [Feldman21, Thm 4.3]
//
// Why one order  A filter that continues while *some* order is within its limit lets the outputs decide which
//                order that is. On every branch of the run one order bounds that branch's share of delta by
//                delta, but different branches may use different orders, and their shares may then add up to
//                more than delta. When all curves have the same shape (one kind of event) the same order is
//                best on every branch and nothing is lost by fixing it.
// The order is the one at which `typical`, the event the run will mostly ask for, takes the smallest part of
// the budget. It must not depend on the data. The default suits full-batch Gaussians.
std::unique_ptr<BudgetFilter> make_rdp_filter(const Budget& budget, Relation relation,
                                              const Event& typical = Event::gaussian(1));

// sum of mu^2 <= mu_total^2: Gaussian events on the full batch, at no loss over the exact curve. [Koskela23;
// Smith22]
std::unique_ptr<BudgetFilter> make_gdp_filter(const Budget& budget, Relation relation);

// sum of rho <= rho_a, where a step on a fixed-size subset costs 13 q^2 rho: constrained tCDP. [L2P,
// Def. 3.1, Lemma A.6]
//
// All orders below omega_a obey D_a <= rho a, and so does omega_a itself (Renyi divergence is continuous from
// the left in its order), so this is the RDP filter at the one order omega_a, where epsilon = rho_a omega_a +
// ln(1/delta)/(omega_a - 1). An event that violates a condition of the subsampling theorem is an InputError
// that names it.
std::unique_ptr<BudgetFilter> make_ctcdp_filter(const Budget& budget, Relation relation);

// Grants the events that `plan` lists, each as often as listed, in any order, and nothing else: for runs
// whose queries were fixed before they saw a row. Any accountant that can certify the plan will do. Throws
// InputError if none of it can be certified, or if it costs more than the budget.
std::unique_ptr<BudgetFilter> make_plan_filter(const Event& plan, Accountant accountant, const Budget& budget,
                                               Relation relation);

// By name: 'rdp', 'zcdp', 'gdp' or 'tcdp' (constrained). Any other accountant is for plans fixed before the
// run: InputError.
std::unique_ptr<BudgetFilter> make_filter(Accountant accountant, const Budget& budget, Relation relation,
                                          const Event& typical = Event::gaussian(1));

}  // namespace ration
