#include "ration/privacy/spending.h"

#include <fmt/format.h>

#include "ration/base/error.h"

namespace ration {

std::string_view to_string(SpendingBy by) {
  return by == SpendingBy::plan ? "plan" : "outputs";
}

SpendingBy spending_by_from_string(std::string_view name) {
  for (const SpendingBy by : {SpendingBy::plan, SpendingBy::outputs}) {
    if (name == to_string(by)) return by;
  }
  throw InputError(fmt::format("unknown spending '{}'; expected plan or outputs", name));
}

}  // namespace ration
