#pragma once

#include <string>
#include <vector>

namespace ration::e5 {

struct Bar {
  std::string label;
  double value = 0;
  double error = 0;  // drawn up and down
};
// Bars that begin at `low`, and a line across at `reference`.
struct BarChart {
  std::string title, subtitle, y_label;
  double low = 0, high = 1;
  double reference = 0;
  std::string reference_label;
  std::vector<Bar> bars{};
};
std::string to_svg(const BarChart& chart);

using Path = std::vector<std::vector<double>>;  // points (x, y)

// Where runs went on a quadratic: contours of the loss, some paths, and where all of them ended.
struct PathPanel {
  std::string title;
  std::vector<Path> paths{};
};
struct PathPicture {
  std::string title, subtitle;
  double low = -2, high = 3;           // of both axes
  std::vector<double> start, optimum;  // (x, y)
  std::vector<double> hessian;         // row after row
  std::size_t drawn = 5;               // paths of each panel
  std::vector<PathPanel> panels{};     // side by side
};
std::string to_svg(const PathPicture& picture);

}  // namespace ration::e5
