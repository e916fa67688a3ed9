#pragma once

#include <string>
#include <vector>

namespace ration::cli {

// A line chart as a self-contained SVG: labelled axes with round ticks, a legend beside the lines, and a
// logarithmic axis where the values span too much for a linear one.
struct Line {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;  // as long as x; a value that is not finite leaves a gap
  bool dashed = false;
};

struct Chart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  std::vector<Line> lines;
};

std::string to_svg(const Chart& chart);

// The parts of an axis, exposed for their tests.
struct Axis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;

  // 0 at low, 1 at high.
  double position(double value) const;
  std::vector<double> ticks() const;
};

// Covers the positive, finite values: linear from 0, or logarithmic from a round number below the smallest.
Axis axis_for(const std::vector<double>& values, bool logarithmic);

}  // namespace ration::cli
