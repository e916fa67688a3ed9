#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/distributions.h"
#include "base/real_draw.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

std::vector<double> filled(std::size_t count, double stddev) {
  std::vector<double> sample(count);
  fill_rounded_gaussian(SecureRandom::for_this_thread(), sample, stddev);
  return sample;
}

double below(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// -4, ..., 4 and everything beyond on either side.
std::vector<double> cells(double stddev) {
  std::vector<double> list{below(-4.5 / stddev)};
  for (int k = -4; k <= 4; ++k) list.push_back(below((k + 0.5) / stddev) - below((k - 0.5) / stddev));
  list.push_back(below(-4.5 / stddev));
  return list;
}

std::vector<std::uint64_t> counts(const std::vector<double>& sample) {
  std::vector<std::uint64_t> list(11);
  for (const double k : sample) ++list[static_cast<std::size_t>(std::clamp(k, -5.0, 5.0) + 5)];
  return list;
}

// Fails by chance with probability < 1e-9 (follows_pmf, n = 4e5).
TEST(FillRoundedGaussian, HasTheProbabilitiesOfARoundedNormal) {
  const auto found = counts(filled(400'001, 1.7));
  EXPECT_TRUE(follows_pmf(found, cells(1.7)));
  EXPECT_FALSE(follows_pmf(found, cells(1.65)));
  EXPECT_FALSE(follows_pmf(found, cells(1.75)));
}

// Kolmogorov-Smirnov, each fails by chance with probability < 1e-9. The last takes the slow way throughout.
TEST(FillRoundedGaussian, HasTheDeclaredScale) {
  for (const auto& [size, stddev] : {std::pair(200'001, 0x1p24), {200'001, 0x1.9p31}, {4'001, 0x1p45}}) {
    const auto sample = filled(static_cast<std::size_t>(size), stddev);
    EXPECT_TRUE(follows_normal(sample, stddev));
    EXPECT_FALSE(follows_normal(sample, stddev * 2 / 3));
    EXPECT_FALSE(follows_normal(sample, stddev * 3 / 2));
  }
}

// Pr[x >= y + c] of two real draws of one law. Fails by chance with probability about 1e-9 each.
TEST(RealDraw, ComparisonsHaveTheirProbabilities) {
  RandomSource& random = SecureRandom::for_this_thread();
  const auto share = [&](RealLaw law, double c) {
    std::vector<double> wins(100'000);
    for (double& win : wins) {
      RealDraw x(law, random), y(law, random);
      win = RealDraw::at_least(0, 1, x, c, 1, y, random) ? 1 : 0;
    }
    return wins;
  };
  const auto is = [&](RealLaw law, double c, double p) {
    return mean_is(share(law, c), p, std::sqrt(p * (1 - p)));
  };
  EXPECT_TRUE(is(RealLaw::gaussian, 1, below(-1 / std::numbers::sqrt2)));
  EXPECT_TRUE(is(RealLaw::exponential, 1, 0.5 * std::exp(-1)));
  EXPECT_TRUE(is(RealLaw::laplace, 1, std::exp(-1) * 0.25 * 3));
  EXPECT_TRUE(is(RealLaw::gumbel, 1, 1 / (1 + std::exp(1))));
  EXPECT_FALSE(is(RealLaw::gumbel, 1.1, 1 / (1 + std::exp(1))));
  EXPECT_FALSE(is(RealLaw::gaussian, 1.1, below(-1 / std::numbers::sqrt2)));
}

}  // namespace
}  // namespace ration::testing
