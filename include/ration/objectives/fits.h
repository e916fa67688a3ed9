// For extensions: may change between minor versions.
#pragma once

#include <cstdint>
#include <variant>

namespace ration {

// How the oracle may fit a model before it adds noise to it (output perturbation). All start at w = 0.

// Full gradient descent: `steps` times w -= step_size * gradient. [ZhangZMW17, Alg. 1]
struct DescentFit {
  std::uint64_t steps = 10;  // >= 1
  double step_size = 1;      // > 0
};

// Gradient descent over small batches: the rows are permuted once and cut into batches, and each pass takes
// one step per batch, w -= step_size * (gradients' sum / batch + ridge * w).
//
// last           The batches come in the same order in every pass, and the last iterate is the fit. [Wu17,
//                Alg. 1 and 2]
// pass_averages  Every pass ends at the average of its iterates [ChenLK19], and every second pass takes the
//                batches in reverse. A row that comes early in one pass, and is in nearly all of its
//                iterates, so comes late in the next: over two passes every row counts as much as one at
//                their middle. The paper permutes anew in each pass and has that on average, as a "randomised
//                sensitivity".
struct PassesFit {
  // Which iterate the passes end at; see above.
  enum class Result { last, pass_averages };

  std::uint64_t passes = 10;     // >= 1
  std::uint64_t batch = 50;      // >= 1
  double step_size = 0.01;       // > 0
  Result result = Result::last;  // what the fit is

  // Batches of a pass over so many rows, the last of them perhaps smaller.
  std::uint64_t steps_per_pass(std::uint64_t rows) const {
    return rows / batch + (rows % batch == 0 ? 0 : 1);
  }
};

// One of the ways to fit.
using AnyFit = std::variant<DescentFit, PassesFit>;

}  // namespace ration
