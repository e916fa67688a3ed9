#include "data/schema_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/check.h"
#include "data/complaint.h"
#include "data/delimited.h"
#include "data/missing_marks.h"
#include "data/number.h"
#include "data/place.h"
#include "ration/base/error.h"
#include "ration/data/schema.h"

namespace ration::data {
namespace {

constexpr std::size_t kMostCategories = 200;
constexpr std::size_t kMostNumericClasses = 20;

constexpr const char* kWarning =
    "# DRAFT, READ WITHOUT PRIVACY.\n"
    "# The bounds and categories below were read from {} as they are. If those rows are private, this text\n"
    "# already reveals them, and no privacy guarantee covers it. Before training on private rows, replace "
    "every bound and\n"
    "# every list of categories by what is publicly known (a questionnaire, a law, common sense), and delete "
    "this comment.\n\n";

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

// What one column has shown so far.
class Seen {
 public:
  void add(std::string_view text, std::set<std::string>& missing) {
    if (marks_missing(text)) {
      missing.emplace(text);
      has_missing_ = true;
      return;
    }
    note_number(text);
    ++values_;
    if (texts_.size() <= kMostCategories && !texts_.emplace(text).second) repeats_ = true;
  }

  Column describe(const std::string& name, bool is_target) const {
    Column column;
    column.name = name;
    if (numbers_rows(name) && !is_target) return column;
    const bool numeric = numeric_ && !texts_.empty();
    const bool numeric_classes = is_target && texts_.size() <= kMostNumericClasses;
    if (numeric && !numeric_classes) return describe_number(std::move(column));
    if (texts_.size() > kMostCategories || texts_.empty()) return column;
    column.type = ColumnType::category;
    column.categories.assign(texts_.begin(), texts_.end());
    column.missing_category = has_missing_ && !is_target;
    return column;
  }

  bool has_too_many() const { return !numeric_ && texts_.size() > kMostCategories; }

  // Whole numbers that do not repeat, and either leave few gaps or are called an id: they name rows.
  bool numbers_rows(const std::string& name) const {
    if (!numeric_ || !whole_ || repeats_ || texts_.size() <= kMostCategories) return false;
    const bool few_gaps = high_ - low_ < 2 * static_cast<double>(values_);
    return few_gaps || is_called_id(name);
  }

 private:
  void note_number(std::string_view text) {
    const auto value = parse_number(text);
    if (!value || !std::isfinite(*value)) {
      numeric_ = false;
      return;
    }
    whole_ = whole_ && *value == std::floor(*value);
    low_ = std::min(low_, *value);
    high_ = std::max(high_, *value);
  }

  Column describe_number(Column column) const {
    column.type = ColumnType::number;
    column.low = low_;
    column.high = high_ > low_ ? high_ : low_ + 1;  // a constant still needs low < high
    if (has_missing_) column.fill = low_;
    return column;
  }

