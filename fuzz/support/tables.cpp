#include "support/tables.h"

#include <cmath>

namespace ration::fuzz {
namespace {

double squared_norm(const Rows& rows, std::size_t row) {
  double sum = 0;
  const auto values = rows.is_dense() ? rows.dense_row(row) : rows.sparse_row(row).values;
  for (const double value : values) sum += value * value;
  return sum;
}

void check_values(const Rows& rows, std::size_t row, const data::Schema& schema) {
  const auto values = rows.is_dense() ? rows.dense_row(row) : rows.sparse_row(row).values;
  // Ids of tokens are no scaled numbers; features of LIBSVM may be below zero; scattering goes its own way.
  const bool in_unit = !schema.text && !schema.indexed_features &&
                       !(schema.image && schema.image->features == data::ImageFeatures::scatter);
  for (const double value : values) {
    expect(std::isfinite(value), "an encoded value is not finite");
    if (in_unit) expect(value >= 0 && value <= 1, "an encoded value is not between 0 and 1");
    if (schema.indexed_features) expect(std::abs(value) <= 1, "an encoded feature is above 1");
  }
}

}  // namespace

void check_table(const data::Table& table, const data::Schema& schema, const data::ReadOptions& options) {
  const Rows& rows = table.rows;
  expect(rows.columns() == data::encoded_column_names(schema).size(), "columns that were not announced");
  expect(rows.columns() == table.column_names.size(), "columns without a name");
  expect(rows.labels().size() == rows.count(), "as many labels as rows");
  const std::size_t classes = schema.classes();
  for (std::size_t row = 0; row < rows.count(); ++row) {
    check_values(rows, row, schema);
    if (schema.max_row_norm)
      expect(std::sqrt(squared_norm(rows, row)) <= *schema.max_row_norm * (1 + 1e-12), "a row is too long");
    const double label = rows.labels()[row];
    if (!options.labels) continue;
    expect(std::isfinite(label), "a label is not finite");
    if (classes > 0)
      expect(label >= 0 && label < static_cast<double>(classes) && label == std::floor(label),
             "a label that is no class");
  }
}

void read_and_check(const std::string& path, const data::Schema& schema, const data::ReadOptions& options) {
  accepts_or_refuses([&] { check_table(data::read_table(path, schema, options), schema, options); });
}

}  // namespace ration::fuzz
