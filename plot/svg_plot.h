#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plot/svg_axis.h"

namespace ration::plot {

// A line chart as a self-contained SVG: labelled axes with round ticks, a legend beside the lines, and a
// logarithmic axis where the values span too much for a linear one.
struct Line {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;  // as long as x; a value that is not finite leaves a gap
  bool dashed = false;
  std::vector<double> error{};  // empty, or as long as x: bars of this much up and down, where it is finite
  // One of 16 combinations of colour, marker and dashes, the same in every chart; without it, colours in
  // order.
  std::optional<std::size_t> look{};
  bool reference = false;  // thin and grey: what the others are held against
};

enum class AxisScale { automatic, close, close_logarithmic };  // automatic begins at 0
enum class Markers { none, every_point, last_point };

struct Chart {
  std::string title{};
  std::string subtitle{};
  std::string x_label{};
  std::string y_label{};
  std::vector<Line> lines{};
  AxisScale x_scale = AxisScale::automatic;
  AxisScale y_scale = AxisScale::automatic;
  std::vector<double> x_ticks{};  // in place of round ones
  Markers markers = Markers::none;
};

std::string to_svg(const Chart& chart);

// Small charts side by side, row after row, under one title and with one legend: that of the first chart's
// lines.
struct ChartGrid {
  std::string title{};
  std::string subtitle{};
  std::size_t columns = 1;
  std::vector<Chart> charts{};
};

std::string to_svg(const ChartGrid& grid);

}  // namespace ration::plot
