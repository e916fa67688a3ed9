#include "data/add_hats.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "data/cell_encoder.h"
#include "ration/base/error.h"
#include "ration/data/table.h"

namespace ration::data {
namespace {

// What becomes of an encoded column: a number that gets hats has an encoder, others have only a new place.
struct Change {
  std::size_t place;
  std::optional<CellEncoder> encoder{};
};

std::vector<Change> changes_between(const Schema& before, const Schema& after) {
  std::vector<Change> changes;
  std::size_t place = 0;
  for (std::size_t i = 0; i < before.columns.size(); ++i) {
    const Column& column = after.columns.at(i);
    if (i == before.label_index() || column.type == ColumnType::ignore) continue;
    CellEncoder encoder(column, after.missing);
    const std::size_t width = encoder.names().size();
    if (column.knots != before.columns[i].knots) {
      changes.push_back({place, std::move(encoder)});
    } else {
      for (std::size_t k = 0; k < width; ++k) changes.push_back({place + k});
    }
    place += width;
  }
  if (before.bias) changes.push_back({place});
  return changes;
}

}  // namespace

Rows add_hats(const Rows& rows, const Schema& before, const Schema& after) {
  const std::vector<Change> changes = changes_between(before, after);
  if (rows.columns() != changes.size()) {
    throw InputError(fmt::format("hats: expected rows of {} columns, as the schema says, got {}",
                                 changes.size(), rows.columns()));
  }
  SparseMatrix matrix;
  matrix.columns = encoded_column_names(after).size();
  for (std::size_t row = 0; row < rows.count(); ++row) {
    rows.for_each_entry(row, [&](std::size_t column, double value) {
      if (value == 0) return;  // hats are 0 there, too
      const Change& change = changes[column];
      if (!change.encoder) return matrix.add(change.place, value);
      for (const Entry& entry : change.encoder->at_place(value)) {
        if (entry.value != 0) matrix.add(change.place + static_cast<std::size_t>(entry.offset), entry.value);
      }
    });
    matrix.end_row();
  }
  return Rows::build(std::move(matrix), {rows.labels().begin(), rows.labels().end()});
}

}  // namespace ration::data
