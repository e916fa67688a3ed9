#pragma once

#include <string>
#include <vector>

#include "compare/results.h"
#include "plot/svg_plot.h"

namespace ration::cli {

// The pictures of one data set and model.
plot::Chart measure_chart(const compare::Results& results, const std::string& data, const std::string& model,
                          const compare::Measure& measure);
// Budget spent, step size and noise against iteration: three rows, a column for each epsilon.
plot::ChartGrid trace_charts(const compare::Results& results, const std::string& data,
                             const std::string& model);

// Writes all of them into the folder as accuracy-<data>-<model>.svg, auc-... and so on, objective-... and
// trace-..., and as .png if the program can; returns the names of the files.
std::vector<std::string> write_plots(const compare::Results& results, const std::string& folder);

}  // namespace ration::cli
