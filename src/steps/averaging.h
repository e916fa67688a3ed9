#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ahead.h"
#include "ration/steps/kinds.h"

namespace ration {

struct AverageOptions {
  Averaging kind = Averaging::none;
  double decay = 0.9;  // exponential: in [0, 1)
};

// A memory of a tenth of the run: long beside the noise of a step, short beside the way that the weights go.
double usual_average_decay(std::int64_t steps);

// The average of the iterates w_1, w_2, ... of a run. It costs no privacy and takes out much of the noise
// that is in the last of them [Polyak92].
//
//   none         the last iterate
//   half         the mean of those of steps t > total/2 [Rakhlin12, suffix averaging]
//   exponential  (1-decay) sum_i decay^(t-i) w_i / (1-decay^t): the weights sum to 1 from the first step on
//
// Edge cases  a run that stops before its second half ends with its last iterate; decay 0 is `none`.
class IterateAverage {
 public:
  // Throws InputError unless the options keep their inequality, there is a parameter and, for `half`,
  // total_steps >= 1.
  IterateAverage(const AverageOptions& options, std::size_t parameters, std::int64_t total_steps);

  // After each step; `step` counts from 1 and rises.
  void add(std::int64_t step, std::span<const double> w);
  // The same block by block: begin() once, then each coordinate once. Blocks that do not overlap may be added
  // by several threads at once.
  void begin(std::int64_t step);
  void add_block(std::size_t first, std::span<const double> w);
  void add_block(std::size_t first, std::span<const float> w);
  // The memory that add_block() will touch.
  void expect_block(std::size_t first, std::size_t count, Ahead& ahead) const;

  // What was averaged, or `last` if nothing was yet: the iterate that was added last, or the start of a run
  // without a step. No copy of it is kept here. `out` may be `last`.
  void result(std::span<const double> last, std::span<double> out) const;

  // For a checkpoint; `restore` throws InputError if it is not a state of such an average.
  std::vector<double> save() const;
  void restore(std::span<const double> state);

 private:
  double weight_of_newest() const;
  template <class Number>
  void add_numbers(std::size_t first, std::span<const Number> w);

  AverageOptions options_;
  std::int64_t total_steps_;
  std::size_t parameters_;
  std::int64_t averaged_ = 0;    // how many iterates are in the average
  double weight_ = 0;            // of the iterate that is being added
  std::vector<double> average_;  // empty for `none`
};

}  // namespace ration
