#include "baselines/state.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {

const std::vector<double>& saved_part(const MethodState& state, const std::string& name, std::size_t size) {
  const auto found = state.find(name);
  if (found == state.end()) throw InputError(fmt::format("baseline: its state lacks '{}'", name));
  require_size(name.c_str(), found->second.size(), size);
  return found->second;
}

double saved_count(const MethodState& state, const std::string& name, double most) {
  const double count = saved_part(state, name, 1)[0];
  require("baseline", name, count, at_least(0).at_most(most));
  if (count == std::floor(count)) return count;
  throw InputError(fmt::format("baseline: expected a whole number as '{}', got {}", name, count));
}

void require_size(const char* what, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw InputError(fmt::format("baseline: expected {} {}, got {}", expected, what, size));
}

}  // namespace ration
