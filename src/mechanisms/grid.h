#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace ration {

// The public grid on which a noisy value is released: the multiples of a power of two that depends on the
// public parameters of a mechanism and on nothing else.
//
// Why a grid  A double has more low-order bits near zero than far from it, so the set of doubles that
//             value + noise can reach depends on the value, and one look at the low-order bits can tell two
//             neighbours apart whatever the noise is [Mironov12]. Here the value is rounded to the grid
//             first and the noise second; both are whole numbers of steps, and so is their sum, for every
//             value.
// Guarantee   Let V be the rounded value and N ideal real noise. V is a whole number of steps, so
//             V + round(N) = round(V + N): the release is post-processing of the ideal V + N. Turning the
//             exact sum into a double rounds once more beyond 2^53 steps, by a rule that knows only the sum:
//             post-processing again, and still on the grid, because doubles of that size are multiples of a
//             step.
// Sensitivity Rounding moves a coordinate by at most half a step on each of two neighbours, so two
//             d-dimensional neighbours drift apart by at most sqrt(d) * step in L2 and d * step in L1. Each
//             mechanism adds that to its sensitivity.
// The step    2^-24 of the smaller of sensitivity and noise, so that the drift costs little (6e-5 of the
//             noise for a million coordinates in L2), but no finer than 2^-30 of the noise, so that a sampler
//             in double precision nearly always knows to which step its noise rounds (base/distributions.h)
//             and the noise fits exact integer arithmetic.
// Edge cases  NaN becomes 0. Values beyond 2^62 steps (at least 2^32 times the noise), infinite ones too,
//             are clamped, which brings no two values further apart. A sum is NaN only if the caller let a
//             NaN contribution in; the rule here is the last defence, not the place where rows are made
//             harmless.
// Not covered The error of summing the rows in floating point before the value arrives [Casacuberta22]; it
//             belongs to the sensitivity the caller passes in.
class Grid {
 public:
  // Both > 0; their sizes must be between 1e-200 and 1e200. `where` names the mechanism in the error message.
  Grid(std::string_view where, double sensitivity, double noise_scale);

  double step() const { return step_; }
  double steps_per_unit() const { return steps_per_unit_; }
  // The nearest point of the grid.
  double round(double value) const { return nearest_whole(in_steps(value)) * step_; }
  // round(value) in steps, plus noise in whole steps. For loops, of which the compiler makes vector
  // instructions.
  double steps_of_both(double value, double noise_steps) const {
    const double number = std::nearbyint(value * steps_per_unit_);
    const double limited = std::fabs(number) < kMostSteps ? number : std::copysign(kMostSteps, number);
    const double whole = value == value ? limited : 0.0;
    return whole + noise_steps;
  }
  // The same for values no larger than most_ordinary(), and none of them NaN, in half the time.
  double steps_of_ordinary(double value, double noise_steps) const {
    constexpr double shift = 0x1.8p52;  // adding it leaves no room for a fraction
    return ((value * steps_per_unit_ + shift) - shift) + noise_steps;
  }
  double most_ordinary() const { return 0x1p50 * step_; }
  // The nearest point as a whole number of steps.
  std::int64_t steps(double value) const { return static_cast<std::int64_t>(nearest_whole(in_steps(value))); }
  // The double nearest to a whole number of steps.
  double value(std::int64_t steps) const { return static_cast<double>(steps) * step_; }
  // The noise scale as a whole number of steps, rounded up. Throws InputError beyond 2^32 - 1.
  std::uint64_t noise_steps(std::string_view where, double noise_scale) const;

 private:
  static constexpr double kMostSteps = 0x1p62;

  // Inline and without branches: this runs twice per coordinate of every release.
  double in_steps(double value) const {
    const double number = value == value ? value * steps_per_unit_ : 0.0;
    const double not_too_high = number < kMostSteps ? number : kMostSteps;
    return not_too_high > -kMostSteps ? not_too_high : -kMostSteps;
  }
  // From 2^52 on a double is whole; below, adding and taking away 2^52 leaves no room for a fraction.
  static double nearest_whole(double number) {
    const double shift = std::copysign(0x1p52, number);
    return std::fabs(number) < 0x1p52 ? (number + shift) - shift : number;
  }

  double step_;
  double steps_per_unit_;  // 1 / step_, exact
};

}  // namespace ration
