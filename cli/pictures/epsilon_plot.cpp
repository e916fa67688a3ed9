#include "pictures/epsilon_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot/svg_plot.h"

namespace ration::cli {
namespace {

constexpr int kPoints = 32;

constexpr std::int64_t kLongRun = 100'000;

// The part of the run at i of kPoints. Epsilon rises steeply at first, so the points stand closer there; a
// long run is shown on a logarithmic axis and its points are evenly spread on that.
double part_of_run(int i, std::int64_t last) {
  const double part = static_cast<double>(i) / kPoints;
  return last > kLongRun ? std::pow(static_cast<double>(last), part - 1) : part * part;
}

std::vector<std::int64_t> steps_to_show(std::int64_t last) {
  std::vector<std::int64_t> steps = {1};
  for (int i = 1; i <= kPoints; ++i) {
    const auto step =
        static_cast<std::int64_t>(std::llround(part_of_run(i, last) * static_cast<double>(last)));
    steps.push_back(std::clamp<std::int64_t>(step, 1, last));
  }
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

plot::Line line_for(const StepPlan& plan, const Guarantee& guarantee) {
  plot::Line line;
  line.label = std::string(to_string(guarantee.accountant)) + (guarantee.certified ? "" : " (not certified)");
  line.dashed = !guarantee.certified;
  for (const std::int64_t steps : steps_to_show(plan.steps())) {
    const Answer answer = ask(plan.first(steps), guarantee.accountant, guarantee.delta);
    line.x.push_back(static_cast<double>(steps));
    line.y.push_back(answer.guarantee ? answer.guarantee->epsilon : std::numeric_limits<double>::quiet_NaN());
  }
  return line;
}

std::string subtitle_of(const StepPlan& plan, double delta) {
  return fmt::format("{}, delta {}", plan.describe(), delta);
}

}  // namespace

std::string plot_epsilon(const StepPlan& plan, const std::vector<Answer>& answers, double delta) {
  plot::Chart chart{.title = "Privacy cost of a run",
                    .subtitle = subtitle_of(plan, delta),
                    .x_label = "steps",
                    .y_label = "epsilon",
                    .lines = {}};
  for (const Answer& answer : answers) {
    if (answer.guarantee) chart.lines.push_back(line_for(plan, *answer.guarantee));
  }
  return plot::to_svg(chart);
}

}  // namespace ration::cli
