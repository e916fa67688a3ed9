#include "plot/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ration::plot {
namespace {

// A rectangle of the picture in which lines are drawn.
struct Area {
  double left = 82;
  double right = 650;
  double top = 78;
  double bottom = 416;

  double middle_x() const { return (left + right) / 2; }
  double middle_y() const { return (top + bottom) / 2; }
};

constexpr double kWidth = 860;
constexpr double kHeight = 480;

// Okabe and Ito's colours, told apart by colour-blind readers too, and two more; yellow is too pale for a
// line.
constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                 "#E69F00", "#56B4E9", "#000000", "#8B5A2B"};
constexpr std::size_t kOrderedColours = 6;

std::string escape(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string text(double x, double y, const std::string& attributes, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escape(words));
}

std::string straight(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

struct Frame {
  Area area;
  Axis x;
  Axis y;

  double across(double value) const { return area.left + x.position(value) * (area.right - area.left); }
  double down(double value) const { return area.bottom - y.position(value) * (area.bottom - area.top); }
  bool shows(double at_x, double at_y) const {
    return std::isfinite(at_x) && std::isfinite(at_y) && (!x.logarithmic || at_x > 0) &&
           (!y.logarithmic || at_y > 0);
  }
};

std::string draw_axes(const Frame& frame, const Chart& chart) {
  const Area& area = frame.area;
  std::string svg;
  for (const double tick : frame.y.ticks()) {
    const double y = frame.down(tick);
    svg += straight(area.left, y, area.right, y, "class=\"grid\"");
    svg += text(area.left - 10, y + 4.5, "class=\"tick\" text-anchor=\"end\"", tick_label(tick));
  }
  for (const double tick : chart.x_ticks.empty() ? frame.x.ticks() : chart.x_ticks) {
    const double x = frame.across(tick);
    svg += straight(x, area.bottom, x, area.bottom + 5, "class=\"axis\"");
    svg += text(x, area.bottom + 22, "class=\"tick\" text-anchor=\"middle\"", tick_label(tick));
  }
  return svg + straight(area.left, area.bottom, area.right, area.bottom, "class=\"axis\"");
}

std::string draw_labels(const Frame& frame, const Chart& chart) {
  const Area& area = frame.area;
  const double x = area.left - 58;
  const double y = area.middle_y();
  const auto on_scale = [](const std::string& label, const Axis& axis) {
    return label.empty() || !axis.logarithmic ? label : label + " (log scale)";
  };
  return text(area.middle_x(), area.bottom + 46, "class=\"label\" text-anchor=\"middle\"",
              on_scale(chart.x_label, frame.x)) +
         text(x, y,
              fmt::format("class=\"label\" text-anchor=\"middle\" transform=\"rotate(-90 {:g} {:.1f})\"", x,
                          y),
              on_scale(chart.y_label, frame.y));
}

// --- the look of a line

const char* colour_of(std::size_t index, const Line& line) {
  if (line.reference) return "#888888";
  return line.look ? kColours[*line.look % kColours.size()] : kColours[index % kOrderedColours];
}

bool is_second_round(const Line& line) {
  return line.look && *line.look >= kColours.size();
}

// Without a look, later lines are thinner, so that of two that coincide both are seen.
std::string stroke(std::size_t index, const std::vector<Line>& lines) {
  const Line& line = lines[index];
  const bool has_look = line.look || line.reference;
  const double width = line.reference ? 1.4
                       : has_look     ? 1.8
                                      : 1.8 + 0.5 * static_cast<double>(lines.size() - 1 - index);
  const char* const dashes = line.reference                         ? " stroke-dasharray=\"2 4\""
                             : line.dashed || is_second_round(line) ? " stroke-dasharray=\"7 5\""
                                                                    : "";
  return fmt::format("stroke=\"{}\" stroke-width=\"{:.1f}\"{}", colour_of(index, line), width, dashes);
}

// A polygon with `corners` corners on a circle, the first at `angle` from the top; every second one nearer
// for a star.
std::string polygon(double x, double y, int corners, double angle, double radius, bool star) {
  std::string points;
  for (int i = 0; i < corners; ++i) {
    const double r = star && i % 2 == 1 ? 0.45 * radius : radius;
    const double at = angle + 2 * std::numbers::pi * i / corners;
    points += fmt::format("{:.1f},{:.1f} ", x + r * std::sin(at), y - r * std::cos(at));
  }
  return fmt::format("<polygon points=\"{}\" ", points);
}

std::string shape(std::size_t which, double x, double y) {
  constexpr double kPi = std::numbers::pi;
  switch (which % 8) {
    case 1:
      return polygon(x, y, 4, kPi / 4, 5, false);  // square
    case 2:
      return polygon(x, y, 3, 0, 5.2, false);  // triangle
    case 3:
      return polygon(x, y, 4, 0, 5.2, false);  // diamond
    case 4:
      return polygon(x, y, 3, kPi, 5.2, false);  // triangle on its tip
    case 5:
      return polygon(x, y, 5, 0, 4.8, false);  // pentagon
    case 6:
      return polygon(x, y, 8, kPi / 4, 6, true);  // cross of four rays
    case 7:
      return polygon(x, y, 10, 0, 6, true);  // star
    default:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.8\" ", x, y);
  }
}

