#include "data/group_rows.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/index_sampling.h"
#include "data/select_rows.h"
#include "ration/base/error.h"

namespace ration::data {
namespace {

// The rows of each unit, one unit after the other, in their order: unit u has those from starts[u] on.
struct Places {
  std::vector<std::size_t> starts;
  std::vector<std::size_t> rows;
};

Places by_unit(const Table& table) {
  Places places{.starts = std::vector<std::size_t>(table.units + 1, 0),
                .rows = std::vector<std::size_t>(table.unit_of_row.size())};
  for (const std::size_t unit : table.unit_of_row) ++places.starts[unit + 1];
  for (std::size_t unit = 0; unit < table.units; ++unit) places.starts[unit + 1] += places.starts[unit];
  std::vector<std::size_t> next(places.starts.begin(), places.starts.end() - 1);
  for (std::size_t row = 0; row < table.unit_of_row.size(); ++row)
    places.rows[next[table.unit_of_row[row]]++] = row;
  return places;
}

bool is_in_order(const std::vector<std::size_t>& rows, std::size_t count) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] != i) return false;
  }
  return rows.size() == count;
}

}  // namespace

GroupedRows group_by_unit(Table table, std::size_t rows_per_unit, RandomSource& random) {
  if (table.unit_of_row.size() != table.rows.count())
    throw InputError("units: the table was read without them; say ReadOptions::units");
  const Places places = by_unit(table);
  std::vector<std::size_t> kept, starts{0};
  std::vector<std::uint64_t> drawn;
  for (std::size_t unit = 0; unit < table.units; ++unit) {
    const auto own =
        std::span(places.rows).subspan(places.starts[unit], places.starts[unit + 1] - places.starts[unit]);
    if (own.size() <= rows_per_unit) {
      kept.insert(kept.end(), own.begin(), own.end());
    } else {
      sample_subset(random, own.size(), rows_per_unit, drawn);
      for (const std::uint64_t place : drawn) kept.push_back(own[place]);
    }
    starts.push_back(kept.size());
  }
  Units units(std::move(starts), rows_per_unit);
  if (is_in_order(kept, table.rows.count())) return {std::move(table.rows), std::move(units)};
  const double bound = table.rows.norm_bound();
  Rows rows = select_rows(std::span<const Rows>(&table.rows, 1), kept);
  if (rows.norm_bound() > bound) rows = std::move(rows).with_row_norms_at_most(bound);
  return {std::move(rows), std::move(units)};
}

}  // namespace ration::data
