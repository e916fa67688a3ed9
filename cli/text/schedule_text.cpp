#include "text/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "plot/svg_plot.h"
#include "privacy/zcdp.h"
#include "text/answer.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

constexpr std::size_t kRowsShown = 11;

struct Extremes {
  std::size_t smallest;
  std::size_t largest;
};

Extremes extremes_of(const std::vector<double>& noise) {
  const auto [low, high] = std::minmax_element(noise.begin(), noise.end());
  return {static_cast<std::size_t>(low - noise.begin()), static_cast<std::size_t>(high - noise.begin())};
}

// The first, the last, and some between them.
std::vector<std::size_t> steps_shown(std::size_t steps) {
  std::vector<std::size_t> shown;
  const std::size_t rows = std::min(steps, kRowsShown);
  for (std::size_t i = 0; i < rows; ++i) shown.push_back(rows == 1 ? 0 : i * (steps - 1) / (rows - 1));
  return shown;
}

// What one step takes of the whole, as sums of 1 / s^2 go.
double share_of(const ScheduleAnswer& answer, std::size_t step) {
  const double s = answer.scaled.noise[step];
  return 1 / (s * s) / (2 * answer.cost_rho);
}

std::string table_of(const ScheduleAnswer& answer) {
  const std::vector<double>& noise = answer.scaled.noise;
  TextTable table({{"step", TextTable::Align::right},
                   {"noise", TextTable::Align::right},
                   {"of uniform", TextTable::Align::right},
                   {"share of budget"}});
  for (const std::size_t step : steps_shown(noise.size())) {
    table.add_row({std::to_string(step + 1), show_rounded_up(noise[step]),
                   fmt::format("{:.3f}", noise[step] / answer.uniform_noise),
                   fmt::format("{:.2f} %", 100 * share_of(answer, step))});
  }
  return table.render();
}

std::string describe_budget(const ScheduleAnswer& answer) {
  std::string text =
      fmt::format("epsilon {} of {} at delta {}, by {}", show_rounded_up(answer.cost.epsilon),
                  show(answer.budget.epsilon), show(answer.budget.delta), to_string(answer.cost.accountant));
  if (!answer.cost.certified) text += ", an approximation, not a guarantee";
  return text;
}

std::string describe_rho(const ScheduleAnswer& answer) {
  return fmt::format("{:.5g} = sum of 1 / (2 noise^2); {:.5g} by the looser conversion of the papers",
                     answer.cost_rho, zcdp_rho_classic(answer.budget.epsilon, answer.budget.delta));
}

std::string describe_extremes(const std::vector<double>& noise) {
  const auto [smallest, largest] = extremes_of(noise);
  return fmt::format("first {}, last {}, smallest {} (step {}), largest {} (step {})",
                     show_rounded_up(noise.front()), show_rounded_up(noise.back()),
                     show_rounded_up(noise[smallest]), smallest + 1, show_rounded_up(noise[largest]),
                     largest + 1);
}

std::string describe_bound(const ScheduleAnswer& answer) {
  return fmt::format(
      "{:.6g} with this schedule, {:.6g} with uniform noise (upper bound on final error / initial error)",
      answer.bound, answer.uniform_bound);
}

std::string describe_constants(const ScheduleAnswer& answer) {
  return fmt::format("gamma {} ({}), alpha {} ({})", show(answer.risk.gamma), answer.gamma_from,
                     show(answer.risk.alpha), answer.alpha_from);
}

std::string describe_best_steps(const RiskConstants& risk) {
  const std::int64_t dynamic = dynamic_steps(risk);
  const std::int64_t uniform = uniform_steps(risk);
  return fmt::format("{} with the best schedule (bound {:.6g}), {} with uniform noise (bound {:.6g})",
                     dynamic, dynamic_risk_bound(risk, static_cast<double>(dynamic)), uniform,
                     uniform_risk_bound(risk, static_cast<double>(uniform)));
}

