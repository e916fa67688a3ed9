// Stable: changes only with a new major version.
#pragma once

#include <string_view>

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

// As spending_by_from_string() takes it.
std::string_view to_string(SpendingBy by);
// Throws InputError listing the known names.
SpendingBy spending_by_from_string(std::string_view name);

}  // namespace ration
