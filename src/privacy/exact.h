#pragma once

#include <optional>
#include <span>

#include "privacy/sampled_gaussian.h"

namespace ration {

// The exact privacy curve of a plan of Poisson-sampled Gaussian steps, without discretising the loss:
//
//   delta(epsilon) = 1/(2 pi) * integral of e^{-z epsilon} M(z) / (z (z + 1)) over z = c + i t,
//
// with M(z) the product over steps of E_P[e^{z L}], for any c > 0. [Zhu22, Sec. 4; Koskela20]
//
// Method   the trapezoidal rule in t on the contour through the saddle point, where the integrand is a bell.
//          The rule with step 2 pi / period returns the sum of the values at epsilon + k period, each times
//          e^{c k period}; the period is chosen so that a Chernoff bound puts every one of those below 1e-14
//          of the value.
// Accuracy about 1e-10 relative in delta; an independent check of the PLD and a start for calibration, but
//          not a certified bound: certify with pld.h.
// Nothing is returned where the integrand decays too slowly to be summed (few steps at tiny rates), and no
// epsilon where a second contour, through the saddle of the epsilon found, does not give back delta: far
// below the Renyi bound the first one is blind.
std::optional<double> exact_delta(std::span<const SampledGaussian> plan, double epsilon);
std::optional<double> exact_delta(std::span<const SampledGaussian> plan, Direction direction, double epsilon);

// The smallest epsilon >= 0 with delta(epsilon) <= delta.
std::optional<double> exact_epsilon(std::span<const SampledGaussian> plan, double delta);
std::optional<double> exact_epsilon(std::span<const SampledGaussian> plan, Direction direction, double delta);

}  // namespace ration
