#include "data/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "data/complaint.h"

namespace ration::data {
namespace {

constexpr double kNoLabel = std::numeric_limits<double>::quiet_NaN();

void append(std::vector<std::string>& names, std::vector<std::string> more) {
  names.insert(names.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool mostly_filled(std::size_t most_entries, std::size_t width) {
  return static_cast<double>(most_entries) >= Rows::kDenseFrom * static_cast<double>(width);
}

}  // namespace

TableBuilder::TableBuilder(const Schema& schema, const ReadOptions& options)
    : schema_(schema), faults_(options.on_bad_row), most_entries_(schema.bias ? 1 : 0), label_(kNoLabel) {
  require_sound(schema);
  const std::size_t label = schema.label_index();
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    const bool is_feature = i != label && column.type != ColumnType::ignore;
    const bool is_unit = options.units && column.name == schema.unit;
    const Role role = is_feature                     ? Role::feature
                      : i == label && options.labels ? Role::label
                      : is_unit                      ? Role::unit
                                                     : Role::none;
    slots_.push_back({CellEncoder(as_read(column, options.on_bad_row), schema.missing), role,
                      static_cast<std::int32_t>(names_.size())});
    if (!is_feature) continue;
    append(names_, slots_.back().encoder.names());
    most_entries_ += slots_.back().encoder.most_entries();
  }
  if (schema.bias) names_.push_back("(bias)");
  dense_ = mostly_filled(most_entries_, names_.size());
  sparse_.columns = names_.size();
}

void TableBuilder::reserve(std::size_t rows) {
  labels_.reserve(rows);
  if (dense_) {
    values_.reserve(rows * names_.size());
    return;
  }
  sparse_.starts.reserve(rows + 1);
  sparse_.indices.reserve(rows * most_entries_);
  sparse_.values.reserve(rows * most_entries_);
}

void TableBuilder::end_row() {
  if (faults_.end_row()) append_row();
  label_ = kNoLabel;
  unit_.reset();
  row_.clear();
}

// A unit is there although its row breaks another rule.
void TableBuilder::take_unit(std::string_view id, const Place& place) {
  const bool is_missing =
      id.empty() || std::find(schema_.missing.begin(), schema_.missing.end(), id) != schema_.missing.end();
  if (is_missing) place.refuse(schema_.unit, "expected whose row this is, got none");
  unit_ = units_.try_emplace(std::string(id), units_.size()).first->second;
}

void TableBuilder::take_unit(double id, const Place& place) {
  take_unit(std::string_view(std::isnan(id) ? "" : show(id)), place);
}

void TableBuilder::append_row() {
  if (unit_) unit_of_row_.push_back(*unit_);
  if (schema_.bias) row_.push_back({static_cast<std::int32_t>(names_.size() - 1), 1.0});
  if (dense_) {
    append_dense();
  } else {
    append_sparse();
  }
  labels_.push_back(label_);
}

void TableBuilder::append_dense() {
  const std::size_t start = values_.size();
  values_.resize(start + names_.size(), 0.0);
  for (const Entry& entry : row_) values_[start + static_cast<std::size_t>(entry.offset)] = entry.value;
}

void TableBuilder::append_sparse() {
  const auto by_column = [](const Entry& a, const Entry& b) { return a.offset < b.offset; };
  if (!std::is_sorted(row_.begin(), row_.end(), by_column)) std::sort(row_.begin(), row_.end(), by_column);
  for (const Entry& entry : row_) sparse_.add(static_cast<std::size_t>(entry.offset), entry.value);
  sparse_.end_row();
}

Rows TableBuilder::take_rows() {
  if (dense_) return Rows::dense(names_.size(), std::move(values_), std::move(labels_));
  return Rows::sparse(std::move(sparse_), std::move(labels_));
}

Table TableBuilder::finish(const std::string& file) && {
  faults_.finish();
  if (labels_.empty() && faults_.left_out() == 0) refuse(file, "expected rows, got none");
  Rows rows = take_rows();
  if (schema_.max_row_norm) rows = std::move(rows).with_row_norms_at_most(*schema_.max_row_norm);
  return {.rows = std::move(rows),
          .column_names = std::move(names_),
          .classes = schema_.class_names(),
          .left_out = faults_.left_out(),
          .unit_of_row = std::move(unit_of_row_),
          .units = units_.size()};
}

}  // namespace ration::data
