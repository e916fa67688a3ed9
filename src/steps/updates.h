#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "steps/bias.h"
#include "steps/step_rule.h"

// What each kind of step does to one coordinate; the formulas are in ration/steps/step_rule.h.
namespace ration::steps {

// What all coordinates share.
struct StepContext {
  std::int64_t step = 0;
  double noise_moment = 0;  // of noise_stddev^2, as the second moment is of g^2; 0 without noise correction
};

// `prepare` is called once a step, `direction` once a coordinate with the gradient there and the kSlots
// numbers that the coordinate remembers, 0 at first.
template <class U>
concept Update = std::constructible_from<U, const StepOptions&> &&
    requires(U update, const U& prepared, const StepContext& progress, double g, double* slots) {
  { U::kSlots } -> std::convertible_to<std::size_t>;
  update.prepare(progress);
  { prepared.direction(g, slots) } -> std::same_as<double>;
};

struct Gradient {
  static constexpr std::size_t kSlots = 0;
  explicit Gradient(const StepOptions&) {}
  void prepare(const StepContext&) {}
  double direction(double g, double*) const { return g; }
};

struct HeavyBall {
  static constexpr std::size_t kSlots = 1;
  double beta;
  explicit HeavyBall(const StepOptions& options) : beta(options.momentum) {}
  void prepare(const StepContext&) {}
  double direction(double g, double* velocity) const { return *velocity = beta * *velocity + g; }
};

// Nesterov's gradient is that at the point ahead; with w standing for that point the step is this one.
struct Nesterov : HeavyBall {
  using HeavyBall::HeavyBall;
  double direction(double g, double* velocity) const { return g + beta * HeavyBall::direction(g, velocity); }
};

struct Momentum {
  static constexpr std::size_t kSlots = 1;
  double beta;
  double scale = 1;
  explicit Momentum(const StepOptions& options) : beta(options.momentum) {}
  void prepare(const StepContext& now) { scale = 1 / total_weight(beta, now.step); }
  double direction(double g, double* mean) const {
    *mean = beta * *mean + (1 - beta) * g;
    return *mean * scale;
  }
};

// The mean as it will be one step later, the newest gradient standing in for the next.
struct NesterovMomentum {
  static constexpr std::size_t kSlots = 1;
  double beta;
  double mean_scale = 1;
  double gradient_scale = 1;
  explicit NesterovMomentum(const StepOptions& options) : beta(options.momentum) {}
  void prepare(const StepContext& now) {
    mean_scale = beta / total_weight(beta, now.step + 1);
    gradient_scale = (1 - beta) / total_weight(beta, now.step);
  }
  double direction(double g, double* mean) const {
    *mean = beta * *mean + (1 - beta) * g;
    return mean_scale * *mean + gradient_scale * g;
  }
};

// Three ways to know how large a coordinate's gradients are.

struct SummedSquares {
  double stability;
  explicit SummedSquares(const StepOptions& options) : stability(options.stability) {}
  void prepare(const StepContext&) {}
  double size(double g, double* squares) const {
    *squares += g * g;
    return std::sqrt(*squares) + stability;
  }
};

struct MeanSquares {
  double rho;
  double stability;
  explicit MeanSquares(const StepOptions& options)
      : rho(options.second_momentum), stability(options.stability) {}
  void prepare(const StepContext&) {}
  double size(double g, double* squares) const {
    *squares = rho * *squares + (1 - rho) * g * g;
    return std::sqrt(*squares) + stability;
  }
};

// Without noise correction the noise moment is 0, and max(v - 0, min(v, floor)) is v.
struct UnbiasedSquares {
  double beta;
  double stability;
  double scale = 1;
  double noise = 0;
  explicit UnbiasedSquares(const StepOptions& options)
      : beta(options.second_momentum), stability(options.stability) {}
  void prepare(const StepContext& now) {
    scale = 1 / total_weight(beta, now.step);
    noise = now.noise_moment * scale;
  }
  double size(double g, double* squares) const {
    *squares = beta * *squares + (1 - beta) * g * g;
    const double moment = *squares * scale;
    const double floor = std::min(moment, stability);
    return std::sqrt(std::max(moment - noise, floor)) + stability;
  }
};

// A direction, each coordinate measured in the size of its gradients.
template <Update Direction, class Size>
struct Rescaled {
  static constexpr std::size_t kSlots = Direction::kSlots + 1;
  Direction along;
  Size by;
  explicit Rescaled(const StepOptions& options) : along(options), by(options) {}
  void prepare(const StepContext& now) {
    along.prepare(now);
    by.prepare(now);
  }
  double direction(double g, double* slots) const {
    const double numerator = along.direction(g, slots + 1);
    return numerator / by.size(g, slots);
  }
};

using Adam = Rescaled<Momentum, UnbiasedSquares>;
using NAdam = Rescaled<NesterovMomentum, UnbiasedSquares>;
using AdaGrad = Rescaled<Gradient, SummedSquares>;
using RmsProp = Rescaled<Gradient, MeanSquares>;

struct AdaDelta {
  static constexpr std::size_t kSlots = 2;
  double rho;
  double stability;
  explicit AdaDelta(const StepOptions& options)
      : rho(options.second_momentum), stability(options.stability) {}
  void prepare(const StepContext&) {}
  double direction(double g, double* slots) const {
    double& squares = slots[0];
    double& squared_moves = slots[1];
    squares = rho * squares + (1 - rho) * g * g;
    const double move = std::sqrt((squared_moves + stability) / (squares + stability)) * g;
    squared_moves = rho * squared_moves + (1 - rho) * move * move;
    return move;
  }
};

}  // namespace ration::steps
