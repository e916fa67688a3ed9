#include "data/cell_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "data/complaint.h"
#include "data/missing_marks.h"
#include "data/number.h"

namespace ration::data {
namespace {

const char* advice_on_missing(std::string_view text) {
  return marks_missing(text) ? "; name it in missing = [...] if it marks a missing value" : "";
}

std::vector<std::string> category_names(const Column& column) {
  std::vector<std::string> names;
  for (const std::string& category : column.categories) names.push_back(column.name + "=" + category);
  if (column.missing_category) names.push_back(column.name + "=(missing)");
  if (column.unknown_category == UnknownCategory::other) names.push_back(column.name + "=(other)");
  return names;
}

std::vector<std::string> interval_names(const Column& column) {
  std::vector<std::string> names;
  double from = column.low;
  for (const double cut : column.cuts) {
    names.push_back(fmt::format("{} in [{}, {})", column.name, show(from), show(cut)));
    from = cut;
  }
  names.push_back(fmt::format("{} in [{}, {}]", column.name, show(from), show(column.high)));
  return names;
}

std::vector<std::string> scaled_names(const Column& column) {
  std::vector<std::string> names = {column.name};
  for (const double knot : column.knots) names.push_back(fmt::format("{} near {}", column.name, show(knot)));
  return names;
}

std::vector<double> grid_of(const Column& column, const UnitScale& scale) {
  if (column.knots.empty()) return {};
  std::vector<double> grid = {0};
  for (const double knot : column.knots) grid.push_back(scale.place_of(knot));
  grid.push_back(1);
  return grid;
}

}  // namespace

CellEncoder::CellEncoder(const Column& column, const std::vector<std::string>& missing)
    : column_(column),
      missing_(missing),
      places_(column.categories, column.aliases),
      scale_(column),
      grid_(grid_of(column, scale_)) {}

std::vector<std::string> CellEncoder::names() const {
  if (column_.type == ColumnType::ignore) return {};
  if (column_.type == ColumnType::category) return category_names(column_);
  if (!column_.cuts.empty()) return interval_names(column_);
  return scaled_names(column_);
}

std::size_t CellEncoder::most_entries() const {
  return std::min(EncodedCell::kMost, 1 + column_.knots.size());
}

EncodedCell CellEncoder::feature(std::string_view text, const Place& place) const {
  if (column_.type == ColumnType::category) return EncodedCell({category(text, place), 1.0});
  return encoded(parse(text, place));
}

EncodedCell CellEncoder::feature(double number, const Place& place) const {
  if (column_.type == ColumnType::category) return EncodedCell({category(show(number), place), 1.0});
  return encoded(bounded(number, place));
}

double CellEncoder::label(std::string_view text, const Place& place) const {
  return column_.type == ColumnType::category ? label_class(text, place) : numeric_label(parse(text, place));
}

double CellEncoder::label(double number, const Place& place) const {
  if (column_.type == ColumnType::category) return label_class(show(number), place);
  return numeric_label(bounded(number, place));
}

double CellEncoder::numeric_label(double value) const {
  if (!column_.above) return value;
  return value > *column_.above ? 1 : 0;
}

bool CellEncoder::is_missing(std::string_view text) const {
  return std::find(missing_.begin(), missing_.end(), text) != missing_.end();
}

double CellEncoder::parse(std::string_view text, const Place& place) const {
  if (is_missing(text)) return missing_number(text, place);
  const auto value = parse_number(text);
  if (!value) {
    place.refuse(column_.name, fmt::format("expected a number, got {}", in_quotes(text)),
                 advice_on_missing(text));
  }
  return bounded(*value, place);
}

double CellEncoder::bounded(double value, const Place& place) const {
  const bool clamps = column_.out_of_bounds == OutOfBounds::clamp;
  if (std::isnan(value) || (std::isinf(value) && !clamps))
    place.refuse(column_.name, fmt::format("expected a finite number, got {}", show(value)));
  if (value >= column_.low && value <= column_.high) return value;
  if (clamps) return std::clamp(value, column_.low, column_.high);
  place.refuse(column_.name,
               fmt::format("value {} is outside the public bounds [{}, {}]", show(value), show(column_.low),
                           show(column_.high)),
               "; clamp with out_of_bounds = \"clamp\" or widen the schema");
}

double CellEncoder::missing_number(std::string_view text, const Place& place) const {
  if (column_.fill) return *column_.fill;
  place.refuse(column_.name, fmt::format("missing value {}", in_quotes(text)),
               "; say what to do with it: fill = a number");
}

std::int32_t CellEncoder::missing_class(std::string_view text, const Place& place) const {
  if (column_.fill_category) return *places_.find(*column_.fill_category);
  if (column_.missing_category) return static_cast<std::int32_t>(column_.categories.size());
  place.refuse(column_.name, fmt::format("missing value {}", in_quotes(text)),
               "; say what to do with it: missing_category = true or fill = \"a category\"");
}

std::int32_t CellEncoder::category(std::string_view text, const Place& place) const {
  if (const auto found = places_.find(text)) return *found;
  if (is_missing(text)) return missing_class(text, place);
  if (column_.unknown_category == UnknownCategory::other) return other_category();
  place.refuse(
      column_.name,
      fmt::format("value {} is none of the {} categories", in_quotes(text), column_.categories.size()),
      fmt::format("; add it to the schema or set unknown_category = \"other\"{}", advice_on_missing(text)));
}

// A label has no class for other or missing values, so what helps a feature is no advice here.
std::int32_t CellEncoder::label_class(std::string_view text, const Place& place) const {
  if (const auto found = places_.find(text)) return *found;
  const bool missing = is_missing(text);
  if (missing && column_.fill_category) return *places_.find(*column_.fill_category);
  place.refuse(
      column_.name,
      fmt::format(fmt::runtime(missing ? "missing value {}, but a label has to be one of {} categories"
                                       : "value {} is none of the {} categories of the label"),
                  in_quotes(text), column_.categories.size()),
      missing ? "; leave such rows out" : "; add it to them or to aliases");
}

std::int32_t CellEncoder::other_category() const {
  return static_cast<std::int32_t>(column_.categories.size() + (column_.missing_category ? 1 : 0));
}

EncodedCell CellEncoder::encoded(double value) const {
  if (!column_.cuts.empty()) {
    const auto above = std::upper_bound(column_.cuts.begin(), column_.cuts.end(), value);
    return EncodedCell({static_cast<std::int32_t>(above - column_.cuts.begin()), 1.0});
  }
  return at_place(scale_.place_of(value));
}

EncodedCell CellEncoder::at_place(double place) const {
  EncodedCell cell({0, place});
  if (!grid_.empty()) add_hats(cell, place);
  return cell;
}

// The hat of knot j has offset j, as its knot has in the grid. Between two knots one hat falls as the other
// rises, and their sum is 1; 1 - rising keeps both in [0, 1], and is 0 at the upper bound, to the last bit.
void CellEncoder::add_hats(EncodedCell& cell, double place) const {
  const std::size_t upper_bound = grid_.size() - 1;
  const auto above = std::upper_bound(grid_.begin() + 1, grid_.end() - 1, place);
  const auto right = static_cast<std::size_t>(above - grid_.begin());
  const std::size_t left = right - 1;
  const double rising = (place - grid_[left]) / (grid_[right] - grid_[left]);
  if (left > 0) cell.add({static_cast<std::int32_t>(left), 1 - rising});
  if (right < upper_bound) cell.add({static_cast<std::int32_t>(right), rising});
}

}  // namespace ration::data
