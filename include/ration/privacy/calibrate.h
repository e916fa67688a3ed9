// Stable: changes only with a new major version.
#pragma once

#include <cstdint>
#include <functional>

#include "ration/privacy/accountant.h"

namespace ration {

// What a run may spend: (epsilon, delta)-DP.
struct Budget {
  double epsilon;  // > 0
  double delta;    // 0 < delta < 1
};

// Each function searches the accountant's own epsilon, which must be monotone in the parameter, and returns a
// value whose guarantee lies within the budget: never above it, and not below epsilon * (1 - 1e-3) unless
// the parameter's range or its integrality stops it. Throws InputError when no value is within the budget.

// The search itself, for a caller's own epsilon: the smallest x > 0 with epsilon(x) <= target, for a function
// that falls with x, to a relative precision of `precision` in x and never on the wrong side. `start` is a
// first guess.
double smallest_within(const std::function<double(double)>& epsilon, double target, double start = 1,
                       double precision = 1e-9);

// The smallest noise multiplier: plan(noise) is the whole run's event.
double calibrate_noise(const std::function<Event(double noise)>& plan, Relation relation,
                       Accountant accountant, const Budget& budget);

// The largest number of steps, at least 1.
std::int64_t calibrate_steps(const std::function<Event(std::int64_t steps)>& plan, Relation relation,
                             Accountant accountant, const Budget& budget);

// The largest sampling rate in (0, 1].
double calibrate_rate(const std::function<Event(double rate)>& plan, Relation relation, Accountant accountant,
                      const Budget& budget);

}  // namespace ration
