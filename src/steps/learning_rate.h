#pragma once

#include <cstdint>

#include "ration/steps/kinds.h"

namespace ration {

// The learning rate of each step: a linear warm-up, base * t/(warm_up + 1) in steps t = 1 ... warm_up, and
// then with s = 0, 1, ... counting the steps after it
//
//   constant  base
//   cosine    base (1 + cos(pi s/(total - warm_up)))/2, which reaches 0 at step total + 1 and stays there
//             [Loshchilov17, Eq. 5, without restarts]
//   step      base * drop_factor^floor(s/drop_every)
struct LearningRate {
  double base = 0.1;  // > 0
  RateShape shape = RateShape::constant;
  std::int64_t warm_up = 0;     // >= 0
  std::int64_t drop_every = 0;  // step shape: >= 1
  double drop_factor = 0.1;     // step shape: in (0, 1)

  // `step` counts from 1; only the cosine needs `total`, and needs it to be >= 1. Throws InputError if an
  // inequality fails; at(1, total) therefore also checks the whole before a run.
  double at(std::int64_t step, std::int64_t total) const;
};

}  // namespace ration
