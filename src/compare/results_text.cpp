#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "compare/results.h"

namespace ration::compare {
namespace {

using nlohmann::ordered_json;

std::string shown(const std::optional<double>& value) {
  return value ? show(*value) : "";
}

std::string quoted(const std::string& text) {
  if (text.empty()) return "";
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}
ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json to_json(const Cell& cell, double delta) {
  const bool has_run = cell.runs > 0;
  const auto mean = [&](const Figure& figure) {
    return has_run ? ordered_json(figure.mean) : ordered_json(nullptr);
  };
  return {{"data", cell.data},
          {"model", cell.model},
          {"method", cell.method},
          {"private", cell.is_private},
          {"epsilon", cell.epsilon},
          {"delta", delta},
          {"runs", cell.runs},
          {"accuracy", mean(cell.accuracy)},
          {"accuracy_error", or_null(cell.accuracy.error)},
          {"loss", mean(cell.loss)},
          {"loss_error", or_null(cell.loss.error)},
          {"objective", mean(cell.objective)},
          {"objective_error", or_null(cell.objective.error)},
          {"seconds", mean(cell.seconds)},
          {"steps", has_run ? ordered_json(cell.steps) : ordered_json(nullptr)},
          {"epsilon_spent", or_null(cell.epsilon_spent)},
          {"noise_multiplier", or_null(cell.noise_multiplier)},
          {"accountant", or_null(cell.accountant)},
          {"relation", or_null(cell.relation)},
          {"refused", or_null(cell.refused)}};
}

template <class Choice>
std::vector<std::string> names_of(const std::vector<Choice>& choices) {
  std::vector<std::string> names;
  for (const Choice& choice : choices) names.push_back(choice.name);
  return names;
}

// --- markdown

using Show = std::string (*)(const Cell&);

std::string accuracy_of(const Cell& cell) {
  if (cell.runs == 0) return "-";
  const std::string mean = fmt::format("{:.2f}", 100 * cell.accuracy.mean);
  return cell.accuracy.error ? fmt::format("{} ± {:.2f}", mean, 100 * *cell.accuracy.error) : mean;
}

std::string objective_of(const Cell& cell) {
  if (cell.runs == 0) return "-";
  const std::string mean = fmt::format("{:.4f}", cell.objective.mean);
  return cell.objective.error ? fmt::format("{} ± {:.4f}", mean, *cell.objective.error) : mean;
}

std::string seconds_of(const Cell& cell) {
  return cell.runs == 0 ? "-" : fmt::format("{:.3f}", cell.seconds.mean);
}

class MarkdownTable {
 public:
  MarkdownTable(const Results& results, const std::string& data, const std::string& model)
      : results_(results), data_(data), model_(model) {}

  // `best` is +1 if more is better, -1 if less is, 0 if nothing is to be pointed out.
  std::string render(Show show_cell, Figure Cell::*figure, int best) const {
    const auto& epsilons = results_.comparison.epsilons;
    std::string out = "| method |";
    for (const double epsilon : epsilons) out += fmt::format(" {} |", show(epsilon));
    out += "\n|---|";
    for (std::size_t i = 0; i < epsilons.size(); ++i) out += "---|";
    out += "\n";
    for (const MethodChoice& method : results_.comparison.methods) {
      out += fmt::format("| {} |", method.name);
      for (const double epsilon : epsilons) {
        const Cell& cell = *results_.find(data_, model_, method.name, epsilon);
        const std::string text = show_cell(cell);
        out += is_best(cell, figure, best) ? fmt::format(" **{}** |", text) : fmt::format(" {} |", text);
      }
      out += "\n";
    }
    return out + "\n";
  }

 private:
  // Of the private methods.
  bool is_best(const Cell& cell, Figure Cell::*figure, int best) const {
    if (best == 0 || cell.runs == 0 || !cell.is_private) return false;
    for (const MethodChoice& method : results_.comparison.methods) {
      const Cell& other = *results_.find(data_, model_, method.name, cell.epsilon);
      if (other.runs == 0 || !other.is_private) continue;
      if (best * ((other.*figure).mean - (cell.*figure).mean) > 0) return false;
    }
    return true;
  }

