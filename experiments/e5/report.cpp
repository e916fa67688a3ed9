#include "report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/atomic_file.h"
#include "pictures.h"
#include "plot/svg_plot.h"
#include "quadratics.h"

namespace ration::e5 {
namespace {

// A CSV file of the stages: no field holds a comma.
using Record = std::map<std::string, std::string>;

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream in(line);
  for (std::string field; std::getline(in, field, ',');) out.push_back(field);
  return out;
}

std::vector<Record> read_csv(const std::string& path) {
  std::ifstream in(path);
  std::vector<Record> out;
  std::string line;
  if (!std::getline(in, line)) return out;
  const std::vector<std::string> names = fields(line);
  while (std::getline(in, line)) {
    const std::vector<std::string> values = fields(line);
    Record record;
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) record[names[i]] = values[i];
    out.push_back(std::move(record));
  }
  return out;
}

double number(const Record& record, const std::string& key) {
  return std::stod(record.at(key));
}

struct Figure {
  double mean = 0, error = 0;
  std::size_t runs = 0;
};

Figure figure_of(const std::vector<double>& values) {
  Figure figure;
  figure.runs = values.size();
  const auto count = static_cast<double>(values.size());
  for (const double value : values) figure.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - figure.mean) * (value - figure.mean);
  figure.error = values.size() > 1 ? std::sqrt(squares / (count - 1) / count) : 0;
  return figure;
}

// In order of appearance.
std::vector<std::string> distinct(const std::vector<Record>& records, const std::string& key) {
  std::vector<std::string> out;
  for (const Record& record : records) {
    if (std::find(out.begin(), out.end(), record.at(key)) == out.end()) out.push_back(record.at(key));
  }
  return out;
}

Figure over(const std::vector<Record>& records, const Record& chosen, const std::string& key,
            double scale = 1) {
  std::vector<double> values;
  for (const Record& record : records) {
    const bool fits = std::all_of(chosen.begin(), chosen.end(),
                                  [&](const auto& one) { return record.at(one.first) == one.second; });
    if (fits) values.push_back(scale * number(record, key));
  }
  return figure_of(values);
}

std::string cell(const Figure& figure, int digits) {
  if (figure.runs == 0) return "-";
  return fmt::format("{:.{}f} ± {:.{}f}", figure.mean, digits, figure.error, digits);
}

std::vector<std::string> sorted_numbers(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end(),
            [](const auto& a, const auto& b) { return std::stod(a) < std::stod(b); });
  return texts;
}

// --- transfer

struct TransferStage {
  std::string name, title;
  std::vector<Record> runs{};
};

std::string transfer_table(const TransferStage& stage, const std::string& key, double scale, int digits) {
  const std::vector<std::string> epsilons = sorted_numbers(distinct(stage.runs, "epsilon"));
  std::string text = "| method |", rule = "|---|";
  for (const std::string& epsilon : epsilons) {
    text += fmt::format(" {} |", epsilon);
    rule += "---|";
  }
  text += fmt::format("\n{}\n", rule);
  for (const std::string& method : distinct(stage.runs, "method")) {
    text += fmt::format("| {} |", method);
    for (const std::string& epsilon : epsilons)
      text += fmt::format(
          " {} |", cell(over(stage.runs, {{"method", method}, {"epsilon", epsilon}}, key, scale), digits));
    text += "\n";
  }
  return text;
}

// Far below the others, which would lie on top of each other; the tables have them.
bool is_drawn(const std::string& method) {
  return method != "sgd-adv" && method != "outpert-gd";
}

