#pragma once

namespace ration {

// A bound R that follows a quantile of the gradients' norms: `abadi` clips with the current R while this
// moves it.
//
// Formula     R <- R exp(-rate (b - target)), b the share of rows whose norm is at most R.
// Guarantee   post-processing: b is a *noisy* count (sensitivity: count_sensitivity) over a public divisor;
//             whoever asks for the count charges it. R depends on nothing else.
// Edge cases  noise can make b any number; it is taken into [0, 1], so that one step moves R by at most
//             e^rate. A b that is not a number leaves R as it is.
// [Andrew21, Sec. 2]
struct QuantileFollower {
  double target = 0.5;  // in [0, 1]: the quantile to follow
  double rate = 0.2;    // > 0

  double next_bound(double bound, double noisy_count, double divisor) const;
};

}  // namespace ration
