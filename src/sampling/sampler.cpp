#include "ration/sampling/sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ration/data/bad_rows.h"

namespace ration {

std::uint64_t TableSize::most_rows() const {
  return static_cast<std::uint64_t>(std::clamp(4 * declared_rows, 0x1p20, 0x1p53));
}

void TableSize::require_sound(std::string_view sampler) const {
  require(sampler, "declared_rows", declared_rows, greater_than(0));
  if (rows <= most_rows()) return;
  throw data::TooManyRows(
      fmt::format("{}: the table has more than {} rows, far beyond the {} declared; declare its size",
                  sampler, most_rows(), declared_rows));
}

}  // namespace ration
