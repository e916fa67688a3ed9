#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

constexpr std::size_t kDraws = 200'000;

// Fails by chance with probability < 2e-9 (Kolmogorov-Smirnov, n = 2e5, twice).
TEST(Uniform, IsUniformToItsLastBits) {
  SecureRandom random;
  std::vector<double> sample(kDraws);
  for (auto& x : sample) x = uniform(random);
  EXPECT_TRUE(follows_uniform(sample));
  EXPECT_FALSE(follows(sample, [](double x) { return std::min(1.0, 1.5 * x); }));
  EXPECT_FALSE(follows(sample, [](double x) { return x / 1.5; }));
  for (auto& x : sample) x = std::ldexp(x, 40) - std::floor(std::ldexp(x, 40));
  EXPECT_TRUE(follows_uniform(sample));
}

// Fails by chance with probability < 1e-9.
TEST(UniformBelow, HitsEveryValueEquallyOften) {
  SecureRandom random;
  std::array<std::uint64_t, 7> counts{};
  for (std::size_t i = 0; i < kDraws; ++i) ++counts[uniform_below(random, counts.size())];
  EXPECT_TRUE(follows_pmf(counts, std::vector<double>(7, 1.0 / 7)));
}

// Fails by chance with probability < 1e-9. Scaling a word without rejection hits every third value twice as
// often.
TEST(UniformBelow, HasNoBiasForLargeRanges) {
  SecureRandom random;
  const std::uint64_t n = std::uint64_t{3} << 62;
  std::array<std::uint64_t, 3> counts{};
  for (std::size_t i = 0; i < kDraws; ++i) ++counts[uniform_below(random, n) % 3];
  EXPECT_TRUE(follows_pmf(counts, std::vector<double>(3, 1.0 / 3)));
}

// Fails by chance with probability < 1e-9 for each p.
TEST(Bernoulli, HasTheDeclaredProbability) {
  SecureRandom random;
  for (const double p : {0.01, 0.3, 0.6}) {
    std::array<std::uint64_t, 2> counts{};
    for (std::size_t i = 0; i < kDraws; ++i) ++counts[bernoulli(random, p) ? 1 : 0];
    EXPECT_TRUE(follows_pmf(counts, std::array{1 - p, p})) << p;
    EXPECT_FALSE(follows_pmf(counts, std::array{1 - p / 1.5, p / 1.5})) << p;
    EXPECT_FALSE(follows_pmf(counts, std::array{1 - p * 1.5, p * 1.5})) << p;
  }
}

}  // namespace
}  // namespace ration::testing
