#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/run.h"

namespace ration::compare {

// Lines of runs.csv and trace.csv. A line that is not whole, such as the last one of a process that was
// killed, is nothing.
std::string runs_header();
std::string to_line(const Run& run);
std::optional<Run> run_of_line(std::string_view line);

std::string trace_header();
std::string to_lines(const Trace& trace);
struct TraceLine {
  RunName name;
  TracePoint point;
};
std::optional<TraceLine> trace_of_line(std::string_view line);

}  // namespace ration::compare