plot::Chart transfer_chart(const TransferStage& stage, const std::string& key, const std::string& label,
                           double scale) {
  plot::Chart chart{.title = stage.title, .x_label = "epsilon", .y_label = label};
  chart.x_scale = plot::AxisScale::close_logarithmic;
  chart.y_scale = key == "accuracy" ? plot::AxisScale::close : plot::AxisScale::close_logarithmic;
  chart.markers = plot::Markers::every_point;
  const std::vector<std::string> methods = distinct(stage.runs, "method");
  for (const std::string& epsilon : sorted_numbers(distinct(stage.runs, "epsilon")))
    chart.x_ticks.push_back(std::stod(epsilon));
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (!is_drawn(methods[m])) continue;
    plot::Line line{.label = methods[m], .x = {}, .y = {}};
    line.look = m;
    line.reference = methods[m] == "nonprivate";
    for (const std::string& epsilon : sorted_numbers(distinct(stage.runs, "epsilon"))) {
      const Figure figure = over(stage.runs, {{"method", methods[m]}, {"epsilon", epsilon}}, key, scale);
      if (figure.runs == 0) continue;
      line.x.push_back(std::stod(epsilon));
      line.y.push_back(figure.mean);
      line.error.push_back(figure.error);
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

nlohmann::ordered_json transfer_json(const TransferStage& stage) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const std::string& method : distinct(stage.runs, "method")) {
    for (const std::string& epsilon : sorted_numbers(distinct(stage.runs, "epsilon"))) {
      const Record chosen{{"method", method}, {"epsilon", epsilon}};
      const Figure accuracy = over(stage.runs, chosen, "accuracy");
      if (accuracy.runs == 0) continue;
      const Figure loss = over(stage.runs, chosen, "loss");
      out.push_back({{"method", method},
                     {"epsilon", std::stod(epsilon)},
                     {"runs", accuracy.runs},
                     {"accuracy", accuracy.mean},
                     {"accuracy_error", accuracy.error},
                     {"loss", loss.mean},
                     {"loss_error", loss.error},
                     {"objective", over(stage.runs, chosen, "objective").mean}});
    }
  }
  return out;
}

std::string training_table(const std::vector<Record>& records) {
  std::string text =
      "| trained on | epsilon | epochs | seconds | loss at the start | at the budget's end | spent | steps "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Record& one : records)
    text += fmt::format("| {} | {} | {} | {:.0f} | {:.4f} | {:.4f} | {:.4f} | {:.1f} |\n", one.at("from"),
                        one.at("epsilon"), one.at("epochs"), number(one, "seconds"),
                        number(one, "validation_start"), number(one, "validation_loss"), number(one, "spent"),
                        number(one, "steps"));
  return text;
}

// --- quadratics

std::string quadratic_table(const std::vector<Record>& runs) {
  std::string text =
      "| epsilon | method | setting | loss, one problem | loss, 100 problems | steps | spent "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const std::string& epsilon : distinct(runs, "epsilon")) {
    for (const std::string& method : distinct(runs, "method")) {
      const Record chosen{{"epsilon", epsilon}, {"method", method}};
      const auto first = std::find_if(runs.begin(), runs.end(), [&](const Record& run) {
        return run.at("epsilon") == epsilon && run.at("method") == method;
      });
      text +=
          fmt::format("| {} | {} | {} | {} | {} | {:.1f} | {:.4f} |\n", epsilon, method, first->at("setting"),
                      cell(over(runs, chosen, "loss"), 4), cell(over(runs, chosen, "loss_elsewhere"), 4),
                      number(*first, "steps"), number(*first, "spent"));
    }
  }
  return text;
}

std::string path_picture(const std::vector<Record>& paths, const std::string& epsilon) {
  const TestProblem problem = test_problem();
  PathPicture picture{
      .title = fmt::format("Quadratics at epsilon {}", epsilon),
      .subtitle = "where 100 private runs ended (blue), the first five of them (orange), the minimum (red)",
      .start = problem.start,
      .optimum = problem.optimum,
      .hessian = problem.hessian};
  std::map<std::string, std::map<int, Path>> by_method;
  for (const Record& one : paths) {
    if (one.at("epsilon") == epsilon)
      by_method[one.at("method")][std::stoi(one.at("repeat"))].push_back(
          {number(one, "x"), number(one, "y")});
  }
  for (const std::string& method : distinct(paths, "method")) {
    PathPanel panel{.title = method};
    for (auto& [repeat, path] : by_method[method]) panel.paths.push_back(std::move(path));
    picture.panels.push_back(std::move(panel));
  }
  return to_svg(picture);
}

// --- pairs and scaling