std::string describe_run(const ScheduleAnswer& answer) {
  const StepPlan& plan = answer.plan;
  const std::string rows = plan.sampling == Sampling::full
                               ? "full batch"
                               : fmt::format("{} samples at rate {}", in_words(plan.sampling), plan.rate);
  return fmt::format("{}, {} steps, {}, relation {}", answer.shape, plan.steps(), rows,
                     ration::to_string(plan.relation));
}

}  // namespace

std::string to_text(const ScheduleAnswer& answer) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, value);
  };
  line("schedule", describe_run(answer));
  line("spends", describe_budget(answer));
  if (answer.plan.sampling == Sampling::full) line("rho", describe_rho(answer));
  line("noise", describe_extremes(answer.scaled.noise));
  text += "\n" + table_of(answer) + "\n";
  line("bound", describe_bound(answer));
  line("best steps", describe_best_steps(answer.risk));
  line("constants", describe_constants(answer));
  return text;
}

std::string only_the_noise(const ScheduleAnswer& answer) {
  std::string text;
  for (const double s : answer.scaled.noise) text += show_rounded_up(s) + "\n";
  return text;
}

void write_to(nlohmann::ordered_json& json, const ScheduleAnswer& answer) {
  const std::vector<double>& noise = answer.scaled.noise;
  const auto [smallest, largest] = extremes_of(noise);
  json["shape"] = answer.shape;
  write_to(json, answer.cost);
  json["epsilon_target"] = answer.budget.epsilon;
  json["relation"] = ration::to_string(answer.plan.relation);
  json["sampling"] = to_string(answer.plan.sampling);
  json["rate"] = answer.plan.rate;
  json["steps"] = answer.plan.steps();
  json["rho"] = answer.plan.sampling == Sampling::full ? nlohmann::ordered_json(answer.cost_rho) : nullptr;
  json["rho_classic"] = zcdp_rho_classic(answer.budget.epsilon, answer.budget.delta);
  json["noise_multiplier"] = answer.scaled.size;
  json["noise_first"] = noise.front();
  json["noise_last"] = noise.back();
  json["noise_min"] = noise[smallest];
  json["noise_max"] = noise[largest];
  json["noise_uniform"] = answer.uniform_noise;
  json["gamma"] = answer.risk.gamma;
  json["alpha"] = answer.risk.alpha;
  json["erub"] = answer.bound;
  json["erub_uniform"] = answer.uniform_bound;
  json["best_steps"] = dynamic_steps(answer.risk);
  json["best_steps_uniform"] = uniform_steps(answer.risk);
  json["best_steps_uniform_paper"] = paper_uniform_steps(answer.risk);
  if (!answer.influence.empty()) {
    json["private"] = false;
    json["warning"] = warning_of_public_rows(answer);
    json["influence"] = answer.influence;
  }
  json["noise_multipliers"] = noise;
  json["seconds"] = answer.seconds;
}

std::string plot_schedule(const ScheduleAnswer& answer) {
  const std::vector<double>& noise = answer.scaled.noise;
  plot::Line line{.label = answer.shape, .x = {}, .y = noise};
  for (std::size_t t = 1; t <= noise.size(); ++t) line.x.push_back(static_cast<double>(t));
  const plot::Line uniform{.label = "uniform",
                           .x = line.x,
                           .y = std::vector<double>(noise.size(), answer.uniform_noise),
                           .dashed = true};
  plot::Chart chart{.title = "Noise of each step",
                    .subtitle = fmt::format("{}; epsilon {} at delta {} by {}", describe_run(answer),
                                            show(answer.budget.epsilon), show(answer.budget.delta),
                                            to_string(answer.cost.accountant)),
                    .x_label = "step",
                    .y_label = "noise multiplier",
                    .lines = {line}};
  if (answer.shape != "uniform") chart.lines.push_back(uniform);
  return plot::to_svg(chart);
}

std::string warning_of_public_rows(const ScheduleAnswer& answer) {
  return fmt::format(
      "{} was read WITHOUT PRIVACY: the schedule was estimated from its rows and reveals information about "
      "them. Unless that file is public, do not use or share the schedule",
      answer.read_without_privacy);
}

}  // namespace ration::cli
