#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/category_index.h"
#include "data/place.h"
#include "data/unit_scale.h"
#include "ration/data/schema.h"

namespace ration::data {

// A number at `offset` from the first of its column's encoded columns.
struct Entry {
  std::int32_t offset;
  double value;
};

// One encoded cell: its entries, offsets increasing, without a place on the heap. All that is left out is 0;
// some of those that are there may be 0, too.
class EncodedCell {
 public:
  // A number and the two hats beside it.
  static constexpr std::size_t kMost = 3;

  explicit EncodedCell(Entry first) : entries_{first} {}
  void add(Entry entry) { entries_[count_++] = entry; }

  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + count_; }

 private:
  std::array<Entry, kMost> entries_;
  std::size_t count_ = 1;
};

// The encoding of one column, by the rules of table.h. As a feature a cell has entries, as a label its value
// alone.
class CellEncoder {
 public:
  CellEncoder(const Column& column, const std::vector<std::string>& missing);

  // How many encoded columns it has as a feature, and what they are called.
  std::vector<std::string> names() const;
  // Entries of a cell that may be other than 0, whatever it holds.
  std::size_t most_entries() const;
  EncodedCell feature(std::string_view text, const Place& place) const;
  EncodedCell feature(double number, const Place& place) const;
  // Of a number without cuts, whose scaled value is known.
  EncodedCell at_place(double place) const;
  double label(std::string_view text, const Place& place) const;
  double label(double number, const Place& place) const;
  const std::string& column_name() const { return column_.name; }

 private:
  bool is_missing(std::string_view text) const;
  double parse(std::string_view text, const Place& place) const;
  double bounded(double value, const Place& place) const;
  double numeric_label(double value) const;
  double missing_number(std::string_view text, const Place& place) const;
  std::int32_t missing_class(std::string_view text, const Place& place) const;
  std::int32_t category(std::string_view text, const Place& place) const;
  std::int32_t label_class(std::string_view text, const Place& place) const;
  std::int32_t other_category() const;
  EncodedCell encoded(double value) const;
  void add_hats(EncodedCell& cell, double place) const;

  Column column_;
  std::vector<std::string> missing_;
  CategoryIndex places_;
  UnitScale scale_;
  std::vector<double> grid_;  // 0, the places of the knots, 1; empty without knots
};

}  // namespace ration::data
