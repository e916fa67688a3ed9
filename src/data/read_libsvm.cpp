// LIBSVM: "label index:value index:value ...", indices from 1 and increasing. The format asks for increasing
// indices, and a file that breaks this is refused rather than sorted: that is also where an index given twice
// would hide.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "data/cell_encoder.h"
#include "data/complaint.h"
#include "data/line_reader.h"
#include "data/number.h"
#include "data/row_faults.h"
#include "ration/data/table.h"

namespace ration::data {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// Cuts the next word off the front; empty at the end.
std::string_view take_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  std::size_t length = 0;
  while (length < text.size() && !is_blank(text[length])) ++length;
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

class LibsvmRows {
 public:
  LibsvmRows(const Schema& schema, const ReadOptions& options)
      : schema_(schema),
        features_(*schema.indexed_features),
        label_(as_read(schema.label_column(), options.on_bad_row), {}),
        with_labels_(options.labels),
        clamps_(features_.out_of_bounds == OutOfBounds::clamp || options.on_bad_row == OnBadRow::clamp),
        faults_(options.on_bad_row) {
    unit_ = std::max(std::abs(features_.low), std::abs(features_.high));
    matrix_.columns = features_.count + (schema.bias ? 1 : 0);
  }

  void add(std::string_view line, const Place& place) {
    double label = 0;
    try {
      label = take_label(take_word(line), place);
    } catch (const RowFault& fault) {
      faults_.in_row(fault);
    }
    add_entries(line, place);
    if (!faults_.end_row()) return forget_row();
    if (schema_.bias) push(features_.count, 1.0);
    matrix_.end_row();
    labels_.push_back(label);
  }

  // Dense or sparse by the schema's number of columns: what the rows hold may not decide (rows.h).
  Table finish(const std::string& file) {
    faults_.finish();
    if (labels_.empty() && faults_.left_out() == 0) refuse(file, "expected rows, got none");
    Rows rows = Rows::build(std::move(matrix_), std::move(labels_));
    if (schema_.max_row_norm) rows = std::move(rows).with_row_norms_at_most(*schema_.max_row_norm);
    return {std::move(rows), encoded_column_names(schema_), schema_.class_names(), faults_.left_out()};
  }

 private:
  double take_label(std::string_view word, const Place& place) const {
    if (!with_labels_) return std::numeric_limits<double>::quiet_NaN();
    const auto number = parse_number(word);
    if (!number)
      place.refuse(label_.column_name(), fmt::format("expected a numeric label, got {}", in_quotes(word)));
    return label_.label(*number, place);
  }

  // Indices that are none, or do not increase, leave no row to speak of.
  void add_entries(std::string_view line, const Place& place) {
    try {
      std::size_t previous = 0;
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        previous = add_entry(word, previous, place);
      }
    } catch (const RowFault& fault) {
      faults_.in_row(fault);
    }
  }

  void forget_row() {
    matrix_.indices.resize(matrix_.starts.back());
    matrix_.values.resize(matrix_.starts.back());
  }

  // Returns the entry's index, from 1.
  std::size_t add_entry(std::string_view word, std::size_t previous, const Place& place) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos)
      place.refuse(fmt::format("expected index:value, got {}", in_quotes(word)));
    const std::size_t index = take_index(word.substr(0, colon), place);
    if (index <= previous)
      place.refuse(fmt::format("expected increasing indices, got {} after {}", index, previous));
    try {
      push(index - 1, take_value(word.substr(colon + 1), index, place) / unit_);
    } catch (const RowFault& fault) {
      faults_.in_feature(fault);
    }
    return index;
  }

  std::size_t take_index(std::string_view text, const Place& place) const {
    const auto number = parse_number(text);
    const double count = static_cast<double>(features_.count);
    if (!number || !(*number >= 1 && *number <= count) || *number != std::floor(*number)) {
      place.refuse(fmt::format("expected 1 <= index <= {}, got {}", features_.count, in_quotes(text)));
    }
    return static_cast<std::size_t>(*number);
  }

  double take_value(std::string_view text, std::size_t index, const Place& place) const {
    const std::string column = fmt::format("{}", index);
    const auto value = parse_number(text);
    if (!value || std::isnan(*value) || (std::isinf(*value) && !clamps_))
      place.refuse(column, fmt::format("expected a finite number, got {}", in_quotes(text)));
    if (*value >= features_.low && *value <= features_.high) return *value;
    if (clamps_) return std::clamp(*value, features_.low, features_.high);
    place.refuse(column,
                 fmt::format("value {} is outside the public bounds [{}, {}]", show(*value),
                             show(features_.low), show(features_.high)),
                 "; clamp with out_of_bounds = \"clamp\" or widen the schema");
  }

  void push(std::size_t column, double value) {
    if (value != 0) matrix_.add(column, value);
  }

  const Schema& schema_;
  const IndexedFeatures& features_;
  CellEncoder label_;
  bool with_labels_;
  bool clamps_;
  RowFaults faults_;
  double unit_;
  SparseMatrix matrix_;
  std::vector<double> labels_;
};

}  // namespace

Table read_libsvm(const std::string& path, const Schema& schema, const ReadOptions& options) {
  require_sound(schema);
  if (!schema.indexed_features)
    refuse(schema.file, "a libsvm file needs [features] with count, low and high");
  LibsvmRows rows(schema, options);
  LineReader lines(path);
  while (lines.next_filled()) rows.add(lines.text(), Place{lines.path(), lines.line()});
  return rows.finish(path);
}

}  // namespace ration::data
