#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/category_index.h"
#include "data/place.h"
#include "data/unit_scale.h"
#include "ration/data/schema.h"

namespace ration::data {

// One encoded cell: an entry at `offset` from the first of its column's encoded columns. A label has its
// value alone.
struct Entry {
  std::int32_t offset;
  double value;
};

// The encoding of one column, by the rules of table.h.
class CellEncoder {
 public:
  CellEncoder(const Column& column, const std::vector<std::string>& missing);

  // How many encoded columns it has as a feature, and what they are called.
  std::vector<std::string> names() const;
  Entry feature(std::string_view text, const Place& place) const;
  Entry feature(double number, const Place& place) const;
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
  Entry scaled(double value) const;

  Column column_;
  std::vector<std::string> missing_;
  CategoryIndex places_;
  UnitScale scale_;
};

}  // namespace ration::data
