#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/ahead.h"
#include "ration/objectives/weights.h"
#include "ration/steps/kinds.h"

namespace ration {

// What the door hands out: a gradient that is private already. Everything in this folder is post-processing
// of it and of public numbers, and may be changed without a privacy proof.
struct NoisyGradient {
  std::span<const double> value;
  double noise_stddev = 0;  // >= 0: of each coordinate, public; only the noise correction uses it
};

// The defaults are Adam's; `usual_step_options` has those of the other kinds. A kind ignores what its formula
// does not contain.
struct StepOptions {
  StepKind kind = StepKind::sgd;
  double momentum = 0.9;           // in [0, 1)
  double second_momentum = 0.999;  // in (0, 1)
  double stability = 1e-8;         // > 0
  double weight_decay = 0;         // >= 0: weight_decay * w is added to the gradient; adamw: to the direction
  bool noise_correction = false;   // adam, adamw and nadam only, see below
  bool in_floats =
      false;  // weights, and what coordinates remember, are kept in 32 bits: half as much to read and write
};

// The options that a kind's authors or common use recommend: the defaults, except second_momentum 0.99 for
// rmsprop, second_momentum 0.95 and stability 1e-6 for adadelta (whose learning rate is 1).
StepOptions usual_step_options(StepKind kind);

// Noise correction: the noise adds its variance to the second moment, and where it dominates, Adam divides
// every coordinate by the same number and is SGD. The variance is public, so it is subtracted again:
//
//   s/(1-r^t)  becomes max(s/(1-r^t) - n, floor), n the average of noise_stddev^2 with the weights of s.
//
// For constant noise, n = noise_stddev^2 and this is DP-AdamBC [Tang24], but for the e that stays in the
// denominator; the average keeps it right under a noise schedule. The floor is `stability`, or the
// uncorrected moment where that is lower; without noise the rule is therefore Adam to the last bit.
// Edge cases  a coordinate without signal falls to the floor about half of the time, two times of three in
//             the first step, and then moves by learning_rate * |first moment| / sqrt(stability): with the
//             correction choose stability near the smallest squared gradient that matters, not 1e-8.

// How w follows the gradients; the state of one run.
class StepRule {
 public:
  StepRule() = default;
  StepRule(const StepRule&) = delete;
  StepRule& operator=(const StepRule&) = delete;
  virtual ~StepRule() = default;

  // Moves w in place, without allocating. Throws InputError, and changes nothing, if a size does not fit, w
  // is in other numbers than the rule, the learning rate is not >= 0 or the noise that a correction needs is
  // not >= 0.
  void step(const NoisyGradient& gradient, double learning_rate, AnyNumbers w);

  // The same block by block, for gradients that come in parts: first what all coordinates share, then each of
  // them once. move() takes the coordinates from `first` on, of the gradient and of w, and says whether those
  // of w are still finite; blocks that do not overlap may be moved by several threads at once.
  virtual void begin(double noise_stddev, double learning_rate) = 0;
  virtual bool move(std::size_t first, std::span<const double> gradient, AnyNumbers w) = 0;
  // The memory that move() will touch for these coordinates, beside gradient and w.
  virtual void expect(std::size_t first, std::size_t count, Ahead& ahead) const = 0;
  virtual std::size_t parameters() const = 0;

  // The run state, for a checkpoint; a rule made from the same options that restores it goes on bit by bit
  // as this one would. `restore` throws InputError if it is not such a state.
  virtual std::vector<double> save() const = 0;
  virtual void restore(std::span<const double> state) = 0;
};

// Throws InputError unless the options keep the inequalities above and there is at least one parameter.
std::unique_ptr<StepRule> make_step_rule(const StepOptions& options, std::size_t parameters);

}  // namespace ration
