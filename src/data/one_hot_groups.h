#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ration/data/schema.h"

namespace ration::data {

// Encoded columns that stand one after the other and whose sum is 1 in every row: of a category, or of a
// number with cuts.
struct OneHotGroup {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Those of a sound schema; none if rows are shortened, since sums are then no longer 1.
std::vector<OneHotGroup> one_hot_groups(const Schema& schema);

// For each encoded column the column of the schema that it stands for, and its category or hat; the bias has
// neither, and features without names have their encoded one.
struct EncodedColumn {
  std::string column;
  std::string category;  // empty for a number
};
std::vector<EncodedColumn> encoded_columns(const Schema& schema);

}  // namespace ration::data
