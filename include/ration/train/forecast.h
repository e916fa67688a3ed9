// Stable: changes only with a new major version.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ration/data/schema.h"
#include "ration/train/plan.h"

namespace ration {

// What a budget buys on made-up tables of the shape that a schema describes, told before a row is read.
//
// Tables      columns, categories and bounds are the schema's; values are skewed and go together by a common
//             factor; labels follow a model that is linear in some columns and bends in others. Of several
//             difficulties, told by the accuracy of who knows that model, and shares of classes, since
//             neither is known of the real table.
// Rows        at most `most_rows`, with the noise made as much smaller in proportion: method auto sees all
//             rows in every step, so what it does depends on noise over rows alone. Fewer rows fit the
//             labels' chance a little more, so figures of many rows are on the low side.
struct ForecastOptions {
  std::size_t most_rows = 8000;  // >= 100, to train on
  std::size_t repeats = 3;       // fits with noise, of which the mean is told
  std::uint64_t seed = 1;        // of tables and noise: made up, so nothing private hangs on it
  std::size_t threads = 0;       // 0: one per processor
};

// How well a model does on one table: expected over labels, so that there is no chance of labels in it.
struct ForecastScore {
  double accuracy = 0;          // 0 to 1
  std::optional<double> auc{};  // of two classes
};

// One made-up table.
struct ForecastTable {
  double possible = 0;                      // accuracy of who knows how it was made
  double largest = 0;                       // share of the most frequent class
  ForecastScore without_privacy;            // of a plain fit
  std::vector<ForecastScore> with_privacy;  // for each budget
};

// All of them.
struct Forecast {
  std::vector<double> epsilons;       // half the plan's, the plan's, its double
  std::size_t rows = 0;               // declared
  std::size_t simulated = 0;          // trained on
  std::vector<ForecastTable> tables;  // one of each difficulty
};

// Reads no row. InputError, with what would do, unless the plan declares rows and has method auto, and the
// schema is one of a table whose label has classes.
Forecast forecast(const Plan& plan, const data::Schema& schema, const ForecastOptions& options = {});

}  // namespace ration
