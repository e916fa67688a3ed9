#include "ration/data/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

#include "base/check.h"
#include "data/complaint.h"
#include "data/unit_scale.h"
#include "ration/base/error.h"

namespace ration::data {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::string bounds_fault(double low, double high) {
  if (std::isfinite(low) && std::isfinite(high) && low < high) return "";
  return fmt::format("expected low < high, got low={}, high={}", show(low), show(high));
}

// Cuts and knots lie inside the bounds.
std::string order_fault(const char* what, const std::vector<double>& points, const Column& column) {
  double previous = column.low;
  for (const double point : points) {
    if (!(point > previous))
      return fmt::format("expected low < {}, increasing, got {} after {}", what, show(point), show(previous));
    previous = point;
  }
  if (!points.empty() && !(previous < column.high)) {
    return fmt::format("expected {} < high, got {} with high={}", what, show(previous), show(column.high));
  }
  return "";
}

// Numbers of a range far wider than their distance share a place in [0, 1], and a hat between them would have
// no width.
std::string distance_fault(const Column& column) {
  const UnitScale scale(column);
  std::vector<double> points = {column.low};
  points.insert(points.end(), column.knots.begin(), column.knots.end());
  points.push_back(column.high);
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (scale.place_of(points[i]) > scale.place_of(points[i - 1])) continue;
    return fmt::format("expected knots that stay apart when scaled into [0, 1], got {} and {}",
                       show(points[i - 1]), show(points[i]));
  }
  return "";
}

std::string knots_fault(const Column& column) {
  if (column.knots.empty()) return "";
  if (!column.cuts.empty()) return "expected either cuts or knots, got both";
  const std::string fault = order_fault("knots", column.knots, column);
  return fault.empty() ? distance_fault(column) : fault;
}

std::string number_fault(const Column& column) {
  if (const std::string fault = bounds_fault(column.low, column.high); !fault.empty()) return fault;
  if (column.fill && !(*column.fill >= column.low && *column.fill <= column.high)) {
    return fmt::format("expected {} <= fill <= {}, got {}", show(column.low), show(column.high),
                       show(*column.fill));
  }
  if (!column.cuts.empty() && column.scale != Scale::linear) return "expected either cuts or scale, got both";
  if (column.above && !(*column.above >= column.low && *column.above < column.high)) {
    return fmt::format("expected {} <= above < {}, got {}", show(column.low), show(column.high),
                       show(*column.above));
  }
  const std::string fault = order_fault("cuts", column.cuts, column);
  return fault.empty() ? knots_fault(column) : fault;
}

std::string alias_fault(const Column& column) {
  for (const auto& [spelling, category] : column.aliases) {
    if (!contains(column.categories, category)) {
      return fmt::format("alias {} stands for {}, which is none of the categories", in_quotes(spelling),
                         in_quotes(category));
    }
    if (contains(column.categories, spelling))
      return fmt::format("{} is a category and an alias", in_quotes(spelling));
  }
  return "";
}

std::string category_fault(const Column& column, const Schema& schema) {
  if (column.categories.empty()) return "expected at least one category, got none";
  std::set<std::string> seen;
  for (const std::string& category : column.categories) {
    if (!seen.insert(category).second) return fmt::format("category {} is listed twice", in_quotes(category));
    if (contains(schema.missing, category))
      return fmt::format("{} is a category and a mark of missing values", in_quotes(category));
  }
  if (column.fill_category && column.missing_category)
    return "expected either fill or missing_category, got both";
  if (column.fill_category && !contains(column.categories, *column.fill_category)) {
    return fmt::format("fill {} is none of the categories", in_quotes(*column.fill_category));
  }
  return alias_fault(column);
}

std::string column_fault(const Column& column, const Schema& schema) {
  if (column.name.empty()) return "expected a name, got none";
  if (column.type == ColumnType::number) return number_fault(column);
  if (column.type == ColumnType::category) return category_fault(column, schema);
  return "";
}

std::string label_fault(const Column& label) {
  if (label.type == ColumnType::ignore) return "the label's type is 'ignore'; expected number or category";
  if (label.missing_category) return "a label cannot be missing; leave missing_category out";
  if (label.unknown_category == UnknownCategory::other)
    return "a label has no other classes; expected unknown_category = \"error\"";
  if (!label.cuts.empty() || !label.knots.empty() || label.scale != Scale::linear)
    return "a label is not scaled; leave cuts, knots and scale out";
  if (label.type == ColumnType::category && label.categories.size() < 2)
    return "expected at least two classes, got one";
  return "";
}

std::string layout_fault(const Schema& schema) {
  if (schema.columns.empty()) return "expected columns, got none";
  if (schema.delimiter == '"' || schema.delimiter == '\n' || schema.delimiter == '\r' ||
      schema.delimiter == '\0') {
    return "expected a delimiter other than quote, line end and NUL";
  }
  if (schema.max_row_norm && !(std::isfinite(*schema.max_row_norm) && *schema.max_row_norm > 0)) {
    return fmt::format("expected max_row_norm > 0, got {}", show(*schema.max_row_norm));
  }
  if (schema.label.empty()) return "expected label = \"the name of a column\", got none";
  if ((schema.format == FileFormat::libsvm) != schema.indexed_features.has_value()) {
    return "format = \"libsvm\" and [features] go together; expected both or neither";
  }
  if ((schema.format == FileFormat::images) != schema.image.has_value()) {
    return "format = \"images\" and [image] go together; expected both or neither";
  }
  if ((schema.format == FileFormat::text) != schema.text.has_value()) {
    return "format = \"text\" and [text] go together; expected both or neither";
  }
  return "";
}

