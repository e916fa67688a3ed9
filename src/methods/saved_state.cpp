#include "methods/saved_state.h"

#include <fmt/format.h>

#include <cmath>

#include "ration/base/error.h"

namespace ration::methods {

const std::vector<double>& saved(const MethodState& state, std::string_view method, const std::string& name) {
  const auto found = state.find(name);
  if (found == state.end()) throw InputError(fmt::format("{}: its state lacks '{}'", method, name));
  return found->second;
}

const std::vector<double>& saved_vector(const MethodState& state, std::string_view method,
                                        const std::string& name, std::size_t size) {
  const std::vector<double>& part = saved(state, method, name);
  if (part.size() == size) return part;
  throw InputError(fmt::format("{}: its state is of another size: expected {} numbers in '{}', got {}",
                               method, size, name, part.size()));
}

double saved_number(const MethodState& state, std::string_view method, const std::string& name,
                    const Interval& allowed) {
  return require(method, name, saved_vector(state, method, name, 1)[0], allowed);
}

std::int64_t saved_count(const MethodState& state, std::string_view method, const std::string& name) {
  const double value = saved_number(state, method, name, at_least(0).at_most(0x1p53));
  if (value != std::floor(value)) {
    throw InputError(fmt::format("{}: expected a whole number in '{}', got {}", method, name, value));
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace ration::methods
