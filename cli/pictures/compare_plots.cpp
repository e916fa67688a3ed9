#include "pictures/compare_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/atomic_file.h"
#include "base/check.h"
#include "plot/png.h"

namespace ration::cli {
namespace {

using compare::Cell;
using compare::Figure;
using compare::Measure;
using compare::MethodChoice;
using compare::Results;
using compare::Trace;
using compare::TracePoint;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

plot::Line empty_line(const MethodChoice& method, std::size_t look) {
  plot::Line line;
  line.label = method.name;
  line.reference = !method.is_private;
  if (method.is_private) line.look = look;
  return line;
}

// A method against epsilon.
plot::Line line_of(const Results& results, const std::string& data, const std::string& model,
                   std::size_t method, const Measure& measure) {
  const MethodChoice& choice = results.comparison.methods[method];
  plot::Line line = empty_line(choice, method);
  std::vector<double> epsilons = results.comparison.epsilons;
  std::sort(epsilons.begin(), epsilons.end());
  for (const double epsilon : epsilons) {
    const Figure& figure = results.find(data, model, choice.name, epsilon)->*measure.figure;
    line.x.push_back(epsilon);
    line.y.push_back(figure.runs > 0 ? measure.unit * figure.mean : kNothing);
    line.error.push_back(measure.unit * figure.error.value_or(kNothing));
  }
  if (line.reference) line.error.clear();
  return line;
}

std::string what(const Results& results) {
  const auto& comparison = results.comparison;
  return fmt::format("mean and standard error of {} folds x {} repeats, delta {}; dotted: without privacy",
                     comparison.folds, comparison.repeats, show(*comparison.delta));
}

double largest_over_smallest(const std::vector<plot::Line>& lines) {
  double smallest = INFINITY;
  double largest = 0;
  for (const plot::Line& line : lines) {
    for (const double y : line.y) {
      if (!std::isfinite(y) || y <= 0) continue;
      smallest = std::min(smallest, y);
      largest = std::max(largest, y);
    }
  }
  return largest > 0 ? largest / smallest : 1;
}

// --- traces

struct Quantity {
  const char* title;
  double TracePoint::*value;
  double unit;
  bool may_be_logarithmic;
};

constexpr Quantity kQuantities[] = {{"budget spent, percent", &TracePoint::budget_share, 100, false},
                                    {"step size", &TracePoint::learning_rate, 1, true},
                                    {"noise of the mean gradient", &TracePoint::noise, 1, true}};

const Trace* find_trace(const Results& results, const std::string& data, const std::string& model,
                        const std::string& method, double epsilon) {
  for (const Trace& trace : results.traces) {
    if (trace.name.data == data && trace.name.model == model && trace.name.method == method &&
        trace.name.epsilon == epsilon)
      return &trace;
  }
  return nullptr;
}

plot::Line way_of(const Trace* trace, const MethodChoice& method, std::size_t look,
                  const Quantity& quantity) {
  plot::Line line = empty_line(method, look);
  if (trace == nullptr) return line;
  for (const TracePoint& point : trace->points) {
    line.x.push_back(static_cast<double>(point.step));
    line.y.push_back(quantity.unit * point.*quantity.value);
  }
  return line;
}

// Runs of very different length share a logarithmic axis.
bool lengths_differ(const std::vector<plot::Line>& lines) {
  double shortest = INFINITY;
  double longest = 0;
  for (const plot::Line& line : lines) {
    if (line.x.empty()) continue;
    shortest = std::min(shortest, line.x.back());
    longest = std::max(longest, line.x.back());
  }
  return longest > 8 * shortest;
}

plot::Chart trace_chart(const Results& results, const std::string& data, const std::string& model,
                        double epsilon, const Quantity& quantity) {
  plot::Chart chart{.title = fmt::format("{}, epsilon {}", quantity.title, show(epsilon)),
                    .x_label = "iteration",
                    .lines = {},
                    .markers = plot::Markers::last_point};
  const auto& methods = results.comparison.methods;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (!methods[i].is_private) continue;
    const Trace* const trace = find_trace(results, data, model, methods[i].name, epsilon);
    chart.lines.push_back(way_of(trace, methods[i], i, quantity));
  }
  if (lengths_differ(chart.lines)) chart.x_scale = plot::AxisScale::close_logarithmic;
  if (quantity.may_be_logarithmic)
    chart.y_scale =
        largest_over_smallest(chart.lines) > 10 ? plot::AxisScale::close_logarithmic : plot::AxisScale::close;
  return chart;
}

std::vector<std::string> write_picture(const std::string& svg, const std::string& folder,
                                       const std::string& name, double dots) {
  std::vector<std::string> names{name + ".svg"};
  const std::filesystem::path path(folder);
  write_file_atomically((path / names.front()).string(), svg);
  if (!plot::can_draw_png()) return names;
  names.push_back(name + ".png");
  write_file_atomically((path / names.back()).string(), plot::svg_to_png(svg, dots));
  return names;
}

}  // namespace

plot::Chart measure_chart(const Results& results, const std::string& data, const std::string& model,
                          const Measure& measure) {
  plot::Chart chart{.title = fmt::format("{}: {}, {}", measure.title, data, model),
                    .subtitle = what(results),
                    .x_label = "epsilon",
                    .y_label = measure.axis,
                    .lines = {},
                    .x_scale = plot::AxisScale::close_logarithmic,
                    .y_scale = plot::AxisScale::close,
                    .x_ticks = results.comparison.epsilons,
                    .markers = plot::Markers::every_point};
  for (std::size_t i = 0; i < results.comparison.methods.size(); ++i) {
    plot::Line line = line_of(results, data, model, i, measure);
    const auto has_value = [](double y) { return std::isfinite(y); };
    if (std::any_of(line.y.begin(), line.y.end(), has_value)) chart.lines.push_back(std::move(line));
  }
  if (measure.better < 0 && largest_over_smallest(chart.lines) > 6)
    chart.y_scale = plot::AxisScale::close_logarithmic;
  return chart;
}

plot::ChartGrid trace_charts(const Results& results, const std::string& data, const std::string& model) {
  plot::ChartGrid grid{.title = fmt::format("Along a run: {}, {}", data, model),
                       .subtitle = "the first fold of the first repeat; a marker where a run ends",
                       .columns = results.comparison.epsilons.size(),
                       .charts = {}};
  for (const Quantity& quantity : kQuantities) {
    for (const double epsilon : results.comparison.epsilons)
      grid.charts.push_back(trace_chart(results, data, model, epsilon, quantity));
  }
  return grid;
}

std::vector<std::string> write_plots(const Results& results, const std::string& folder) {
  std::vector<std::string> written;
  const auto write = [&](const std::string& svg, const std::string& name, double dots) {
    const auto names = write_picture(svg, folder, name, dots);
    written.insert(written.end(), names.begin(), names.end());
  };
  for (const std::string& data : results.data_names()) {
    for (const auto& model : results.comparison.models) {
      const std::string ending = fmt::format("-{}-{}", data, model.name);
      const auto write_chart = [&](const Measure& measure) {
        write(plot::to_svg(measure_chart(results, data, model.name, measure)), measure.key + ending, 2);
      };
      for (const Measure& measure : compare::kTestMeasures) {
        if (results.has(measure, data, model.name)) write_chart(measure);
      }
      write_chart(compare::kObjective);
      if (data == compare::kMeanOfData) continue;
      write(plot::to_svg(trace_charts(results, data, model.name)), "trace" + ending, 1.5);
    }
  }
  return written;
}

}  // namespace ration::cli
