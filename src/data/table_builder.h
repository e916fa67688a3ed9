#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/cell_encoder.h"
#include "data/place.h"
#include "data/row_faults.h"
#include "ration/data/table.h"

namespace ration::data {

// Grows a Table cell by cell. Storage is chosen by the public schema: it bounds how many entries a row can
// have, so a dense table is filled in place and never exists twice.
//
// Use   for each row: cell(i, value, place) for every column i of the schema but ignored ones, in any order;
//       then end_row(). At last finish().
class TableBuilder {
 public:
  TableBuilder(const Schema& schema, const ReadOptions& options);

  // Value is a text or a number.
  template <typename Value>
  void cell(std::size_t column, Value value, const Place& place) {
    const Slot& slot = slots_[column];
    try {
      if (slot.role == Role::unit) take_unit(value, place);
      if (slot.role == Role::feature) set(slot.first, slot.encoder.feature(value, place));
      if (slot.role == Role::label) label_ = slot.encoder.label(value, place);
    } catch (const RowFault& fault) {
      slot.role == Role::feature ? faults_.in_feature(fault) : faults_.in_row(fault);
    }
  }
  // The row as a whole breaks a rule.
  void refuse_row(const RowFault& fault) { faults_.in_row(fault); }
  void end_row();
  // Room for so many rows, for callers that know: growing would hold part of the table twice.
  void reserve(std::size_t rows);
  std::size_t rows() const { return labels_.size(); }
  // `file` is named if there was no row. Throws BadRows if rows are to be refused.
  Table finish(const std::string& file) &&;

 private:
  enum class Role { feature, label, unit, none };
  struct Slot {
    CellEncoder encoder;
    Role role;
    std::int32_t first;
  };

  void set(std::int32_t first, const EncodedCell& cell) {
    for (const Entry& entry : cell) {
      if (entry.value != 0) row_.push_back({first + entry.offset, entry.value});
    }
  }
  void take_unit(std::string_view id, const Place& place);
  void take_unit(double id, const Place& place);
  void append_row();
  void append_dense();
  void append_sparse();
  Rows take_rows();

  const Schema& schema_;
  std::vector<Slot> slots_;
  std::vector<std::string> names_;
  RowFaults faults_;
  std::size_t most_entries_;  // of a row
  bool dense_;
  double label_;
  std::vector<Entry> row_;  // offset: the encoded column
  std::vector<double> values_;
  SparseMatrix sparse_;
  std::vector<double> labels_;
  std::unordered_map<std::string, std::size_t> units_;  // their numbers
  std::optional<std::size_t> unit_;                     // of this row
  std::vector<std::size_t> unit_of_row_;
};

}  // namespace ration::data
