#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  std::size_t runs = 0;  // that have it; without any there is no mean
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
  Figure auc{};
  Figure log_loss{};
  Figure r2{};
  Figure mean_absolute_error{};
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

// What tables and plots show of a cell.
struct Measure {
  const char* key;    // in names of files
  const char* title;  // of a table
  const char* axis;   // of a plot
  Figure Cell::*figure;
  double unit;  // how many of what is shown make 1
  int digits;   // behind the point
  int better;   // +1: more is, -1: less is

  // "83.71 ± 0.12" with the sign of one's choice, or "-".
  std::string show(const Cell& cell, std::string_view plus_minus) const;
};
// Of test rows; not every model has each of them.
inline constexpr Measure kTestMeasures[] = {
    {"accuracy", "Test accuracy in percent", "accuracy, percent", &Cell::accuracy, 100, 2, 1},
    {"auc", "Test AUC", "AUC", &Cell::auc, 1, 4, 1},
    {"log_loss", "Test log loss", "log loss", &Cell::log_loss, 1, 4, -1},
    {"r2", "Test R^2", "R^2", &Cell::r2, 1, 4, 1},
    {"mean_absolute_error", "Test mean absolute error", "mean absolute error", &Cell::mean_absolute_error, 1,
     6, -1}};
inline constexpr Measure kObjective = {
    "objective", "Objective (mean training loss)", "mean training loss", &Cell::objective, 1, 4, -1};

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
  // Whether a method has it.
  bool has(const Measure& measure, const std::string& data, const std::string& model) const;
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
