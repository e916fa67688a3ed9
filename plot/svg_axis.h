#pragma once

#include <string>
#include <vector>

namespace ration::plot {

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
// Linear, from a little below the smallest finite value to a little above the largest.
Axis close_axis_for(const std::vector<double>& values);
// Logarithmic likewise, for the positive ones.
Axis close_log_axis_for(const std::vector<double>& values);

// 1,000,000 is hard to tell from 100,000 on an axis; 1e6 is not.
std::string tick_label(double value);

}  // namespace ration::plot
