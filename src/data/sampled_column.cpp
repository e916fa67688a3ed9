#include "data/sampled_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "data/complaint.h"
#include "data/missing_marks.h"
#include "data/number.h"

namespace ration::data {
namespace {

constexpr std::string_view kDigits = "0123456789";

// "id", "ID", "patient_id", "patientId"
bool is_called_id(std::string_view name) {
  constexpr std::size_t kLength = 2;
  if (name.size() < kLength) return false;
  const std::string_view end = name.substr(name.size() - kLength),
                         start = name.substr(0, name.size() - kLength);
  if (end == "Id" || end == "ID") return true;
  return end == "id" &&
         (start.empty() || start.ends_with('_') || start.ends_with('-') || start.ends_with('.'));
}

bool is_all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// Cuts digits off the front; their number, or 0 if what they say is above `most`.
std::size_t take_digits(std::string_view& text, int most) {
  const std::size_t length = std::min(text.find_first_not_of(kDigits), text.size());
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  const auto value = parse_number(digits);
  return value && *value >= 1 && *value <= most ? length : 0;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

constexpr int kMostDays = 31;
constexpr int kLastYear = 9999;

// A day or a month.
bool take_part(std::string_view& text) {
  const std::size_t length = take_digits(text, kMostDays);
  return length == 1 || length == 2;
}

bool take_year(std::string_view& text) {
  return take_digits(text, kLastYear) == 4;
}

// What stands before the time of day.
bool take_day(std::string_view& text) {
  const std::string_view all = text;
  if (take_year(text)) return take(text, '-') && take_part(text) && take(text, '-') && take_part(text);
  for (const char between : {'.', '/'}) {
    text = all;
    if (take_part(text) && take(text, between) && take_part(text) && take(text, between)) {
      return take_year(text);
    }
  }
  return false;
}

// "12:30", "09:05:00.5Z", "9:05 PM", "12:30+01:00"
bool is_time(std::string_view text) {
  const std::size_t hours = std::min(text.find_first_not_of(kDigits), text.size());
  return (hours == 1 || hours == 2) && text.substr(hours).starts_with(':') &&
         text.find_first_not_of("0123456789:.,+-ZAPMapm ") == std::string_view::npos;
}

std::string remark(const std::string& name, std::string_view what) {
  return fmt::format("# Column {} {}.\n", in_quotes(name), what);
}

}  // namespace

bool is_date(std::string_view text) {
  if (!take_day(text)) return false;
  return text.empty() || ((take(text, 'T') || take(text, ' ')) && is_time(text));
}

void SampledColumn::add(std::string_view text, std::set<std::string>& missing) {
  if (marks_missing(text)) {
    missing.emplace(text);
    has_missing_ = true;
    return;
  }
  ++values_;
  digits_ = digits_ && is_all_digits(text);
  leading_zero_ = leading_zero_ || (digits_ && text.size() > 1 && text.starts_with('0'));
  dates_ = dates_ && is_date(text);
  if (numeric_) note_number(text);
  if (texts_.size() <= kMostCategories && !texts_.emplace(text).second) repeats_ = true;
}

void SampledColumn::note_number(std::string_view text) {
  const auto value = parse_number(text);
  if (!value || !std::isfinite(*value)) {
    numeric_ = false;
    numbers_ = {};
    return;
  }
  whole_ = whole_ && *value == std::floor(*value);
  low_ = std::min(low_, *value);
  high_ = std::max(high_, *value);
  numbers_.push_back(*value);
}

// Whole numbers that do not repeat, and either leave few gaps or are called an id.
bool SampledColumn::numbers_rows(const std::string& name) const {
  if (!is_numeric() || !whole_ || repeats_ || texts_.size() <= kMostCategories) return false;
  const bool few_gaps = high_ - low_ < 2 * static_cast<double>(values_);
  return few_gaps || is_called_id(name);
}

// The lower one of two, so that whole numbers have a whole one.
double SampledColumn::median() const {
  std::vector<double> sorted = numbers_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

SampledColumn::Draft SampledColumn::draft(const std::string& name, bool is_target) const {
  Draft draft;
  draft.column.name = name;
  if (texts_.empty()) return draft;
  if (dates_ && !is_target) {
    draft.remarks = remark(
        name,
        "has dates, of which no model makes anything as they are: left out. Make numbers of them first");
    return draft;
  }
  if (numbers_rows(name) && !is_target) {
    draft.remarks = remark(name, "has a different whole number in each row, like an id: left out");
    return draft;
  }
  const bool numeric_classes = is_target && texts_.size() <= kMostNumericClasses;
  if (is_numeric() && !numeric_classes) return draft_number(std::move(draft), is_target);
  return draft_category(std::move(draft), is_target);
}

SampledColumn::Draft SampledColumn::draft_number(Draft draft, bool is_target) const {
  Column& column = draft.column;
  column.type = ColumnType::number;
  column.low = low_;
  column.high = high_ > low_ ? high_ : low_ + 1;  // a constant still needs low < high
  const double middle = median();
  if (low_ >= 0 && high_ >= kSkew * std::max(middle, 1.0) && !is_target) {
    column.scale = Scale::log;
    draft.remarks += remark(
        column.name, fmt::format("is skewed (none below 0, the largest at least {} times the median or 1): "
                                 "scale = \"log\"",
                                 show(kSkew)));
  }
  if (has_missing_) {
    column.fill = middle;
    draft.remarks += remark(column.name, "has missing numbers: fill is the median of the others");
  }
  return draft;
}

SampledColumn::Draft SampledColumn::draft_category(Draft draft, bool is_target) const {
  Column& column = draft.column;
  if (texts_.size() > kMostCategories) {
    draft.remarks =
        remark(column.name, fmt::format("has more than {} different texts: left out", kMostCategories));
    return draft;
  }
  column.type = ColumnType::category;
  column.categories.assign(texts_.begin(), texts_.end());
  column.missing_category = has_missing_ && !is_target;
  if (is_code())
    draft.remarks = remark(column.name, "has numbers with leading zeros, like codes: a category");
  return draft;
}

}  // namespace ration::data
