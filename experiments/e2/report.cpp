#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.h"
#include "paired.h"
#include "plot/svg_plot.h"

namespace ration::e2 {
namespace {

using nlohmann::ordered_json;
using plot::Chart;
using plot::Line;

const std::vector<std::string> kOrder = {"uni", "dyn", "exp", "mom", "dyn-r", "exp-r"};

std::vector<std::string> names_of(const Cell& cell) {
  std::vector<std::string> names;
  for (const std::string& name : kOrder) {
    if (cell.schedules.contains(name)) names.push_back(name);
  }
  return names;
}

std::string in_words(Task task) {
  if (task == Task::squared) return "squared loss";
  if (task == Task::squared_momentum) return "squared loss with momentum";
  return task == Task::logistic ? "logistic loss" : "net with momentum";
}

std::vector<double> less(std::vector<double> losses, double smallest) {
  for (double& loss : losses) loss -= smallest;
  return losses;
}

const Measured& uniform(const Cell& cell, bool longest) {
  const ScheduleResult& result = cell.schedules.at("uni");
  return longest ? result.longest : result.best;
}

// --- tables of numbers

// Each schedule at its best T.
std::string losses_csv(const std::vector<Cell>& cells) {
  std::string text = "task,scale,schedule,steps,seed,loss\n";
  for (const Cell& cell : cells) {
    for (const std::string& name : names_of(cell)) {
      const Measured& measured = cell.schedules.at(name).best;
      for (std::size_t i = 0; i < measured.losses.size(); ++i) {
        text += fmt::format("\"{}\",{},{},{},{},{:.6f}\n", to_string(cell.task), cell.scale, name,
                            measured.steps, i + 1, measured.losses[i]);
      }
    }
  }
  return text;
}

std::string search_csv(const std::vector<Cell>& cells) {
  std::string text = "task,scale,schedule,steps,mean_loss,standard_error\n";
  for (const Cell& cell : cells) {
    for (const std::string& name : names_of(cell)) {
      for (const auto& [steps, losses] : cell.schedules.at(name).searched) {
        text += fmt::format("\"{}\",{},{},{},{:.6f},{:.6f}\n", to_string(cell.task), cell.scale, name, steps,
                            mean(losses), standard_error(losses));
      }
    }
  }
  return text;
}

std::string influence_csv(const std::vector<Cell>& cells) {
  std::string text = "task,scale,estimate,step,influence\n";
  for (const Cell& cell : cells) {
    for (const auto& [how, influence] : cell.influence) {
      for (std::size_t t = 0; t < influence.size(); ++t) {
        text += fmt::format("\"{}\",{},{},{},{:.6g}\n", to_string(cell.task), cell.scale, how, t + 1,
                            influence[t]);
      }
    }
  }
  return text;
}

// --- what the figures say

ordered_json to_json(const RelativeDifference& difference) {
  return {{"relative", difference.value}, {"low", difference.low}, {"high", difference.high}};
}

ordered_json to_json(const Cell& cell, const Measured& measured, const Measured& base) {
  ordered_json json{{"steps", measured.steps},
                    {"loss", mean(measured.losses)},
                    {"standard_error", standard_error(measured.losses)},
                    {"repeats", measured.losses.size()}};
  if (&measured == &base) return json;
  json["against_uniform"] = to_json(relative_difference(measured.losses, base.losses));
  if (cell.smallest_loss > 0) {
    json["excess_against_uniform"] = to_json(relative_difference(less(measured.losses, cell.smallest_loss),
                                                                 less(base.losses, cell.smallest_loss)));
  }
  return json;
}

std::string summary_json(const std::vector<Cell>& cells) {
  ordered_json json = ordered_json::array();
  for (const Cell& cell : cells) {
    ordered_json one{{"task", to_string(cell.task)}, {"scale", cell.scale}};
    if (cell.smallest_loss > 0) one["smallest_loss"] = cell.smallest_loss;
    for (const auto& [how, gamma] : cell.gamma) one["gamma"][how] = gamma;
    for (const std::string& name : names_of(cell)) {
      const ScheduleResult& result = cell.schedules.at(name);
      one["schedules"][name] = {{"best", to_json(cell, result.best, uniform(cell, false))},
                                {"longest", to_json(cell, result.longest, uniform(cell, true))}};
    }
    json.push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

std::string show(const RelativeDifference& difference) {
  return fmt::format("{:+.1f} ({:+.1f}, {:+.1f})", 100 * difference.value, 100 * difference.low,
                     100 * difference.high);
}

std::string row(const Cell& cell, const std::string& name, bool longest) {
  const ScheduleResult& result = cell.schedules.at(name);
  const Measured& measured = longest ? result.longest : result.best;
  const Measured& base = uniform(cell, longest);
  std::string text = fmt::format("| {} | {} | {} | {:.4f} ± {:.4f} |", cell.scale, name, measured.steps,
                                 mean(measured.losses), standard_error(measured.losses));
  if (name == "uni") return text + " | |\n";
  text += fmt::format(" {} |", show(relative_difference(measured.losses, base.losses)));
  if (cell.smallest_loss <= 0) return text + " |\n";
  return text + fmt::format(" {} |\n", show(relative_difference(less(measured.losses, cell.smallest_loss),
                                                                less(base.losses, cell.smallest_loss))));
}

std::string table(const std::vector<const Cell*>& cells, bool longest) {
  std::string text =
      "| scale | schedule | T | final loss | against uni, % | excess against uni's, % "
      "|\n|---|---|---|---|---|---|\n";
  for (const Cell* const cell : cells) {
    for (const std::string& name : names_of(*cell)) text += row(*cell, name, longest);
  }
  return text;
}

// The mean loss of every schedule at every T that was searched.
std::string steps_table(const Cell& cell) {
  std::string text = "| T |";
  std::string rule = "|---|";
  for (const std::string& name : names_of(cell)) text += fmt::format(" {} |", name), rule += "---|";
  text += "\n" + rule + "\n";
  for (const auto& [steps, ignored] : cell.schedules.at("uni").searched) {
    text += fmt::format("| {} |", steps);
    for (const std::string& name : names_of(cell)) {
      text += fmt::format(" {:.4f} |", mean(cell.schedules.at(name).searched.at(steps)));
    }
    text += "\n";
  }
  return text;
}

std::vector<const Cell*> of_task(const std::vector<Cell>& cells, Task task) {
  std::vector<const Cell*> out;
  for (const Cell& cell : cells) {
    if (cell.task == task) out.push_back(&cell);
  }
  std::sort(out.begin(), out.end(), [](const Cell* a, const Cell* b) { return a->scale < b->scale; });
  return out;
}

std::string tables_md(const std::vector<Cell>& cells) {
  std::string text = "# E2 in numbers\n\nBy `make e2`. What it means: [e2.md](../e2.md).\n";
  for (const Task task : {Task::squared, Task::squared_momentum, Task::logistic, Task::net}) {
    const auto chosen = of_task(cells, task);
    if (chosen.empty()) continue;
    text += fmt::format("\n## {}: each schedule at the T that suits it best\n\n{}", to_string(task),
                        table(chosen, false));
    text += fmt::format("\n## {}: all at the largest T\n\n{}", to_string(task), table(chosen, true));
  }
  for (const Cell& cell : cells) {
    if (cell.scale != 10) continue;
    text += fmt::format("\n## {}, data scale 10: mean final loss by T and schedule\n\n{}",
                        to_string(cell.task), steps_table(cell));
  }
  return text;
}

// --- pictures

std::vector<double> steps_from_one(std::size_t count) {
  std::vector<double> x(count);
  for (std::size_t t = 0; t < count; ++t) x[t] = static_cast<double>(t + 1);
  return x;
}

// Over its own largest value, so that curves of different scales can be compared.
Line curve(const Cell& cell, const std::string& how) {
  std::vector<double> y = cell.influence.at(how);
  const double largest = *std::max_element(y.begin(), y.end());
  for (double& value : y) value /= largest;
  return {.label = fmt::format("data scale {}", cell.scale), .x = steps_from_one(y.size()), .y = y};
}

std::optional<Chart> influence_chart(const std::vector<Cell>& cells, Task task, const std::string& how) {
  Chart chart{.title = "Influence of a step's noise on the final loss",
              .subtitle = fmt::format("MNIST35, {}, T = 100, public rows, by {}; over its largest value",
                                      in_words(task), how),
              .x_label = "step",
              .y_label = "influence",
              .lines = {}};
  for (const Cell* const cell : of_task(cells, task)) {
    if (cell->influence.contains(how)) chart.lines.push_back(curve(*cell, how));
  }
  return chart.lines.empty() ? std::nullopt : std::optional(chart);
}

// 100 % is the uniform schedule.
Chart relative_chart(const std::vector<const Cell*>& cells, bool excess) {
  Chart chart{.title = excess ? "Final loss above the smallest, against the uniform schedule's"
                              : "Final loss against the uniform schedule's",
              .subtitle = fmt::format("MNIST35, {}, rho .1963, {}, paired over {} seeds",
                                      in_words(cells.front()->task), "each at its best T in 1..100",
                                      uniform(*cells.front(), false).losses.size()),
              .x_label = "data scale",
              .y_label = "percent of uniform",
              .lines = {}};
  for (const std::string& name : names_of(*cells.front())) {
    Line line{.label = name, .x = {}, .y = {}, .dashed = name == "uni"};
    for (const Cell* const cell : cells) {
      if (!cell->schedules.contains(name)) continue;
      const ScheduleResult& result = cell->schedules.at(name);
      const double smallest = excess ? cell->smallest_loss : 0;
      line.x.push_back(cell->scale);
      line.y.push_back(100 * (mean(result.best.losses) - smallest) /
                       (mean(uniform(*cell, false).losses) - smallest));
    }
    chart.lines.push_back(line);
  }
  return chart;
}

// Where a schedule can matter: before, the loss is the same for all to four digits.
constexpr std::size_t kFirstStepsShown = 30;

Chart steps_chart(const Cell& cell) {
  const bool excess = cell.smallest_loss > 0;
  Chart chart{
      .title = fmt::format("Final loss{} against the number of steps", excess ? " above the smallest" : ""),
      .subtitle = fmt::format("MNIST35, {}, data scale {}, rho .1963", in_words(cell.task), cell.scale),
      .x_label = "T",
      .y_label = excess ? "mean final loss, less the smallest" : "mean final loss",
      .lines = {}};
  for (const std::string& name : names_of(cell)) {
    Line line{.label = name, .x = {}, .y = {}, .dashed = name == "uni"};
    for (const auto& [steps, losses] : cell.schedules.at(name).searched) {
      if (steps < kFirstStepsShown) continue;
      line.x.push_back(static_cast<double>(steps));
      line.y.push_back(mean(losses) - cell.smallest_loss);
    }
    chart.lines.push_back(line);
  }
  return chart;
}

std::string file_name(Task task) {
  if (task == Task::squared) return "squared";
  if (task == Task::squared_momentum) return "squared-momentum";
  return task == Task::logistic ? "logistic" : "net";
}

void draw(const std::string& path, const Chart& chart) {
  write_file_atomically(path, to_svg(chart));
}

void draw_task(const std::string& folder, const std::vector<Cell>& cells, Task task) {
  const auto chosen = of_task(cells, task);
  if (chosen.empty()) return;
  const std::string name = file_name(task);
  for (const char* const how : {"hessian", "retraining"}) {
    if (const auto chart = influence_chart(cells, task, how)) {
      draw(fmt::format("{}/influence-{}-{}.svg", folder, name, how), *chart);
    }
  }
  draw(fmt::format("{}/relative-{}.svg", folder, name), relative_chart(chosen, false));
  if (chosen.front()->smallest_loss > 0) {
    draw(fmt::format("{}/excess-{}.svg", folder, name), relative_chart(chosen, true));
  }
  for (const Cell* const cell : chosen) {
    if (cell->scale == 10 && task != Task::net)
      draw(fmt::format("{}/steps-{}.svg", folder, name), steps_chart(*cell));
  }
}

}  // namespace

void write_report(const std::string& folder, const std::vector<Cell>& cells) {
  std::filesystem::create_directories(folder);
  write_file_atomically(folder + "/losses.csv", losses_csv(cells));
  write_file_atomically(folder + "/search.csv", search_csv(cells));
  write_file_atomically(folder + "/influence.csv", influence_csv(cells));
  write_file_atomically(folder + "/summary.json", summary_json(cells));
  write_file_atomically(folder + "/tables.md", tables_md(cells));
  for (const Task task : {Task::squared, Task::squared_momentum, Task::logistic, Task::net}) {
    draw_task(folder, cells, task);
  }
}

}  // namespace ration::e2
