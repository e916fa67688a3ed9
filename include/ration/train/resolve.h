// Stable: changes only with a new major version.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "ration/data/schema.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"
#include "ration/privacy/filter.h"
#include "ration/privacy/spending.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"

namespace ration {

// Methods with their settings (train/method_plan.h), of the library itself.
class FixedMethod;
class AdaptiveMethod;
struct Protector;
class Sampler;
struct TableSize;

// Nothing protects the rows: a bar to measure others by, never a release.
struct WithoutPrivacy {
  double ridge = 0;  // >= 0
};

// A method with all its settings: one that was fixed before the run, one that chooses as it goes, or none.
using MethodPlan =
    std::variant<std::shared_ptr<const FixedMethod>, std::shared_ptr<const AdaptiveMethod>, WithoutPrivacy>;

// A plan in which nothing is open any more, before a row is read. Sampler, clip rule, noise, relation and
// accountant fit together, and the whole stays within the budget.
struct ResolvedPlan {
  Plan plan;                                  // as given, with every choice written out
  std::string why_model{};                    // if the plan left the model open: why it is this one
  std::string why_method{};                   // if auto chose another method: why
  bool schema_was_found = false;              // by the place of the rows (data/find_schema.h)
  Budget budget{};                            // what the run may spend
  Relation relation = Relation::add_remove;   // which tables are neighbours
  Accountant accountant = Accountant::rdp;    // who adds up the events
  double rate = 1;                            // of a step
  std::optional<std::uint64_t> fixed_size{};  // rows of a step, if its size is fixed
  double noise_multiplier = 0;                // of a fixed method's step with shape 1
  MethodPlan method{};                        // with its settings
  std::vector<double> schedule{};             // as its file has it; empty if it is one of the shapes
  std::optional<double> count_noise{};        // the number of rows is asked first, with this noise multiplier
  std::optional<double> mean_noise{};         // and then their mean
  Guarantee cost{};  // of everything; a method that chooses as it goes is promised its whole budget

  // False for a bar to measure others by.
  bool is_private() const { return !std::holds_alternative<WithoutPrivacy>(method); }
  // Null if the method chooses as it goes.
  const FixedMethod* fixed() const;
  // Of a learned method; null for others.
  const Protector* protector() const;
  // Whether the plan or the outputs decide how much is spent.
  SpendingBy spending_by() const { return fixed() != nullptr ? SpendingBy::plan : SpendingBy::outputs; }

  // Of a fixed method, which knows; 0 for others. plan.steps is the same number, written out.
  std::int64_t steps() const;
  // What the first steps of a fixed method release.
  Event steps_event(std::int64_t first_steps) const;
  // The same, and what is asked first: the number and the mean of the rows, if they are.
  Event event(std::int64_t first_steps) const;
  // What the whole run releases.
  Event event() const { return event(steps()); }
  // What asking the number of rows costs.
  Event count_event() const { return count_noise ? Event::gaussian(*count_noise) : Event::nothing(); }
  // What asking their mean costs.
  Event mean_event() const { return mean_noise ? Event::gaussian(*mean_noise) : Event::nothing(); }

  // The budget without the part of delta that is kept for the random numbers.
  Budget budget_of_events() const;
  // How many random words the run takes at most, on average, for so many parameters and rows, both public.
  // `asked` queries were counted so far, of a method that chooses as it goes.
  double random_words(double parameters, double most_rows, double asked = 0) const;
  // Grants what the plan may spend: its own events, or whatever fits its budget.
  std::unique_ptr<BudgetFilter> make_budget_filter() const;
  // Where the table's size comes from is the caller's business.
  std::unique_ptr<Sampler> make_sampler(const TableSize& table) const;
};

// Throws InputError for a plan that does not hold together, naming the key, and BudgetRefused for one that
// would spend more than its budget.
ResolvedPlan resolve(const Plan& plan);
// Of a plan for rows in memory: if it leaves the model open, this schema decides.
ResolvedPlan resolve(const Plan& plan, const data::Schema& schema);

// The schema a plan names, or that of its data (data/named_data.h), with its target and its bound on the
// rows. Throws InputError if the model cannot be fitted to it.
data::Schema read_schema_of(const Plan& plan);

// The schema with the plan's bound on the rows, and the features its model sees. InputError if the method
// cannot do with it.
data::Schema fitted_to(const Plan& plan, data::Schema schema);

// The model a plan would train, all weights 0.
Model untrained_model(const Plan& plan, const data::Schema& schema);

}  // namespace ration