  bool numeric_ = true;
  bool whole_ = true;
  bool repeats_ = false;  // among the first kMostCategories different ones
  std::uint64_t values_ = 0;
  bool has_missing_ = false;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  std::set<std::string> texts_;
};

// 0 if the first line cannot be split so: "a";"b" is no line of fields between commas.
std::size_t fields_of_first_line(const std::string& path, char delimiter) {
  DelimitedReader reader(path,
                         {.delimiter = delimiter, .trim = true, .skip_lines = 0, .skip_lines_starting = {}});
  try {
    if (reader.next()) return reader.fields().size();
  } catch (const InputError&) {
    return 0;
  }
  refuse(path, "expected rows, got none");
}

// The candidate that splits the first line into most fields.
char guess_delimiter(const std::string& path) {
  char best = ',';
  std::size_t most = 1;
  for (const char candidate : {',', ';', '\t', ' '}) {
    // A blank is the last resort: "a, b" is separated by the comma.
    const std::size_t fields = fields_of_first_line(path, candidate);
    if (fields > most && (candidate != ' ' || most == 1)) {
      most = fields;
      best = candidate;
    }
  }
  return best;
}

std::vector<std::string> first_line(const std::string& path) {
  DelimitedReader reader(
      path, {.delimiter = guess_delimiter(path), .trim = true, .skip_lines = 0, .skip_lines_starting = {}});
  if (!reader.next()) refuse(path, "expected rows, got none");
  return {reader.fields().begin(), reader.fields().end()};
}

struct Sample {
  std::vector<std::string> names;
  std::vector<Seen> columns;
  std::set<std::string> missing;
  std::uint64_t rows = 0;
};

void add_record(Sample& sample, const DelimitedReader& reader) {
  if (reader.fields().size() != sample.names.size()) {
    refuse(reader.path(), reader.line(),
           fmt::format("expected {} fields, got {}", sample.names.size(), reader.fields().size()));
  }
  for (std::size_t i = 0; i < sample.columns.size(); ++i)
    sample.columns[i].add(reader.fields()[i], sample.missing);
  ++sample.rows;
}

Sample read_sample(const std::string& path, char delimiter, const std::vector<std::string>& names) {
  DelimitedReader reader(path,
                         {.delimiter = delimiter, .trim = true, .skip_lines = 0, .skip_lines_starting = {}});
  Sample sample{.names = names, .columns = {}, .missing = {}};
  if (names.empty() && reader.next()) sample.names.assign(reader.fields().begin(), reader.fields().end());
  sample.columns.resize(sample.names.size());
  while (reader.next()) add_record(sample, reader);
  if (sample.rows == 0) refuse(path, "expected rows, got none");
  return sample;
}

void require_target(const Sample& sample, const std::string& target, const std::string& path,
                    bool names_are_given) {
  if (std::find(sample.names.begin(), sample.names.end(), target) != sample.names.end()) return;
  std::string present;
  for (const std::string& name : sample.names) present += (present.empty() ? "" : ", ") + name;
  refuse(path, fmt::format(
                   "target {} is none of the columns: {}{}", in_quotes(target), present,
                   names_are_given ? "" : "; if the first line does not name them, say how they are called"));
}

std::string remarks(const Sample& sample, const std::string& target) {
  std::string out;
  for (std::size_t i = 0; i < sample.names.size(); ++i) {
    const std::string name = in_quotes(sample.names[i]);
    if (sample.columns[i].has_too_many()) {
      out += fmt::format("# Column {} has more than {} different texts: left out.\n", name, kMostCategories);
    } else if (sample.columns[i].numbers_rows(sample.names[i]) && sample.names[i] != target) {
      out +=
          fmt::format("# Column {} has a different whole number in each row, like an id: left out.\n", name);
    }
  }
  return out;
}

}  // namespace

bool first_line_names_columns(const std::string& path) {
  const std::vector<std::string> fields = first_line(path);
  return !std::all_of(fields.begin(), fields.end(),
                      [](const std::string& field) { return parse_number(field); });
}

std::vector<std::string> column_names(const std::string& path) {
  std::vector<std::string> names = first_line(path);
  if (first_line_names_columns(path)) return names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("c{}", i);
  return names;
}

std::string draft_schema(const std::string& path, const std::string& target,
                         const std::vector<std::string>& names) {
  Schema schema;
  schema.file = path;
  schema.label = target;
  schema.header = names.empty();
  schema.delimiter = guess_delimiter(path);
  const Sample sample = read_sample(path, schema.delimiter, names);
  require_target(sample, target, path, !names.empty());
  schema.missing.assign(sample.missing.begin(), sample.missing.end());
  for (std::size_t i = 0; i < sample.names.size(); ++i) {
    schema.columns.push_back(sample.columns[i].describe(sample.names[i], sample.names[i] == target));
  }
  require_sound(schema);
  return fmt::format(kWarning, in_quotes(path)) + remarks(sample, target) + to_toml(schema);
}

std::vector<std::string> read_names(const std::string& path) {
  std::vector<std::string> names;
  LineReader lines(path);
  while (lines.next()) {
    std::string_view name = lines.text();
    while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
  }
  if (names.empty()) refuse(path, "expected one column name per line, got none");
  return names;
}

}  // namespace ration::data