// Filled in the first round of colours, hollow in the second.
std::string marker(const Line& line, std::size_t index, double x, double y) {
  const std::size_t look = line.look.value_or(index);
  const char* const colour = colour_of(index, line);
  return shape(look, x, y) + fmt::format("class=\"marker\" fill=\"{}\" stroke=\"{}\"/>\n",
                                         is_second_round(line) ? "white" : colour, colour);
}

// --- lines

// Of lines whose points stand above each other, each is moved aside a little, so that all error bars are
// seen.
double aside(const Chart& chart, std::size_t index) {
  if (chart.lines[index].error.empty()) return 0;
  return 1.6 * (static_cast<double>(index) - static_cast<double>(chart.lines.size() - 1) / 2);
}

std::string path_of(const Frame& frame, const Line& line, double shift) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!frame.shows(line.x[i], line.y[i])) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f} ", pen_down ? "L" : "M", frame.across(line.x[i]) + shift,
                        frame.down(line.y[i]));
    pen_down = true;
  }
  return path;
}

std::string draw_errors(const Frame& frame, const Line& line, double shift, const char* colour) {
  std::string svg;
  for (std::size_t i = 0; i < line.error.size(); ++i) {
    const double low = line.y[i] - line.error[i];
    const double high = line.y[i] + line.error[i];
    if (!frame.shows(line.x[i], low) || !frame.shows(line.x[i], high)) continue;
    const double x = frame.across(line.x[i]) + shift;
    const std::string attributes = fmt::format("class=\"error\" stroke=\"{}\"", colour);
    svg += straight(x, frame.down(low), x, frame.down(high), attributes);
    for (const double end : {low, high})
      svg += straight(x - 2.5, frame.down(end), x + 2.5, frame.down(end), attributes);
  }
  return svg;
}

std::string draw_markers(const Frame& frame, const Chart& chart, std::size_t index, double shift) {
  const Line& line = chart.lines[index];
  if (chart.markers == Markers::none || line.reference || line.x.empty()) return "";
  std::string svg;
  const std::size_t first = chart.markers == Markers::last_point ? line.x.size() - 1 : 0;
  for (std::size_t i = first; i < line.x.size(); ++i) {
    if (frame.shows(line.x[i], line.y[i]))
      svg += marker(line, index, frame.across(line.x[i]) + shift, frame.down(line.y[i]));
  }
  return svg;
}

std::string draw_lines(const Frame& frame, const Chart& chart) {
  std::string svg;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    const double shift = aside(chart, i);
    svg += draw_errors(frame, line, shift, colour_of(i, line));
    svg += fmt::format("<path class=\"line\" d=\"{}\" {}/>\n", path_of(frame, line, shift),
                       stroke(i, chart.lines));
    svg += draw_markers(frame, chart, i, shift);
  }
  return svg;
}

double last_height(const Line& line) {
  for (std::size_t i = line.y.size(); i > 0; --i) {
    if (std::isfinite(line.y[i - 1])) return line.y[i - 1];
  }
  return -1;
}

// The legend stands beside the plot in the order in which the lines end, so the eye needs no search.
std::vector<std::size_t> order_of_ends(const std::vector<Line>& lines) {
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return last_height(lines[a]) > last_height(lines[b]);
  });
  return order;
}

std::string draw_legend(const Chart& chart, const std::vector<std::size_t>& order, double left, double top,
                        double height) {
  const double distance =
      std::min(24.0, height / static_cast<double>(std::max<std::size_t>(order.size(), 1)));
  std::string svg;
  double y = top + 10;
  for (const std::size_t i : order) {
    const Line& line = chart.lines[i];
    svg += straight(left, y, left + 30, y, "class=\"line\" " + stroke(i, chart.lines));
    if (chart.markers != Markers::none && !line.reference) svg += marker(line, i, left + 15, y);
    svg += text(left + 38, y + 4.5, "class=\"key\"", line.label);
    y += distance;
  }
  return svg;
}