std::string pair_picture(const std::vector<Record>& pairs) {
  BarChart chart{
      .title = "MNIST 3/5 with protectors of other pairs",
      .subtitle = "logistic regression, epsilon .05, delta 1e-8, mean and standard error of 10 runs",
      .y_label = "test accuracy, percent",
      .low = 50,
      .high = 95,
      .reference = 75.5,
      .reference_label = "paper: AGD 75.5"};
  for (const std::string& from : distinct(pairs, "from")) {
    const Figure figure = over(pairs, {{"from", from}, {"method", "L2P"}}, "accuracy", 100);
    chart.bars.push_back({from.substr(from.find(' ') + 1), figure.mean, figure.error});
  }
  return to_svg(chart);
}

std::string pair_table(const std::vector<Record>& pairs) {
  std::string text = "| trained on | L2P | L2P-Proj | loss, L2P |\n|---|---|---|---|\n";
  for (const std::string& from : distinct(pairs, "from"))
    text += fmt::format("| {} | {} | {} | {} |\n", from,
                        cell(over(pairs, {{"from", from}, {"method", "L2P"}}, "accuracy", 100), 2),
                        cell(over(pairs, {{"from", from}, {"method", "L2P-Proj"}}, "accuracy", 100), 2),
                        cell(over(pairs, {{"from", from}, {"method", "L2P"}}, "loss"), 4));
  return text;
}

std::string scaling_table(const std::vector<Record>& rows) {
  std::string text =
      "| unrolled steps | epoch, s | paper (TITAN X), s | largest memory, MB |\n|---|---|---|---|\n";
  for (const Record& row : rows)
    text += fmt::format("| {} | {:.1f} | {} | {:.1f} |\n", row.at("steps"), number(row, "seconds"),
                        row.at("paper_seconds"), number(row, "megabytes"));
  return text;
}

}  // namespace

void write_report(const std::string& folder) {
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder + "/" + name, text);
  };
  std::string tables;
  nlohmann::ordered_json json;
  if (const auto runs = read_csv(folder + "/quadratics.csv"); !runs.empty()) {
    tables += "## Quadratics\n\n" + quadratic_table(runs) + "\n";
    const auto paths = read_csv(folder + "/quadratic-paths.csv");
    for (const std::string& epsilon : distinct(paths, "epsilon"))
      write(fmt::format("paths-{}.svg", epsilon), path_picture(paths, epsilon));
  }
  plot::ChartGrid accuracy{
      .title = "Test accuracy", .subtitle = "logistic regression, delta 1e-8", .columns = 3};
  plot::ChartGrid loss{
      .title = "Loss on test rows", .subtitle = "logistic regression, delta 1e-8", .columns = 3};
  const std::vector<std::pair<std::string, std::string>> stages{{"br", "ipums-br to ipums-us-1980"},
                                                                {"us", "ipums-us-1980 to ipums-br"},
                                                                {"mnist", "MNIST 4/6 to 3/5"}};
  for (const auto& [name, title] : stages) {
    TransferStage stage{name, title, read_csv(folder + "/" + name + ".csv")};
    for (Record& run : read_csv(folder + "/" + name + "-baselines.csv")) stage.runs.push_back(std::move(run));
    if (stage.runs.empty()) continue;
    tables += fmt::format("## {}: test accuracy\n\n{}\n", title, transfer_table(stage, "accuracy", 100, 2));
    tables += fmt::format("## {}: loss on test rows\n\n{}\n", title, transfer_table(stage, "loss", 1, 4));
    tables += fmt::format("## {}: training\n\n{}\n", title,
                          training_table(read_csv(folder + "/" + name + "-training.csv")));
    accuracy.charts.push_back(transfer_chart(stage, "accuracy", "accuracy, percent", 100));
    loss.charts.push_back(transfer_chart(stage, "loss", "mean loss", 1));
    json[name] = transfer_json(stage);
  }
  if (!accuracy.charts.empty()) {
    write("accuracy.svg", to_svg(accuracy));
    write("loss.svg", to_svg(loss));
  }
  if (const auto pairs = read_csv(folder + "/pairs.csv"); !pairs.empty()) {
    tables += "## Auxiliary pairs\n\n" + pair_table(pairs) + "\n";
    write("pairs.svg", pair_picture(pairs));
  }
  if (const auto rows = read_csv(folder + "/scaling.csv"); !rows.empty())
    tables += "## Scaling\n\n" + scaling_table(rows) + "\n";
  write("tables.md", tables);
  write("results.json", json.dump(2) + "\n");
}

}  // namespace ration::e5
