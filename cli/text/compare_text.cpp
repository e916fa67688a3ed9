#include "text/compare_text.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using compare::Cell;
using compare::Comparison;
using compare::Measure;
using compare::Results;

std::string shown(const Measure& measure, const Cell& cell) {
  if (cell.runs == 0 && !cell.refused.empty()) return "refused";
  return measure.show(cell, "+-");
}

// The time, which is no matter of what is measured, stands in the first table.
std::string table_of(const Results& results, const std::string& data, const std::string& model,
                     const Measure& measure, bool with_seconds) {
  const Comparison& comparison = results.comparison;
  std::vector<TextTable::Column> columns{{"method"}};
  for (const double epsilon : comparison.epsilons)
    columns.push_back({"eps " + show(epsilon), TextTable::Align::right});
  if (with_seconds) columns.push_back({"seconds", TextTable::Align::right});
  TextTable table(std::move(columns));
  for (const auto& method : comparison.methods) {
    std::vector<std::string> cells{method.name};
    double seconds = 0;
    for (const double epsilon : comparison.epsilons) {
      const Cell& cell = *results.find(data, model, method.name, epsilon);
      cells.push_back(shown(measure, cell));
      seconds = std::max(seconds, cell.seconds.mean);
    }
    if (with_seconds) cells.push_back(fmt::format("{:.3f}", seconds));
    table.add_row(std::move(cells));
  }
  return table.render();
}

std::string tables_of(const Results& results, const std::string& data, const std::string& model) {
  std::string text;
  for (const Measure& measure : compare::kTestMeasures) {
    if (!results.has(measure, data, model)) continue;
    text += fmt::format("\n{}, {}: {}\n{}", data, model, measure.title,
                        table_of(results, data, model, measure, text.empty()));
  }
  return text;
}

// The first of each method; results.md has all.
std::string refusals(const Results& results) {
  std::set<std::string> told;
  std::string text;
  for (const Cell& cell : results.cells) {
    if (cell.refused.empty() || !told.insert(cell.method).second) continue;
    text += fmt::format("refused: {}: {}\n", cell.method, cell.refused);
  }
  return text;
}

}  // namespace

std::string to_text(const Results& results, const std::string& folder,
                    const std::vector<std::string>& plots) {
  const Comparison& comparison = results.comparison;
  std::string text = compare::warning() + "\n\n";
  text += fmt::format("Mean +- standard error of {} folds x {} repeats, delta {}\n", comparison.folds,
                      comparison.repeats, show(*comparison.delta));
  for (const std::string& data : results.data_names()) {
    for (const auto& model : comparison.models) text += tables_of(results, data, model.name);
  }
  const std::string refused = refusals(results);
  if (!refused.empty()) text += "\n" + refused;
  return text + fmt::format("\n{}: results.md, results.csv, results.json, runs.csv, trace.csv{}\n", folder,
                            plots.empty() ? "" : fmt::format(" and {} plots", plots.size()));
}

}  // namespace ration::cli
