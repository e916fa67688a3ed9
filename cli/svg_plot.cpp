#include "svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ration::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 480;
constexpr double kLeft = 82;
constexpr double kRight = 650;
constexpr double kTop = 78;
constexpr double kBottom = 416;

// Okabe and Ito's colours: told apart by colour-blind readers too.
constexpr std::array kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};

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

// 1, 2 or 5 times a power of ten, so that four to seven ticks fit.
double round_tick_distance(double span) {
  const double rough = span / 7;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

double power_of_ten_below(double value) {
  return std::pow(10.0, std::floor(std::log10(value) + 1e-9));
}

// The largest of 1, 2, 5 times a power of ten that is not above the value.
double round_below(double value) {
  const double power = power_of_ten_below(value);
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

// 1, 2, 5 in each decade while there are few of them, then every decade, then every few.
std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 7)));
  const std::vector<double> factors = decades <= 3 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  std::vector<double> ticks;
  for (double power = power_of_ten_below(low); power <= high; power *= std::pow(10.0, stride)) {
    for (const double factor : factors) {
      const double tick = factor * power;
      if (tick >= low * (1 - 1e-9) && tick <= high) ticks.push_back(tick);
    }
  }
  return ticks;
}

// 1,000,000 is hard to tell from 100,000 on an axis; 1e6 is not.
std::string tick_label(double value) {
  const double rounded = std::abs(value) < 1e-12 ? 0 : value;
  if (rounded != 0 && (std::abs(rounded) >= 1e6 || std::abs(rounded) < 1e-3)) {
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9));
    return fmt::format("{:.3g}e{}", rounded / std::pow(10.0, exponent), exponent);
  }
  return fmt::format("{:.6g}", rounded);
}

struct Frame {
  Axis x;
  Axis y;

  double across(double value) const { return kLeft + x.position(value) * (kRight - kLeft); }
  double down(double value) const { return kBottom - y.position(value) * (kBottom - kTop); }
  bool shows(double at_x, double at_y) const {
    return std::isfinite(at_x) && std::isfinite(at_y) && (!x.logarithmic || at_x > 0) &&
           (!y.logarithmic || at_y > 0);
  }
};

std::string draw_axes(const Frame& frame, const Chart& chart) {
  std::string svg;
  for (const double tick : frame.y.ticks()) {
    const double y = frame.down(tick);
    svg += straight(kLeft, y, kRight, y, "class=\"grid\"");
    svg += text(kLeft - 10, y + 4.5, "class=\"tick\" text-anchor=\"end\"", tick_label(tick));
  }
  for (const double tick : frame.x.ticks()) {
    const double x = frame.across(tick);
    svg += straight(x, kBottom, x, kBottom + 5, "class=\"axis\"");
    svg += text(x, kBottom + 22, "class=\"tick\" text-anchor=\"middle\"", tick_label(tick));
  }
  svg += straight(kLeft, kBottom, kRight, kBottom, "class=\"axis\"");
  const double middle_x = (kLeft + kRight) / 2;
  const double middle_y = (kTop + kBottom) / 2;
  svg += text(middle_x, kBottom + 46, "class=\"label\" text-anchor=\"middle\"",
              chart.x_label + (frame.x.logarithmic ? " (log scale)" : ""));
  svg += text(
      24, middle_y,
      fmt::format("class=\"label\" text-anchor=\"middle\" transform=\"rotate(-90 24 {:.1f})\"", middle_y),
      chart.y_label + (frame.y.logarithmic ? " (log scale)" : ""));
  return svg;
}

std::string path_of(const Frame& frame, const Line& line) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!frame.shows(line.x[i], line.y[i])) {
      pen_down = false;
      continue;
    }
    path +=
        fmt::format("{}{:.1f} {:.1f} ", pen_down ? "L" : "M", frame.across(line.x[i]), frame.down(line.y[i]));
    pen_down = true;
  }
  return path;
}

// Later lines are thinner, so that of two that coincide both are seen.
std::string stroke(std::size_t index, const std::vector<Line>& lines) {
  const double width = 1.8 + 0.5 * static_cast<double>(lines.size() - 1 - index);
  return fmt::format("stroke=\"{}\" stroke-width=\"{:.1f}\"{}", kColours[index % kColours.size()], width,
                     lines[index].dashed ? " stroke-dasharray=\"7 5\"" : "");
}

std::string draw_lines(const Frame& frame, const std::vector<Line>& lines) {
  std::string svg;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    svg += fmt::format("<path class=\"line\" d=\"{}\" {}/>\n", path_of(frame, lines[i]), stroke(i, lines));
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
std::string draw_legend(const std::vector<Line>& lines) {
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return last_height(lines[a]) > last_height(lines[b]);
  });
  std::string svg;
  double y = kTop + 10;
  for (const std::size_t i : order) {
    svg += straight(kRight + 20, y, kRight + 50, y, "class=\"line\" " + stroke(i, lines));
    svg += text(kRight + 58, y + 4.5, "class=\"key\"", lines[i].label);
    y += 24;
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

Frame frame_for(const std::vector<Line>& lines) {
  constexpr double kSpanOfLinearSteps = 1e5;
  std::vector<double> x;
  std::vector<double> y;
  for (const Line& line : lines) {
    x.insert(x.end(), line.x.begin(), line.x.end());
    y.insert(y.end(), line.y.begin(), line.y.end());
  }
  const bool wide = !x.empty() && *std::max_element(x.begin(), x.end()) > kSpanOfLinearSteps;
  return {axis_for(x, wide), axis_for(y, ends_far_apart(lines))};
}

}  // namespace

double Axis::position(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<double> Axis::ticks() const {
  if (logarithmic) return log_ticks(low, high);
  const double distance = round_tick_distance(high - low);
  std::vector<double> ticks;
  for (double k = std::ceil(low / distance - 1e-9); k * distance <= high * (1 + 1e-9); ++k) {
    ticks.push_back(k * distance);
  }
  return ticks;
}

Axis axis_for(const std::vector<double>& values, bool logarithmic) {
  double smallest = INFINITY;
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  if (largest == 0) return {};
  if (!logarithmic) return {.low = 0, .high = largest * 1.03, .logarithmic = false};
  return {.low = round_below(smallest), .high = largest * 1.1, .logarithmic = true};
}

std::string to_svg(const Chart& chart) {
  const Frame frame = frame_for(chart.lines);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" "
      "aria-label=\"{2}\">\n",
      kWidth, kHeight, escape(chart.title));
  svg += kStyle;
  svg += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n", kWidth, kHeight);
  svg += text(kLeft, 32, "class=\"title\"", chart.title);
  svg += text(kLeft, 54, "class=\"subtitle\"", chart.subtitle);
  svg += draw_axes(frame, chart) + draw_lines(frame, chart.lines) + draw_legend(chart.lines);
  return svg + "</svg>\n";
}

}  // namespace ration::cli
