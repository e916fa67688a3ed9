#include "plot/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <set>

namespace ration::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Whether every tag closes in order and no bare & or < stands in the text: enough to catch what a writer gets
// wrong.
bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = svg.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return false;
    const std::string name = tag.substr(0, tag.find(' '));
    if (name.starts_with("/")) {
      if (open.empty() || open.back() != name.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
    }
  }
  return open.empty() && svg.find("& ") == std::string::npos;
}

Chart two_lines() {
  return {.title = "a < b & c",
          .subtitle = "\"quoted\"",
          .x_label = "steps",
          .y_label = "epsilon",
          .lines = {{.label = "rdp", .x = {1, 2, 3}, .y = {1, 2, 3}},
                    {.label = "gdp", .x = {1, 2, 3}, .y = {1, 1.5, 2}, .dashed = true}}};
}

TEST(SvgPlot, TheCheckItselfRejectsBrokenText) {
  EXPECT_TRUE(is_well_formed("<svg><a b=\"c\"/><t>x</t></svg>"));
  EXPECT_FALSE(is_well_formed("<svg><t>x</svg></t>"));
  EXPECT_FALSE(is_well_formed("<svg><t>a & b</t></svg>"));
  EXPECT_FALSE(is_well_formed("<svg"));
}

TEST(SvgPlot, IsWellFormedAndEscapesItsText) {
  const std::string svg = to_svg(two_lines());
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, HasSubstr("&quot;quoted&quot;"));
}

TEST(SvgPlot, OnlyUncertifiedLinesAreDashed) {
  Chart chart = two_lines();
  EXPECT_THAT(to_svg(chart), HasSubstr("stroke-dasharray"));
  chart.lines.pop_back();
  EXPECT_THAT(to_svg(chart), Not(HasSubstr("stroke-dasharray")));
}

