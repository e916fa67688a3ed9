#pragma once

#include <string>

#include "ration/base/error.h"
#include "ration/data/table.h"
#include "support/child_process.h"

namespace ration::testing {

// Small tables for reader tests: three columns of every type and a label.
inline const std::string kSmallSchema = R"(
label = "rich"
missing = ["?", "NA"]
columns = [
  { name = "age", type = "number", low = 10, high = 60, fill = 35 },
  { name = "work", type = "category", categories = ["field", "shop"], missing_category = true },
  { name = "note", type = "ignore" },
  { name = "rich", type = "category", categories = ["no", "yes"] },
]
)";

inline data::Schema small_schema(const std::string& more = "") {
  return data::parse_schema(more + kSmallSchema, "small.toml");
}

inline data::Table read_text(const std::string& text, const data::Schema& schema,
                             const std::string& name = "t.csv") {
  const TemporaryFolder folder;
  return data::read_table(folder.write(name, text), schema);
}

// What is said on refusing; "" if nothing is refused.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// A row as plain numbers, whatever its storage.
inline std::vector<double> plain_row(const Rows& rows, std::size_t row) {
  if (rows.is_dense()) return {rows.dense_row(row).begin(), rows.dense_row(row).end()};
  std::vector<double> out(rows.columns(), 0.0);
  const auto entries = rows.sparse_row(row);
  for (std::size_t i = 0; i < entries.values.size(); ++i)
    out[static_cast<std::size_t>(entries.indices[i])] = entries.values[i];
  return out;
}

}  // namespace ration::testing
