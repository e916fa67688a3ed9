#include "pictures/audit_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plot/svg_plot.h"

namespace ration::cli {
namespace {

constexpr int kPoints = 100;
constexpr double kFewestAlarms = 1e-4;

// An (epsilon, delta)-DP mechanism: caught <= e^epsilon alarms + delta, and the same of the opposite test.
// [Kairouz15, Thm 2.1]
double most_caught(const audit::Claim& claim, double alarms) {
  const double factor = std::exp(claim.epsilon);
  return std::clamp(std::min(factor * alarms + claim.delta, 1 - (1 - claim.delta - alarms) / factor), 0.0,
                    1.0);
}

plot::Line line_of(const audit::Claim& claim) {
  plot::Line line{.label = fmt::format("the claim allows, epsilon {}", show_rounded_up(claim.epsilon)),
                  .x = {},
                  .y = {},
                  .reference = true};
  for (int i = 0; i <= kPoints; ++i) {
    line.x.push_back(std::pow(kFewestAlarms, static_cast<double>(kPoints - i) / kPoints));
    line.y.push_back(most_caught(claim, line.x.back()));
  }
  return line;
}

// Zeros have no place on logarithmic axes.
plot::Line line_of(const audit::Curve& curve) {
  plot::Line line{.label = curve.label, .x = {}, .y = {}};
  for (const audit::RocPoint& point : curve.points) {
    if (!(point.alarms > 0) || !(point.caught > 0)) continue;
    line.x.push_back(point.alarms);
    line.y.push_back(point.caught);
  }
  return line;
}

}  // namespace

std::string plot_audit(const audit::Report& report) {
  plot::Chart chart{.title = "How well neighbours are told apart",
                    .subtitle = report.subject,
                    .x_label = "false alarms",
                    .y_label = "rows caught",
                    .lines = {line_of(report.claim)},
                    .x_scale = plot::AxisScale::close_logarithmic,
                    .y_scale = plot::AxisScale::close_logarithmic};
  for (const audit::Curve& curve : report.curves) {
    plot::Line line = line_of(curve);
    if (!line.x.empty()) chart.lines.push_back(std::move(line));
  }
  return plot::to_svg(chart);
}

}  // namespace ration::cli
