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
  const auto mean = [](const Figure& figure) {
    return figure.runs > 0 ? ordered_json(figure.mean) : ordered_json(nullptr);
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
          {"auc", mean(cell.auc)},
          {"auc_error", or_null(cell.auc.error)},
          {"log_loss", mean(cell.log_loss)},
          {"log_loss_error", or_null(cell.log_loss.error)},
          {"r2", mean(cell.r2)},
          {"r2_error", or_null(cell.r2.error)},
          {"mean_absolute_error", mean(cell.mean_absolute_error)},
          {"mean_absolute_error_error", or_null(cell.mean_absolute_error.error)},
          {"refused", or_null(cell.refused)}};
}

template <class Choice>
std::vector<std::string> names_of(const std::vector<Choice>& choices) {
  std::vector<std::string> names;
  for (const Choice& choice : choices) names.push_back(choice.name);
  return names;
}

// --- markdown

class MarkdownTable {
 public:
  MarkdownTable(const Results& results, const std::string& data, const std::string& model)
      : results_(results), data_(data), model_(model) {}

  std::string render(const Measure& measure) const {
    return render([&](const Cell& cell) {
      const std::string text = measure.show(cell, "±");
      return is_best(cell, measure) ? fmt::format("**{}**", text) : text;
    });
  }
  std::string render_seconds() const {
    return render(
        [](const Cell& cell) { return cell.runs == 0 ? "-" : fmt::format("{:.3f}", cell.seconds.mean); });
  }

 private:
  template <class Show>
  std::string render(const Show& show_cell) const {
    const auto& epsilons = results_.comparison.epsilons;
    std::string out = "| method |";
    for (const double epsilon : epsilons) out += fmt::format(" {} |", show(epsilon));
    out += "\n|---|";
    for (std::size_t i = 0; i < epsilons.size(); ++i) out += "---|";
    out += "\n";
    for (const MethodChoice& method : results_.comparison.methods) {
      out += fmt::format("| {} |", method.name);
      for (const double epsilon : epsilons)
        out += fmt::format(" {} |", show_cell(*results_.find(data_, model_, method.name, epsilon)));
      out += "\n";
    }
    return out + "\n";
  }

  // Of the private methods.
  bool is_best(const Cell& cell, const Measure& measure) const {
    const Figure& own = cell.*measure.figure;
    if (own.runs == 0 || !cell.is_private) return false;
    for (const MethodChoice& method : results_.comparison.methods) {
      const Cell& other = *results_.find(data_, model_, method.name, cell.epsilon);
      const Figure& its = other.*measure.figure;
      if (its.runs == 0 || !other.is_private) continue;
      if (measure.better * (its.mean - own.mean) > 0) return false;
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
      "objective_error,seconds,steps,epsilon_spent,noise_multiplier,accountant,relation,auc,auc_error,"
      "log_loss,log_loss_error,r2,r2_error,mean_absolute_error,mean_absolute_error_error,refused\n";
  for (const Cell& cell : results.cells) {
    const auto mean = [](const Figure& figure) { return figure.runs > 0 ? show(figure.mean) : ""; };
    const auto both = [&](const Figure& figure) {
      return fmt::format("{},{}", mean(figure), shown(figure.error));
    };
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell.data, cell.model,
                    cell.method, cell.is_private, show(cell.epsilon), show(*results.comparison.delta),
                    cell.runs, both(cell.accuracy), both(cell.loss), both(cell.objective), mean(cell.seconds),
                    cell.runs > 0 ? show(cell.steps) : "", shown(cell.epsilon_spent),
                    shown(cell.noise_multiplier), cell.accountant, cell.relation, both(cell.auc),
                    both(cell.log_loss), both(cell.r2), both(cell.mean_absolute_error), quoted(cell.refused));
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
      out += fmt::format("\n## {}, {}\n\n", data, model.name);
      for (const Measure& measure : kTestMeasures) {
        if (results.has(measure, data, model.name))
          out += fmt::format("{}, by epsilon\n\n{}", measure.title, table.render(measure));
      }
      out += fmt::format("{}, by epsilon\n\n{}", kObjective.title, table.render(kObjective));
      out += "Seconds of a training, by epsilon\n\n" + table.render_seconds();
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
