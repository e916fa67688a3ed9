#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mechanisms/gaussian.h"
#include "mechanisms/grid.h"
#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

// sigma^2 as a fraction.
struct DiscreteVariance {
  std::uint64_t numerator = 1;    // >= 1
  std::uint64_t denominator = 1;  // >= 1
};

// The discrete Gaussian: any integer k with probability proportional to exp(-k^2 / (2 sigma^2)).
//
// How         A discrete Laplace of scale t = floor(sigma) + 1 is accepted with probability
//             exp(-(|k| - sigma^2 / t)^2 / (2 sigma^2)). All decisions are made in integers, so the
//             probabilities are exact, not close.
// Bounds      Every variance that two 64-bit integers express. With |k| < 2^63 (missed with probability
//             exp(-2^30)) the largest integer is (|k| t denominator)^2 < 2^318, held in 512 bits.
// Edge cases  A tiny variance gives 0 nearly always. The time a draw takes depends on it [Jin22].
// [CKS20, Alg. 1-3]
class DiscreteGaussian {
 public:
  explicit DiscreteGaussian(const DiscreteVariance& variance);

  std::int64_t sample(RandomSource& random) const;

 private:
  bool accepts(std::uint64_t magnitude, RandomSource& random) const;

  DiscreteVariance variance_;
  std::uint64_t laplace_scale_;
};

// The exact mode of GaussianMechanism: same options, same grid, same enlarged sensitivity, noise from the
// discrete Gaussian in steps of the grid.
//
// Formula     sigma = noise_multiplier * (sensitivity + sqrt(d) * step) / step, rounded up to an integer.
// Guarantee   Values on the grid differ by whole steps, so for neighbours at an L2 distance of D steps every
//             Renyi divergence is at most alpha D^2 / (2 sigma^2), coordinate by coordinate: the zCDP and
//             Renyi curves of the event hold exactly [CKS20, Thm 4, Thm 14].
// Other curves, those of the real Gaussian alone (GDP, privacy loss distribution, exact delta), hold up to a
//             shift. A real Gaussian rounded to the grid is post-processing of one that has these curves, and
//             the probability it gives to k differs from the discrete one by a factor within
//             exp(+-max(1, (k / sigma)^2) / (8 sigma^2)), apart from normalisers that agree up to
//             2 exp(-2 pi^2 sigma^2). With noise of length |z| in units of sigma, |z|^2 <= 2 d + 133 except
//             with probability 2^-64, so the privacy loss moves by less than
//             (d + 50 + 1 / (4 m^2)) / sigma^2, m the noise multiplier. Here sigma >= 2^24: 4e-9 for a
//             million coordinates, 2e-13 for one. So small a shift is a shift all the same: the event is
//             DiscreteGaussian, which no accountant charges by those curves.
// Edge cases  As GaussianMechanism. A noise beyond 2^32 steps (a noise multiplier of thousands on millions
//             of coordinates) is refused.
class DiscreteGaussianMechanism {
 public:
  explicit DiscreteGaussianMechanism(const GaussianOptions& options);

  // In place and without allocation.
  void add_noise(std::span<double> sum, RandomSource& random) const;

  double stddev(std::size_t dimension) const;
  const Grid& grid() const { return ideal_.grid(); }
  Event event() const;

 private:
  std::uint64_t sigma_in_steps(std::size_t dimension) const;

  GaussianMechanism ideal_;
};

}  // namespace ration
