#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ration/data/schema.h"
#include "ration/methods/gradient_descent.h"
#include "ration/objectives/glm/glm.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"
#include "ration/privacy/spending.h"
#include "ration/sampling/sampler.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"

namespace ration {

// A plan in which nothing is open any more: what a run will do and spend, known before a row is read. Sampler,
// clip rule, noise, relation and accountant fit together, and the whole stays within the budget.
struct ResolvedPlan {
  Plan plan;  // as given, with every choice of 'auto' written out
  Budget budget{};
  Relation relation = Relation::add_remove;
  Accountant accountant = Accountant::rdp;
  double rate = 1;                            // of a step
  std::optional<std::uint64_t> fixed_size{};  // rows of a step, if its size is fixed
  double noise_multiplier = 1;                // of a step with shape 1
  GradientDescentOptions method{};            // with the noise of every step
  std::vector<double> schedule{};             // as its file has it; empty if it is one of the shapes
  std::optional<double> count_noise{};        // the number of rows is asked first, with this noise multiplier
  Guarantee cost{};                           // of everything

  std::int64_t steps() const { return static_cast<std::int64_t>(method.noise.size()); }
  Event steps_event(std::int64_t first_steps) const;
  // The first steps, and the count of the rows if there is one.
  Event event(std::int64_t first_steps) const;
  Event event() const { return event(steps()); }
  SpendingBy spending_by() const { return SpendingBy::plan; }
  // Where the table's size comes from is the caller's business.
  std::unique_ptr<Sampler> make_sampler(const TableSize& table) const;
};

// Throws InputError for a plan that does not hold together, naming the key, and BudgetRefused for one that would
// spend more than its budget.
ResolvedPlan resolve(const Plan& plan);

// The schema a plan names, with its target. Throws InputError if the model cannot be fitted to it.
data::Schema read_schema_of(const Plan& plan);

// The model a plan would train, all weights 0.
Model untrained_model(const Plan& plan, const data::Schema& schema);

}  // namespace ration