TEST(SvgPlot, ValuesThatAreNotFiniteLeaveAGap) {
  Chart chart = two_lines();
  chart.lines[0].y = {1, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
  const std::string svg = to_svg(chart);
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_THAT(svg, Not(HasSubstr("inf ")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgPlot, NothingToDrawIsStillAPicture) {
  EXPECT_TRUE(is_well_formed(to_svg(Chart{})));
  EXPECT_TRUE(is_well_formed(to_svg(Chart{.lines = {{}}})));
}

TEST(SvgPlot, LinesThatEndFarApartGetALogarithmicAxis) {
  Chart chart = two_lines();
  EXPECT_THAT(to_svg(chart), Not(HasSubstr("log scale")));
  chart.lines[0].y = {100, 200, 300};
  EXPECT_THAT(to_svg(chart), HasSubstr("epsilon (log scale)"));
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Chart many_lines(std::size_t count) {
  Chart chart = two_lines();
  chart.lines.clear();
  chart.markers = Markers::every_point;
  for (std::size_t i = 0; i < count; ++i) {
    const double y = static_cast<double>(i);
    chart.lines.push_back(
        {.label = "line " + std::to_string(i), .x = {1, 2}, .y = {y, y}, .error = {0.1, 0.2}, .look = i});
  }
  return chart;
}

TEST(SvgPlot, ErrorsAreBarsWithTwoEnds) {
  EXPECT_EQ(count_of(to_svg(many_lines(3)), "class=\"error\""), 3u * 2 * 3);
  Chart chart = many_lines(1);
  chart.lines[0].error[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(count_of(to_svg(chart), "class=\"error\""), 3u);
}

TEST(SvgPlot, MarkersStandAtEveryPointOrTheLastAndInTheLegend) {
  Chart chart = many_lines(4);
  EXPECT_EQ(count_of(to_svg(chart), "class=\"marker\""), 4u * (2 + 1));
  chart.markers = Markers::last_point;
  EXPECT_EQ(count_of(to_svg(chart), "class=\"marker\""), 4u * (1 + 1));
  chart.markers = Markers::none;
  EXPECT_EQ(count_of(to_svg(chart), "class=\"marker\""), 0u);
}

// Colour, dashes and marker together tell 16 lines apart.
TEST(SvgPlot, SixteenLooksAreDifferent) {
  std::set<std::string> looks;
  for (std::size_t look = 0; look < 16; ++look) {
    Chart chart = many_lines(1);
    chart.lines[0].look = look;
    chart.lines[0].label = "same";
    looks.insert(to_svg(chart));
  }
  EXPECT_EQ(looks.size(), 16u);
}

TEST(SvgPlot, SixteenNamesFitBesideTheLines) {
  const std::string svg = to_svg(many_lines(16));
  EXPECT_TRUE(is_well_formed(svg));
  static const std::regex key("y=\"([0-9.]+)\" class=\"key\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), key), end; at != end; ++at)
    EXPECT_LT(std::stod((*at)[1]), 470);
}

TEST(SvgPlot, AReferenceIsGreyAndHasNoMarker) {
  Chart chart = many_lines(1);
  chart.lines[0].reference = true;
  EXPECT_THAT(to_svg(chart), HasSubstr("#888888"));
  EXPECT_THAT(to_svg(chart), Not(HasSubstr("class=\"marker\"")));
}

TEST(SvgPlot, AGridHasEveryChartAndOneLegend) {
  Chart chart = many_lines(2);
  chart.title = "panel";
  const std::string svg =
      to_svg(ChartGrid{.title = "all", .subtitle = {}, .columns = 2, .charts = {chart, chart, chart}});
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(count_of(svg, ">panel<"), 3u);
  EXPECT_EQ(count_of(svg, ">line 1<"), 1u);
  EXPECT_TRUE(is_well_formed(to_svg(ChartGrid{})));
}

TEST(Axis, ACloseOneDoesNotBeginAtZero) {
  const Axis axis = close_axis_for({80, 85, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_NEAR(axis.low, 79.7, 1e-9);
  EXPECT_NEAR(axis.high, 85.3, 1e-9);
  EXPECT_LT(close_axis_for({3, 3}).low, 3);
  EXPECT_GT(close_axis_for({3, 3}).high, 3);
  EXPECT_EQ(close_axis_for({}).high, 1);
  const Axis log = close_log_axis_for({0.05, 1.6, -1});
  EXPECT_TRUE(log.logarithmic);
  EXPECT_NEAR(log.position(0.05), 0.06 / 1.12, 1e-9);
  EXPECT_NEAR(log.position(1.6), 1.06 / 1.12, 1e-9);
  EXPECT_GT(close_log_axis_for({}).low, 0);
}

TEST(Axis, LinearTicksAreRound) {
  EXPECT_THAT(axis_for({1, 1000}, false).ticks(), ElementsAre(0, 200, 400, 600, 800, 1000));
  EXPECT_THAT(axis_for({0.5, 3}, false).ticks(), ElementsAre(0, 0.5, 1, 1.5, 2, 2.5, 3));
}

TEST(Axis, LogarithmicTicksAreOneTwoFive) {
  const Axis axis = axis_for({0.3, 20}, true);
  EXPECT_DOUBLE_EQ(axis.low, 0.2);
  EXPECT_THAT(axis.ticks(),
              ::testing::Pointwise(::testing::DoubleNear(1e-9), {0.2, 0.5, 1., 2., 5., 10., 20.}));
  EXPECT_LE(axis_for({1e-5, 1e9}, true).ticks().size(), 8u);
}

TEST(Axis, PositionRunsFromZeroToOne) {
  const Axis linear = axis_for({1, 10}, false);
  EXPECT_DOUBLE_EQ(linear.position(linear.low), 0);
  EXPECT_DOUBLE_EQ(linear.position(linear.high), 1);
  const Axis logarithmic = axis_for({1, 1000}, true);
  EXPECT_DOUBLE_EQ(logarithmic.position(logarithmic.low), 0);
  EXPECT_DOUBLE_EQ(logarithmic.position(logarithmic.high), 1);
}

}  // namespace
}  // namespace ration::plot
