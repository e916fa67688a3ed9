// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"

namespace ration {

// With g the noisy gradient plus weight decay, b = momentum, r = second_momentum, e = stability, steps
// t = 1, 2, ... and all operations by coordinate, w -= learning_rate * d where d is
enum class StepKind {
  sgd,         // g
  heavy_ball,  // v = b v + g, d = v [Polyak64]
  momentum,    // v = b v + (1-b) g, d = v/(1-b^t): unbiased from the first step on [Hong22, Eq. 10]
  nesterov,    // v = b v + g, d = g + b v [Sutskever13]
  adam,        // first moment of `momentum` over sqrt(s/(1-r^t)) + e, s = r s + (1-r) g^2 [Kingma15]
  adamw,       // adam, its weight decay outside the moments [Loshchilov19]
  nadam,       // adam with first moment b v/(1-b^(t+1)) + (1-b) g/(1-b^t), b constant [Dozat16]
  adagrad,     // g / (sqrt(s) + e), s = s + g^2 [Duchi11]
  rmsprop,     // g / (sqrt(s) + e), s = r s + (1-r) g^2 [Tieleman12]
  adadelta,    // g sqrt(u + e)/sqrt(s + e), s as in rmsprop, then u = r u + (1-r) d^2 [Zeiler12]
};

// Their names.
inline constexpr NamedValue<StepKind> kStepKinds[] = {
    {StepKind::sgd, "sgd", "Plain gradient step."},
    {StepKind::heavy_ball, "heavy-ball", "Classical momentum."},
    {StepKind::momentum, "momentum", "Momentum as a bias-corrected average of the gradients."},
    {StepKind::nesterov, "nesterov", "Nesterov momentum."},
    {StepKind::adam, "adam", "Adam."},
    {StepKind::adamw, "adamw", "Adam with decoupled weight decay."},
    {StepKind::nadam, "nadam", "Adam with Nesterov momentum."},
    {StepKind::adagrad, "adagrad", "AdaGrad."},
    {StepKind::rmsprop, "rmsprop", "RMSProp."},
    {StepKind::adadelta, "adadelta", "AdaDelta."},
};
// Found by base/names.h.
constexpr NameTable<StepKind> name_table(StepKind) {
  return {"step", kStepKinds};
}

// How the learning rate changes after its warm-up; the formulas are in steps/learning_rate.h.
enum class RateShape { constant, cosine, step };

// Their names.
inline constexpr NamedValue<RateShape> kRateShapes[] = {
    {RateShape::constant, "constant", "The learning rate stays the same."},
    {RateShape::cosine, "cosine", "It falls to 0 along a cosine."},
    {RateShape::step, "step", "It is multiplied by `drop_factor` every `drop_every` steps."},
};
// Found by base/names.h.
constexpr NameTable<RateShape> name_table(RateShape) {
  return {"lr_shape", kRateShapes};
}

// Which iterates become the model; the formulas are in steps/averaging.h.
enum class Averaging { none, half, exponential };

// Their names.
inline constexpr NamedValue<Averaging> kAveragings[] = {
    {Averaging::none, "none", "The last iterate."},
    {Averaging::half, "half", "The mean over the second half of the run."},
    {Averaging::exponential, "exponential", "An exponential moving average with decay `average_decay`."},
};
// Found by base/names.h.
constexpr NameTable<Averaging> name_table(Averaging) {
  return {"average", kAveragings};
}

}  // namespace ration
