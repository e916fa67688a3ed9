#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/run.h"

namespace ration::compare {

// The mean of a figure over the runs of a cell, and its standard error: deviation / sqrt(runs), none for a
// single run.
//
// The error covers the noise and which rows were tested on. It treats runs as independent, which folds are
// not quite (any two share most of their training rows), so it is a little too small as an error for fresh
// rows.
struct Figure {
  double mean = 0;
  std::optional<double> error{};
};
Figure figure_of(const std::vector<double>& values);

// One place of the table: a method at an epsilon, on a data set with a model.
struct Cell {
  std::string data;
  std::string model;
  std::string method;
  double epsilon = 0;
  bool is_private = true;
  std::size_t runs = 0;  // that are finished and were not refused
  Figure accuracy{};
  Figure loss{};
  Figure objective{};
  Figure seconds{};
  double steps = 0;  // mean
  std::optional<double> epsilon_spent{};
  std::optional<double> noise_multiplier{};
  std::string accountant{};
  std::string relation{};
  std::string refused{};  // why it could not be run
};

// The place of a data set's name in cells that are means over all of them.
inline constexpr const char* kMeanOfData = "mean";

struct Results {
  Comparison comparison;
  std::size_t jobs = 0;
  std::size_t jobs_done = 0;
  // By data, model, method, epsilon, in the comparison's order; then, of several data sets, their means.
  // These count each data set alike, and have runs only where each has some.
  std::vector<Cell> cells;
  std::vector<Trace> traces;

  bool finished() const { return jobs_done == jobs; }
  // Whose cells there are: the data sets, and their mean.
  std::vector<std::string> data_names() const;
  // The first cell of a list of runs that match; nullptr if there is none.
  const Cell* find(const std::string& data, const std::string& model, const std::string& method,
                   double epsilon) const;
};

// What does not depend on epsilon is repeated for each.
Results results_of(const Comparison& comparison, const std::vector<Run>& runs, std::vector<Trace> traces);

// What must be said with every result.
std::string warning();

std::string to_csv(const Results& results);
std::string to_markdown(const Results& results);
// One object with stable keys, indented, ending in a newline.
std::string to_json(const Results& results);

}  // namespace ration::compare