  const Results& results_;
  const std::string& data_;
  const std::string& model_;
};

// What could not be run, and why; reasons that several cells share are told once.
std::string refusals(const Results& results) {
  std::map<std::string, std::vector<std::string>> cells_by_reason;
  for (const Cell& cell : results.cells) {
    if (cell.refused.empty()) continue;
    cells_by_reason[cell.refused].push_back(
        fmt::format("{} {} {} at epsilon {}", cell.data, cell.model, cell.method, show(cell.epsilon)));
  }
  if (cells_by_reason.empty()) return "";
  std::string out = "## Not run\n";
  for (const auto& [reason, cells] : cells_by_reason)
    out += fmt::format("- {}{}: {}\n", cells.front(),
                       cells.size() > 1 ? fmt::format(" and {} more", cells.size() - 1) : "", reason);
  return out;
}

}  // namespace

std::string warning() {
  return "NOT PRIVATE: these figures are computed from the rows themselves, without noise. A comparison is "
         "for public data; "
         "no guarantee covers its results or a choice made by them.";
}

std::string to_csv(const Results& results) {
  std::string out =
      "data,model,method,private,epsilon,delta,runs,accuracy,accuracy_error,loss,loss_error,objective,"
      "objective_error,"
      "seconds,steps,epsilon_spent,noise_multiplier,accountant,relation,refused\n";
  for (const Cell& cell : results.cells) {
    const auto mean = [&](double value) { return cell.runs > 0 ? show(value) : ""; };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell.data, cell.model,
                       cell.method, cell.is_private, show(cell.epsilon), show(*results.comparison.delta),
                       cell.runs, mean(cell.accuracy.mean), shown(cell.accuracy.error), mean(cell.loss.mean),
                       shown(cell.loss.error), mean(cell.objective.mean), shown(cell.objective.error),
                       mean(cell.seconds.mean), mean(cell.steps), shown(cell.epsilon_spent),
                       shown(cell.noise_multiplier), cell.accountant, cell.relation, quoted(cell.refused));
  }
  return out;
}

std::string to_markdown(const Results& results) {
  const Comparison& comparison = results.comparison;
  std::string out = fmt::format("# Comparison\n\n{}\n\n", warning());
  out += fmt::format(
      "{} folds x {} repeats, delta {}; mean ± standard error; the best private method is bold.\n",
      comparison.folds, comparison.repeats, show(*comparison.delta));
  if (!results.finished())
    out += fmt::format("\nNot finished: {} of {} jobs.\n", results.jobs_done, results.jobs);
  for (const std::string& data : results.data_names()) {
    for (const ModelChoice& model : comparison.models) {
      const MarkdownTable table(results, data, model.name);
      out += fmt::format("\n## {}, {}\n\nTest accuracy in percent, by epsilon\n\n", data, model.name);
      out += table.render(accuracy_of, &Cell::accuracy, 1);
      out += "Objective (mean training loss), by epsilon\n\n";
      out += table.render(objective_of, &Cell::objective, -1);
      out += "Seconds of a training, by epsilon\n\n";
      out += table.render(seconds_of, &Cell::seconds, 0);
    }
  }
  return out + refusals(results);
}

std::string to_json(const Results& results) {
  const Comparison& comparison = results.comparison;
  ordered_json json{{"warning", warning()},
                    {"finished", results.finished()},
                    {"jobs", results.jobs},
                    {"jobs_done", results.jobs_done},
                    {"delta", *comparison.delta},
                    {"folds", comparison.folds},
                    {"repeats", comparison.repeats},
                    {"epsilons", comparison.epsilons},
                    {"data", names_of(comparison.data)},
                    {"models", names_of(comparison.models)},
                    {"methods", names_of(comparison.methods)}};
  json["results"] = ordered_json::array();
  for (const Cell& cell : results.cells) json["results"].push_back(to_json(cell, *comparison.delta));
  return json.dump(2) + "\n";
}

}  // namespace ration::compare