std::string features_fault(const Schema& schema) {
  if (!schema.indexed_features) return "";
  constexpr std::size_t kMost = 2'000'000'000;  // column indices are 32 bits
  const std::size_t count = schema.indexed_features->count;
  if (count < 1 || count > kMost)
    return fmt::format("features: expected 1 <= count <= {}, got {}", kMost, count);
  if (schema.columns.size() != 1)
    return "a libsvm file has features and a label; expected columns to hold the label alone";
  const std::string fault = bounds_fault(schema.indexed_features->low, schema.indexed_features->high);
  return fault.empty() ? "" : "features: " + fault;
}

std::string range_fault(const char* what, std::size_t value, std::size_t least, std::size_t most) {
  if (value >= least && value <= most) return "";
  return fmt::format("expected {} <= {} <= {}, got {}", least, what, most, value);
}

std::string first_of(std::initializer_list<std::string> faults) {
  for (const std::string& fault : faults) {
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string scatter_fault(const ImageShape& image) {
  if (image.features != ImageFeatures::scatter) return "";
  const auto fits = [](std::size_t length) { return length % 4 == 0 && length >= 8 && length <= 128; };
  if (fits(image.height) && fits(image.width)) return "";
  return fmt::format(
      "features = \"scatter\" needs a height and a width that are multiples of 4, from 8 to 128, got {} and "
      "{}",
      image.height, image.width);
}

std::string image_fault(const Schema& schema) {
  if (!schema.image) return "";
  if (schema.columns.size() != 1) return "images have a label; expected columns to hold it alone";
  if (schema.label_column().type != ColumnType::category)
    return "label: an image's label is a class; expected type = \"category\"";
  const std::string fault =
      first_of({range_fault("channels", schema.image->channels, 1, 16),
                range_fault("height", schema.image->height, 1, 1024),
                range_fault("width", schema.image->width, 1, 1024), scatter_fault(*schema.image)});
  return fault.empty() ? "" : "image: " + fault;
}

std::string vocabulary_fault(const TextShape& text) {
  if (text.tokens == Tokens::words) return range_fault("vocabulary", text.vocabulary, 2, 1u << 24);
  if (text.vocabulary == TextShape::kByteVocabulary) return "";
  return fmt::format("bytes have a vocabulary of {}, got {}", TextShape::kByteVocabulary, text.vocabulary);
}

std::string text_fault(const Schema& schema) {
  if (!schema.text) return "";
  if (schema.columns.size() != 1) return "a text has a label; expected columns to hold it alone";
  const std::string fault =
      first_of({vocabulary_fault(*schema.text), range_fault("length", schema.text->length, 1, 65536)});
  return fault.empty() ? "" : "text: " + fault;
}

std::optional<std::size_t> find_column(const Schema& schema, const std::string& name) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::string unit_fault(const Schema& schema) {
  if (schema.unit.empty())
    return schema.rows_per_unit == 0 ? ""
                                     : "rows_per_unit is for a unit; expected unit = \"COLUMN\" beside it";
  if (schema.indexed_features || schema.image || schema.text || schema.format == FileFormat::npy ||
      schema.format == FileFormat::npz)
    return "unit: expected rows of a delimited file, which has a column for it";
  if (schema.unit == schema.label) return "unit: the label is no unit; expected another column";
  const auto column = find_column(schema, schema.unit);
  if (!column) return fmt::format("unit {} is none of the columns", in_quotes(schema.unit));
  if (schema.columns[*column].type != ColumnType::ignore)
    return fmt::format("unit: column {} is never a feature; expected type = \"ignore\"",
                       in_quotes(schema.unit));
  if (schema.rows_per_unit == 0)
    return fmt::format(
        "rows_per_unit is needed with unit: how many rows of one {} are used at most, such as 8; the others "
        "are left out at random",
        in_quotes(schema.unit));
  return range_fault("rows_per_unit", schema.rows_per_unit, 1, kMostRowsPerUnit);
}

}  // namespace

std::size_t Schema::label_index() const {
  if (const auto index = find_column(*this, label)) return *index;
  throw InputError(fmt::format("{}: label {} is none of the columns", file, in_quotes(label)));
}

const Column& Schema::label_column() const {
  return columns[label_index()];
}

std::vector<std::string> Schema::class_names() const {
  const Column& column = label_column();
  if (column.type == ColumnType::category) return column.categories;
  if (column.above) return {"<= " + show(*column.above), "> " + show(*column.above)};
  return {};
}

std::optional<SchemaFault> find_fault(const Schema& schema) {
  if (std::string fault = layout_fault(schema); !fault.empty()) return SchemaFault{{}, std::move(fault)};
  std::set<std::string> names;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const Column& column = schema.columns[i];
    if (std::string fault = column_fault(column, schema); !fault.empty())
      return SchemaFault{i, std::move(fault)};
    if (column.above && column.name != schema.label)
      return SchemaFault{i, "above makes classes of a label; leave it out of other columns"};
    if (!names.insert(column.name).second) return SchemaFault{i, "listed twice; expected each name once"};
  }
  const auto label = find_column(schema, schema.label);
  if (!label) return SchemaFault{{}, fmt::format("label {} is none of the columns", in_quotes(schema.label))};
  if (std::string fault = label_fault(schema.columns[*label]); !fault.empty())
    return SchemaFault{*label, std::move(fault)};
  std::string fault =
      first_of({features_fault(schema), image_fault(schema), text_fault(schema), unit_fault(schema)});
  if (!fault.empty()) return SchemaFault{{}, std::move(fault)};
  return std::nullopt;
}

void require_sound(const Schema& schema) {
  const auto fault = find_fault(schema);
  if (!fault) return;
  if (!fault->column) refuse(schema.file, fault->message);
  refuse(schema.file,
         fmt::format("column {}: {}", in_quotes(schema.columns[*fault->column].name), fault->message));
}

}  // namespace ration::data
