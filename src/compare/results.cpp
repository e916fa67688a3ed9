#include "compare/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

namespace ration::compare {
namespace {

using CellKey = std::tuple<std::string, std::string, std::string, std::optional<double>>;

CellKey key_of(const RunName& name) {
  return {name.data, name.model, name.method, name.epsilon};
}

Figure figure_of(const std::vector<const Run*>& runs, double Run::*member) {
  std::vector<double> values;
  for (const Run* run : runs) values.push_back(run->*member);
  return compare::figure_of(values);
}

Figure figure_of(const std::vector<const Run*>& runs, std::optional<double> Run::*member) {
  std::vector<double> values;
  for (const Run* run : runs) {
    if (run->*member) values.push_back(*(run->*member));
  }
  return compare::figure_of(values);
}

Cell cell_of(const std::vector<const Run*>& all) {
  std::vector<const Run*> runs;
  std::copy_if(all.begin(), all.end(), std::back_inserter(runs),
               [](const Run* run) { return run->refused.empty(); });
  Cell cell;
  cell.runs = runs.size();
  if (runs.empty()) {
    if (!all.empty()) cell.refused = all.front()->refused;
    return cell;
  }
  cell.accuracy = figure_of(runs, &Run::accuracy);
  cell.auc = figure_of(runs, &Run::auc);
  cell.log_loss = figure_of(runs, &Run::log_loss);
  cell.r2 = figure_of(runs, &Run::r2);
  cell.mean_absolute_error = figure_of(runs, &Run::mean_absolute_error);
  cell.loss = figure_of(runs, &Run::loss);
  cell.objective = figure_of(runs, &Run::objective);
  cell.seconds = figure_of(runs, &Run::seconds);
  for (const Run* run : runs) cell.steps += static_cast<double>(run->steps);
  cell.steps /= static_cast<double>(runs.size());
  const Run& first = *runs.front();
  cell.noise_multiplier = first.noise_multiplier;
  cell.accountant = first.accountant;
  cell.relation = first.relation;
  for (const Run* run : runs) cell.epsilon_spent = std::max(cell.epsilon_spent, run->epsilon_spent);
  return cell;
}

// The errors of different data sets are independent. Nothing unless all of them have the figure.
Figure mean_of(const std::vector<const Cell*>& cells, Figure Cell::*figure) {
  const auto is_missing = [&](const Cell* cell) { return (cell->*figure).runs == 0; };
  if (std::any_of(cells.begin(), cells.end(), is_missing)) return {};
  const auto count = static_cast<double>(cells.size());
  Figure mean{.mean = 0, .error = 0};
  for (const Cell* cell : cells) {
    const Figure& one = cell->*figure;
    mean.mean += one.mean / count;
    mean.runs += one.runs;
    mean.error =
        mean.error && one.error ? std::optional(std::hypot(*mean.error, *one.error / count)) : std::nullopt;
  }
  return mean;
}

Cell mean_of(const std::vector<const Cell*>& cells) {
  Cell mean;
  if (std::any_of(cells.begin(), cells.end(), [](const Cell* cell) { return cell->runs == 0; })) return mean;
  for (const auto figure : {&Cell::accuracy, &Cell::auc, &Cell::log_loss, &Cell::r2,
                            &Cell::mean_absolute_error, &Cell::loss, &Cell::objective, &Cell::seconds})
    mean.*figure = mean_of(cells, figure);
  for (const Cell* cell : cells) {
    mean.runs += cell->runs;
    mean.steps += cell->steps / static_cast<double>(cells.size());
  }
  return mean;
}

void add_means(Results& results) {
  const Comparison& comparison = results.comparison;
  for (const ModelChoice& model : comparison.models) {
    for (const MethodChoice& method : comparison.methods) {
      for (const double epsilon : comparison.epsilons) {
        std::vector<const Cell*> cells;
        for (const DataSet& data : comparison.data)
          cells.push_back(results.find(data.name, model.name, method.name, epsilon));
        Cell mean = mean_of(cells);
        mean.data = kMeanOfData;
        mean.model = model.name;
        mean.method = method.name;
        mean.epsilon = epsilon;
        mean.is_private = method.is_private;
        results.cells.push_back(std::move(mean));
      }
    }
  }
}

}  // namespace

Figure figure_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (values.empty()) return {};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() == 1) return {.mean = mean, .runs = 1};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .error = std::sqrt(squares / (count - 1) / count), .runs = values.size()};
}

std::string Measure::show(const Cell& cell, std::string_view plus_minus) const {
  const Figure& value = cell.*figure;
  if (value.runs == 0) return "-";
  const std::string mean = fmt::format("{:.{}f}", unit * value.mean, digits);
  return value.error ? fmt::format("{} {} {:.{}f}", mean, plus_minus, unit * *value.error, digits) : mean;
}

bool Results::has(const Measure& measure, const std::string& data, const std::string& model) const {
  return std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
    return cell.data == data && cell.model == model && (cell.*measure.figure).runs > 0;
  });
}

std::vector<std::string> Results::data_names() const {
  std::vector<std::string> names;
  for (const DataSet& data : comparison.data) names.push_back(data.name);
  if (names.size() > 1) names.push_back(kMeanOfData);
  return names;
}

const Cell* Results::find(const std::string& data, const std::string& model, const std::string& method,
                          double epsilon) const {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) {
    return cell.data == data && cell.model == model && cell.method == method && cell.epsilon == epsilon;
  });
  return found == cells.end() ? nullptr : &*found;
}

Results results_of(const Comparison& comparison, const std::vector<Run>& runs, std::vector<Trace> traces) {
  std::map<CellKey, std::vector<const Run*>> by_cell;
  for (const Run& run : runs) by_cell[key_of(run.name)].push_back(&run);
  Results out{.comparison = comparison,
              .jobs = jobs_of(comparison).size(),
              .jobs_done = runs.size(),
              .cells = {},
              .traces = std::move(traces)};
  for (const DataSet& data : comparison.data) {
    for (const ModelChoice& model : comparison.models) {
      for (const MethodChoice& method : comparison.methods) {
        for (const double epsilon : comparison.epsilons) {
          const auto own = method.is_private ? std::optional(epsilon) : std::nullopt;
          Cell cell = cell_of(by_cell[{data.name, model.name, method.name, own}]);
          cell.data = data.name;
          cell.model = model.name;
          cell.method = method.name;
          cell.epsilon = epsilon;
          cell.is_private = method.is_private;
          out.cells.push_back(std::move(cell));
        }
      }
    }
  }
  if (comparison.data.size() > 1) add_means(out);
  return out;
}

}  // namespace ration::compare
