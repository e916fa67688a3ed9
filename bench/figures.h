#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ration::bench {

// What one benchmark measured: medians over its repetitions.
struct Measured {
  double milliseconds;                     // of processor time for one iteration
  double items_per_second;                 // 0 if it counts none
  std::map<std::string, double> counters;  // what it set besides
};
using Measurements = std::map<std::string, Measured>;

// A number we promise: where it comes from and what it must reach.
struct Figure {
  enum class Goal { at_most, at_least };
  std::string name;
  std::string unit;
  double target;
  Goal goal;
  // The benchmarks it is read from, and how.
  std::vector<std::string> needs;
  std::function<double(const Measurements&)> value;
  bool per_set = false;  // depends on the instruction set: measured with each that the machine has
};

const std::vector<Figure>& figures();

}  // namespace ration::bench
