#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "base/atomic_file.h"
#include "plot/svg_plot.h"

namespace ration::e3 {
namespace {

using plot::Chart;
using plot::ChartGrid;
using plot::Line;
using Read = std::function<double(const Point&)>;

struct Kind {
  Trainer trainer;
  bool averaged;
};

constexpr Kind kAll[] = {{Trainer::line_search, false}, {Trainer::sgd, false}, {Trainer::adam, false},
                         {Trainer::line_search, true},  {Trainer::sgd, true},  {Trainer::adam, true}};

std::string name_of(const Kind& kind) {
  return std::string(to_string(kind.trainer)) + (kind.averaged ? ", averaged" : "");
}

std::vector<const Trace*> chosen(const std::vector<Trace>& traces, const std::string& task,
                                 const Kind& kind) {
  std::vector<const Trace*> found;
  for (const Trace& trace : traces) {
    if (trace.task == task && trace.trainer == kind.trainer && trace.averaged == kind.averaged)
      found.push_back(&trace);
  }
  return found;
}

// Those that all three have run.
std::vector<std::string> tasks_of(const std::vector<Trace>& traces) {
  std::vector<std::string> names;
  for (const Trace& trace : traces) {
    const bool complete = std::all_of(std::begin(kAll), std::end(kAll), [&](const Kind& kind) {
      return !chosen(traces, trace.task, kind).empty();
    });
    const bool known = std::find(names.begin(), names.end(), trace.task) != names.end();
    if (complete && !known) names.push_back(trace.task);
  }
  return names;
}

// Over the repeats, point by point.
std::vector<Point> mean_of(const std::vector<const Trace*>& repeats) {
  std::vector<Point> mean = repeats.front()->points;
  const auto count = static_cast<double>(repeats.size());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    mean[i].accuracy = mean[i].loss = mean[i].step_size = 0;
    for (const Trace* one : repeats) {
      mean[i].accuracy += one->points.at(i).accuracy / count;
      mean[i].loss += one->points.at(i).loss / count;
      mean[i].step_size += one->points.at(i).step_size / count;
    }
  }
  return mean;
}

std::string csv(const std::vector<Trace>& traces) {
  std::string text = "task,method,averaged,repeat,step,epsilon,accuracy,loss,step_size\n";
  for (const Trace& trace : traces) {
    for (const Point& point : trace.points) {
      text += fmt::format("\"{}\",{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4g}\n", trace.task,
                          to_string(trace.trainer), trace.averaged ? 1 : 0, trace.repeat, point.step,
                          point.epsilon, point.accuracy, point.loss, point.step_size);
    }
  }
  return text;
}

// The first look at which the mean accuracy is at least `accuracy` and stays so at the next one.
std::string first_reach(const std::vector<Point>& points, double accuracy) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool stays = i + 1 == points.size() || points[i + 1].accuracy >= accuracy;
    if (points[i].accuracy >= accuracy && stays) return std::to_string(points[i].step);
  }
  return "never";
}

std::string tables(const std::vector<Trace>& traces) {
  std::string text =
      "| task | steps | method | accuracy at the end | best accuracy | loss at the end | epsilon | reaches "
      "DP-SGD's final accuracy (averaged, if it is) at step |\n|---|---|---|---|---|---|---|---|\n";
  for (const std::string& task : tasks_of(traces)) {
    for (const Kind& kind : kAll) {
      const double goal = mean_of(chosen(traces, task, {Trainer::sgd, kind.averaged})).back().accuracy;
      const std::vector<Point> mean = mean_of(chosen(traces, task, kind));
      double best = 0;
      for (const Point& point : mean) best = std::max(best, point.accuracy);
      text += fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {:.3f} | {:.2f} | {} |\n", task,
                          mean.back().step, name_of(kind), 100 * mean.back().accuracy, 100 * best,
                          mean.back().loss, mean.back().epsilon, first_reach(mean, goal));
    }
  }
  return text;
}