constexpr const char* kStyle = R"(<style>
text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #222; }
.title { font-size: 17px; font-weight: bold; }
.subtitle { font-size: 12.5px; fill: #666; }
.tick { font-size: 12px; fill: #555; }
.label, .key { font-size: 13px; }
.grid { stroke: #e3e3e3; stroke-width: 1; }
.axis { stroke: #555; stroke-width: 1.2; }
.line { fill: none; stroke-linejoin: round; }
.error { stroke-width: 1; }
.marker { stroke-width: 1.4; }
</style>
)";

// Lines whose ends lie far apart need a logarithmic axis; a line that merely starts near zero does not.
bool ends_far_apart(const std::vector<Line>& lines) {
  double lowest = INFINITY;
  double highest = 0;
  for (const Line& line : lines) {
    const double end = last_height(line);
    if (end <= 0) continue;
    lowest = std::min(lowest, end);
    highest = std::max(highest, end);
  }
  return highest > 6 * lowest;
}

Axis axis_of(const std::vector<double>& values, AxisScale scale, bool wide) {
  if (scale == AxisScale::close) return close_axis_for(values);
  if (scale == AxisScale::close_logarithmic) return close_log_axis_for(values);
  return axis_for(values, wide);
}

Frame frame_for(const Chart& chart, const Area& area) {
  constexpr double kSpanOfLinearSteps = 1e5;
  std::vector<double> x;
  std::vector<double> y;
  for (const Line& line : chart.lines) {
    x.insert(x.end(), line.x.begin(), line.x.end());
    y.insert(y.end(), line.y.begin(), line.y.end());
    for (std::size_t i = 0; i < line.error.size(); ++i) {
      y.push_back(line.y[i] - line.error[i]);
      y.push_back(line.y[i] + line.error[i]);
    }
  }
  const bool wide = !x.empty() && *std::max_element(x.begin(), x.end()) > kSpanOfLinearSteps;
  return {area, axis_of(x, chart.x_scale, wide), axis_of(y, chart.y_scale, ends_far_apart(chart.lines))};
}

std::string picture(double width, double height, const std::string& title, const std::string& subtitle,
                    double left, const std::string& inside) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "role=\"img\" "
             "aria-label=\"{2}\">\n",
             width, height, escape(title)) +
         kStyle + fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n", width, height) +
         text(left, 32, "class=\"title\"", title) + text(left, 54, "class=\"subtitle\"", subtitle) + inside +
         "</svg>\n";
}

std::string draw(const Chart& chart, const Frame& frame) {
  return draw_axes(frame, chart) + draw_labels(frame, chart) + draw_lines(frame, chart);
}

}  // namespace

std::string to_svg(const Chart& chart) {
  const Frame frame = frame_for(chart, {});
  const Area& area = frame.area;
  return picture(kWidth, kHeight, chart.title, chart.subtitle, area.left,
                 draw(chart, frame) + draw_legend(chart, order_of_ends(chart.lines), area.right + 20,
                                                  area.top, area.bottom - area.top + 30));
}

std::string to_svg(const ChartGrid& grid) {
  constexpr double kPanelWidth = 270;
  constexpr double kPanelHeight = 190;
  constexpr double kGapX = 76;
  constexpr double kGapY = 88;
  constexpr double kFirstTop = 104;
  constexpr double kFirstLeft = 82;
  const std::size_t columns = std::max<std::size_t>(grid.columns, 1);
  std::string inside;
  for (std::size_t i = 0; i < grid.charts.size(); ++i) {
    const double left = kFirstLeft + static_cast<double>(i % columns) * (kPanelWidth + kGapX);
    const double top = kFirstTop + static_cast<double>(i / columns) * (kPanelHeight + kGapY);
    const Frame frame = frame_for(grid.charts[i], {left, left + kPanelWidth, top, top + kPanelHeight});
    inside += text(left, top - 12, "class=\"label\"", grid.charts[i].title) + draw(grid.charts[i], frame);
  }
  const double right = kFirstLeft + static_cast<double>(columns) * (kPanelWidth + kGapX) - kGapX;
  const std::size_t rows = (grid.charts.size() + columns - 1) / columns;
  const double bottom = kFirstTop + static_cast<double>(rows) * (kPanelHeight + kGapY);
  if (!grid.charts.empty()) {
    std::vector<std::size_t> order(grid.charts.front().lines.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    inside += draw_legend(grid.charts.front(), order, right + 24, kFirstTop, bottom - kFirstTop);
  }
  return picture(right + 200, bottom - 20, grid.title, grid.subtitle, kFirstLeft, inside);
}

}  // namespace ration::plot
