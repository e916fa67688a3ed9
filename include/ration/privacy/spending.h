// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"

namespace ration {

// What decided how much a run spent, and with it whether the rest can be given back.
enum class SpendingBy {
  // Fixed before the run saw a row: what was not needed goes back.
  plan,
  // Chosen, or stopped, by what the run saw. The run's guarantee is then its whole budget (a filter's
  // promise), and the smaller sum of the releases is no guarantee of its own (that would be an odometer,
  // which costs more [Rogers16]): nothing goes back, unless nothing was released at all.
  outputs,
};

// Their names.
inline constexpr NamedValue<SpendingBy> kSpendings[] = {
    {SpendingBy::plan, "plan", "Fixed before the run."},
    {SpendingBy::outputs, "outputs", "Chosen during the run by what it released."},
};
// Found by base/names.h.
constexpr NameTable<SpendingBy> name_table(SpendingBy) {
  return {"spending_by", kSpendings};
}

}  // namespace ration
