#include "data/row_faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace ration::data {

void RowFaults::in_row(const RowFault& fault) {
  row_is_bad_ = true;
  if (choice_ != OnBadRow::refuse) return;
  if (complaints_.size() < kMostShown) {
    complaints_.emplace_back(fault.what());
    without_advice_.push_back(fault.without_advice());
    return;
  }
  refuse(fmt::format("\nand more: these are the first {}", kMostShown));
}

bool RowFaults::end_row() {
  const bool stays = !std::exchange(row_is_bad_, false);
  if (!stays) ++left_out_;
  return stays;
}

void RowFaults::finish() const {
  if (!complaints_.empty()) refuse("");
}

void RowFaults::refuse(std::string_view ending) const {
  throw With<BadRows>(fmt::format("{}{}", fmt::join(complaints_, "\n"), ending),
                      fmt::format("{}{}", fmt::join(without_advice_, "\n"), ending));
}

Column as_read(Column column, OnBadRow choice) {
  if (choice == OnBadRow::clamp) column.out_of_bounds = OutOfBounds::clamp;
  return column;
}

}  // namespace ration::data
