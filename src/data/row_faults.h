#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/place.h"
#include "ration/data/bad_rows.h"
#include "ration/data/schema.h"

namespace ration::data {

// What a reader does with rows that break the schema, by the choice of bad_rows.h.
//
// Use   for each row: in_feature() or in_row() for every fault, then end_row(). At last finish().
class RowFaults {
 public:
  // Complaints that are shown; beyond them nobody learns how many there were.
  static constexpr std::size_t kMostShown = 20;

  explicit RowFaults(OnBadRow choice) : choice_(choice) {}

  // In a cell of a feature, which encodes as zeros under clamp.
  void in_feature(const RowFault& fault) {
    if (choice_ != OnBadRow::clamp) in_row(fault);
  }
  // In the label, or in the row as a whole: nothing can stand in for it. Throws BadRows once there are more
  // than are shown.
  void in_row(const RowFault& fault);
  // Whether the row stays.
  [[nodiscard]] bool end_row();

  // Rows that did not.
  std::size_t left_out() const { return left_out_; }
  // Throws BadRows if there was something to refuse. It can be asked for its text without_advice().
  void finish() const;

 private:
  [[noreturn]] void refuse(std::string_view ending) const;

  OnBadRow choice_;
  bool row_is_bad_ = false;
  std::size_t left_out_ = 0;
  std::vector<std::string> complaints_;      // only of refuse
  std::vector<std::string> without_advice_;  // the same
};

// The column as it is read under this choice: clamp holds for numbers of which the schema says nothing else.
Column as_read(Column column, OnBadRow choice);

}  // namespace ration::data
