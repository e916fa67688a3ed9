#include "data/schema_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "data/complaint.h"
#include "data/delimited.h"
#include "data/number.h"
#include "data/sampled_column.h"
#include "ration/base/error.h"
#include "ration/data/schema.h"

namespace ration::data {
namespace {

constexpr const char* kWarning =
    "# DRAFT, READ WITHOUT PRIVACY.\n"
    "# The bounds and categories below were read from {} as they are. If those rows are private, this text\n"
    "# already reveals them, and no privacy guarantee covers it. Before training on private rows, replace "
    "every bound and\n"
    "# every list of categories by what is publicly known (a questionnaire, a law, common sense), and delete "
    "this comment.\n\n";

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
  std::vector<SampledColumn> columns;
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
  refuse(path, fmt::format("target {} is none of the columns: {}{}", in_quotes(target), present,
                           names_are_given
                               ? ""
                               : "; if the first line does not name them, write their names into a file, "
                                 "one per line, for 'ration schema --names FILE'"));
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
  std::string remarks;
  for (std::size_t i = 0; i < sample.names.size(); ++i) {
    SampledColumn::Draft draft = sample.columns[i].draft(sample.names[i], sample.names[i] == target);
    schema.columns.push_back(std::move(draft.column));
    remarks += draft.remarks;
  }
  require_sound(schema);
  return fmt::format(kWarning, in_quotes(path)) + remarks + to_toml(schema);
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
