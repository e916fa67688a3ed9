#include "pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ration::e5 {
namespace {

std::string opening(double width, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
}

std::string text(double x, double y, const std::string& attributes, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, words);
}

std::string straight(double x1, double y1, double x2, double y2, const std::string& attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

std::string titles(const std::string& title, const std::string& subtitle) {
  return text(20, 28, "font-size=\"17\" font-weight=\"bold\"", title) +
         text(20, 48, "fill=\"#555\"", subtitle);
}

// A square of the picture on which a plane is seen.
struct Square {
  double left, top, side, low, high;

  double x(double value) const { return left + side * (value - low) / (high - low); }
  double y(double value) const { return top + side * (high - value) / (high - low); }
  std::string point(double px, double py) const { return fmt::format("{:.1f},{:.1f}", x(px), y(py)); }
};

std::string line_through(const Square& square, const Path& path, const std::string& attributes) {
  std::string points;
  for (const std::vector<double>& p : path) points += square.point(p[0], p[1]) + " ";
  return fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", points, attributes);
}

// The points at which the loss is `excess` above its minimum: (H/2)^(-1/2) sqrt(excess) (cos, sin), about the
// minimum.
std::string contour(const Square& square, const PathPicture& picture, double excess) {
  const double a = picture.hessian[0] / 2, b = picture.hessian[1] / 2, d = picture.hessian[3] / 2;
  const double l11 = std::sqrt(a), l21 = b / l11, l22 = std::sqrt(d - l21 * l21);  // Cholesky
  Path path;
  constexpr int kPoints = 72;
  for (int i = 0; i <= kPoints; ++i) {
    const double angle = 2 * std::numbers::pi * i / kPoints;
    const double u = std::sqrt(excess) * std::cos(angle), v = std::sqrt(excess) * std::sin(angle);
    const double y = v / l22;
    path.push_back({picture.optimum[0] + (u - l21 * y) / l11, picture.optimum[1] + y});
  }
  return line_through(square, path, "stroke=\"#bbb\" stroke-width=\"1\"");
}

std::string dot(const Square& square, const std::vector<double>& at, double radius,
                const std::string& attributes) {
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}/>\n", square.x(at[0]), square.y(at[1]),
                     radius, attributes);
}

std::string panel(const Square& square, const PathPicture& picture, const PathPanel& one,
                  std::size_t number) {
  const std::string clip = fmt::format("panel{}", number);
  std::string svg = fmt::format(
      "<clipPath id=\"{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" "
      "height=\"{3:.1f}\"/></clipPath>\n"
      "<g clip-path=\"url(#{0})\">\n",
      clip, square.left, square.top, square.side);
  for (const double excess : {0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0})
    svg += contour(square, picture, excess);
  for (const Path& path : one.paths)
    svg += dot(square, path.back(), 2.2, "fill=\"#0072B2\" fill-opacity=\"0.45\"");
  for (std::size_t i = 0; i < std::min(picture.drawn, one.paths.size()); ++i)
    svg +=
        line_through(square, one.paths[i], "stroke=\"#E69F00\" stroke-width=\"1.3\" stroke-opacity=\"0.9\"");
  svg += dot(square, picture.start, 4, "fill=\"black\"") +
         text(square.x(picture.start[0]) + 6, square.y(picture.start[1]) - 6, "", "start");
  svg += dot(square, picture.optimum, 4, "fill=\"#D55E00\"") + "</g>\n";
  svg += fmt::format(
      "<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{2:.1f}\" fill=\"none\" "
      "stroke=\"#444\"/>\n",
      square.left, square.top, square.side);
  svg += text(square.left + square.side / 2, square.top - 8, "text-anchor=\"middle\"", one.title);
  for (int value = static_cast<int>(std::ceil(square.low)); value <= square.high; ++value) {
    svg += text(square.x(value), square.top + square.side + 16, "text-anchor=\"middle\" font-size=\"11\"",
                fmt::format("{}", value));
    if (number == 0)
      svg += text(square.left - 6, square.y(value) + 4, "text-anchor=\"end\" font-size=\"11\"",
                  fmt::format("{}", value));
  }
  return svg;
}

}  // namespace

std::string to_svg(const BarChart& chart) {
  constexpr double kLeft = 70, kTop = 74, kHeight = 260, kEach = 90;
  const double width = kLeft + kEach * static_cast<double>(chart.bars.size()) + 130;
  const auto y = [&](double value) {
    return kTop + kHeight * (chart.high - value) / (chart.high - chart.low);
  };
  std::string svg =
      opening(std::max(width, 560.0), kTop + kHeight + 50) + titles(chart.title, chart.subtitle);
  const double right = kLeft + kEach * static_cast<double>(chart.bars.size());
  for (double tick = chart.low; tick <= chart.high + 1e-9; tick += 5) {
    svg += straight(kLeft, y(tick), right, y(tick), "stroke=\"#ddd\"");
    svg += text(kLeft - 8, y(tick) + 4, "text-anchor=\"end\"", fmt::format("{:.0f}", tick));
  }
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const Bar& bar = chart.bars[i];
    const double x = kLeft + kEach * (static_cast<double>(i) + 0.5);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#0072B2\" "
        "fill-opacity=\"0.8\"/>\n",
        x - 0.3 * kEach, y(bar.value), 0.6 * kEach, y(chart.low) - y(bar.value));
    svg += straight(x, y(bar.value - bar.error), x, y(bar.value + bar.error), "stroke=\"black\"");
    svg += text(x, y(chart.low) + 18, "text-anchor=\"middle\"", bar.label);
    svg +=
        text(x, y(bar.value) + 18, "text-anchor=\"middle\" fill=\"white\"", fmt::format("{:.1f}", bar.value));
  }
  svg += straight(kLeft, y(chart.reference), right, y(chart.reference),
                  "stroke=\"#D55E00\" stroke-width=\"2\" stroke-dasharray=\"6 4\"");
  svg += text(right + 6, y(chart.reference) + 4, "fill=\"#D55E00\"", chart.reference_label);
  svg +=
      fmt::format("<text transform=\"translate(22 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                  kTop + kHeight / 2, chart.y_label);
  return svg + "</svg>\n";
}

std::string to_svg(const PathPicture& picture) {
  constexpr double kSide = 220, kGap = 16, kLeft = 44, kTop = 86;
  const auto count = static_cast<double>(picture.panels.size());
  std::string svg = opening(kLeft + count * (kSide + kGap) + 8, kTop + kSide + 34);
  svg += titles(picture.title, picture.subtitle);
  for (std::size_t i = 0; i < picture.panels.size(); ++i) {
    const Square square{kLeft + static_cast<double>(i) * (kSide + kGap), kTop, kSide, picture.low,
                        picture.high};
    svg += panel(square, picture, picture.panels[i], i);
  }
  return svg + "</svg>\n";
}

}  // namespace ration::e5
