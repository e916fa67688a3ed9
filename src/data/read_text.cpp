// Texts with a label: two fields with a tab between, without quotes, so that a text may hold any other
// character.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/cell_encoder.h"
#include "data/complaint.h"
#include "data/line_reader.h"
#include "data/named_data.h"
#include "data/row_faults.h"
#include "data/tokens.h"
#include "ration/data/table.h"

namespace ration::data {
namespace {

struct Fields {
  std::string_view text;
  std::string_view label;
};

class TextRows {
 public:
  TextRows(const Schema& schema, const ReadOptions& options)
      : schema_(schema),
        shape_(*schema.text),
        label_(as_read(schema.label_column(), options.on_bad_row), {}),
        with_labels_(options.labels),
        faults_(options.on_bad_row) {
    matrix_.columns = shape_.vocabulary - 1 + (schema.bias ? 1 : 0);
  }

  void add(std::string_view line, const Place& place) {
    Fields fields;
    double label = 0;
    try {
      fields = split(line, place);
      label = with_labels_ ? label_.label(fields.label, place) : std::numeric_limits<double>::quiet_NaN();
    } catch (const RowFault& fault) {
      faults_.in_row(fault);
    }
    if (faults_.end_row()) add(token_ids(fields.text, shape_), label);
  }

  Table finish(const std::string& file) {
    faults_.finish();
    if (labels_.empty() && faults_.left_out() == 0) refuse(file, "expected rows, got none");
    Rows rows =
        is_bag() ? Rows::sparse(std::move(matrix_), std::move(labels_))
                 : Rows::dense(shape_.length + (schema_.bias ? 1 : 0), std::move(ids_), std::move(labels_));
    if (schema_.max_row_norm) rows = std::move(rows).with_row_norms_at_most(*schema_.max_row_norm);
    return {std::move(rows), encoded_column_names(schema_), schema_.class_names(), faults_.left_out()};
  }

 private:
  bool is_bag() const { return shape_.features == TextFeatures::bag; }

  void add(std::vector<std::uint32_t> ids, double label) {
    labels_.push_back(label);
    if (is_bag()) {
      add_bag(std::move(ids));
    } else {
      add_ids(std::move(ids));
    }
  }

  Fields split(std::string_view line, const Place& place) const {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos && !with_labels_) return {line, {}};
    if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos) {
      place.refuse(fmt::format("expected two fields with a tab between, got {}",
                               1 + std::count(line.begin(), line.end(), '\t')));
    }
    const std::string_view first = line.substr(0, tab);
    const std::string_view second = line.substr(tab + 1);
    return shape_.label_first ? Fields{second, first} : Fields{first, second};
  }

  // Presence, not count; the norm is 1 however many there are.
  void add_bag(std::vector<std::uint32_t> ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    const double value = 1 / std::sqrt(static_cast<double>(ids.size()));
    for (const std::uint32_t id : ids) matrix_.add(id - 1, value);
    if (schema_.bias) matrix_.add(shape_.vocabulary - 1, 1.0);
    matrix_.end_row();
  }

  void add_ids(std::vector<std::uint32_t> ids) {
    ids.resize(shape_.length);
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    if (schema_.bias) ids_.push_back(1.0);
  }

  const Schema& schema_;
  const TextShape& shape_;
  CellEncoder label_;
  bool with_labels_;
  RowFaults faults_;
  SparseMatrix matrix_;      // bag
  std::vector<double> ids_;  // ids, row after row
  std::vector<double> labels_;
};

}  // namespace

Table read_texts(const std::string& name, const Schema& schema, const ReadOptions& options) {
  require_sound(schema);
  const DataKind kind = parse_data_name(name).kind;
  if (kind != DataKind::file && kind != DataKind::text)
    refuse(name, "the schema is one of texts; expected text:FILE or a file");
  TextRows rows(schema, options);
  LineReader lines(files_of(name).front());
  if (schema.header) lines.next();
  while (lines.next_filled()) rows.add(lines.text(), Place{lines.path(), lines.line()});
  return rows.finish(name);
}

}  // namespace ration::data