Line line_of(const std::vector<Trace>& traces, const std::string& task, const Kind& kind, const Read& read) {
  Line line{.label = name_of(kind), .x = {}, .y = {}, .dashed = kind.averaged};
  line.look = static_cast<std::size_t>(kind.trainer);
  for (const Point& point : mean_of(chosen(traces, task, kind))) {
    line.x.push_back(static_cast<double>(point.step));
    line.y.push_back(read(point));
  }
  return line;
}

std::string grid(const std::vector<Trace>& traces, const std::string& title, const std::string& label,
                 const Read& read, bool with_averages) {
  const std::size_t repeats = chosen(traces, tasks_of(traces).front(), {Trainer::adam, true}).size();
  ChartGrid grid{.title = title,
                 .subtitle = fmt::format(
                     "test images, {}, rate 1/200, noise 1, clipped to 3",
                     repeats == 1 ? std::string("one run") : fmt::format("mean of {} runs", repeats)),
                 .columns = 3,
                 .charts = {}};
  for (const std::string& task : tasks_of(traces)) {
    Chart chart{.title = task, .x_label = "step", .y_label = label, .y_scale = plot::AxisScale::close};
    for (const Kind& kind : kAll) {
      if (with_averages || !kind.averaged) chart.lines.push_back(line_of(traces, task, kind, read));
    }
    grid.charts.push_back(std::move(chart));
  }
  return to_svg(grid);
}

// A line of traces.csv; nothing if it is the first.
std::optional<std::pair<Trace, Point>> read_line(const std::string& line) {
  const std::size_t end = line.find('"', 1);
  if (!line.starts_with('"') || end == std::string::npos) return std::nullopt;
  std::array<char, 16> method{};
  int averaged = 0;
  Trace trace{.task = line.substr(1, end - 1), .points = {}};
  Point point;
  const int read =
      std::sscanf(line.c_str() + end + 1, ",%15[^,],%d,%zu,%ld,%lf,%lf,%lf,%lf", method.data(), &averaged,
                  &trace.repeat, &point.step, &point.epsilon, &point.accuracy, &point.loss, &point.step_size);
  if (read != 8) throw std::runtime_error("traces.csv: not a line of ours: " + line);
  trace.averaged = averaged == 1;
  for (const Kind& kind : kAll) {
    if (to_string(kind.trainer) == method.data()) trace.trainer = kind.trainer;
  }
  return std::pair{trace, point};
}

}  // namespace

std::vector<Trace> read_traces(const std::string& folder) {
  std::vector<Trace> traces;
  if (!std::filesystem::exists(folder + "/traces.csv")) return traces;
  std::istringstream lines(read_file(folder + "/traces.csv"));
  for (std::string line; std::getline(lines, line);) {
    const auto read = read_line(line);
    if (!read) continue;
    if (traces.empty() || !same_run(traces.back(), read->first) ||
        traces.back().averaged != read->first.averaged)
      traces.push_back(read->first);
    traces.back().points.push_back(read->second);
  }
  return traces;
}

bool same_run(const Trace& a, const Trace& b) {
  return a.task == b.task && a.trainer == b.trainer && a.repeat == b.repeat;
}

void write_report(const std::string& folder, const std::vector<Trace>& traces) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder + "/" + name, text);
  };
  write("traces.csv", csv(traces));
  if (tasks_of(traces).empty()) return;
  write("tables.md", tables(traces));
  write("accuracy.svg",
        grid(
            traces, "Accuracy by step", "accuracy", [](const Point& p) { return p.accuracy; }, true));
  write("loss.svg", grid(
                        traces, "Loss by step", "mean loss", [](const Point& p) { return p.loss; }, true));
  write("step-size.svg",
        grid(
            traces, "Step size by step", "step size", [](const Point& p) { return p.step_size; }, false));
  write("epsilon.svg",
        grid(
            traces, "Epsilon by step", "epsilon", [](const Point& p) { return p.epsilon; }, false));
}

}  // namespace ration::e3
