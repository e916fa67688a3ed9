#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

constexpr std::size_t kDraws = 200'000;

// Fails by chance with probability < 1e-9 (Kolmogorov-Smirnov, n = 2e5).
TEST(Laplace, HasTheDeclaredScale) {
  SecureRandom random;
  std::vector<double> sample(kDraws);
  for (auto& x : sample) x = laplace(random, 3);
  EXPECT_TRUE(follows_laplace(sample, 3));
  EXPECT_FALSE(follows_laplace(sample, 2));
  EXPECT_FALSE(follows_laplace(sample, 4.5));
}

// Fails by chance with probability < 1e-9 (Kolmogorov-Smirnov, n = 2e5).
TEST(Exponential, HasTheDeclaredMean) {
  SecureRandom random;
  std::vector<double> sample(kDraws);
  for (auto& x : sample) x = exponential(random, 0.3);
  EXPECT_TRUE(follows_exponential(sample, 0.3));
  EXPECT_FALSE(follows_exponential(sample, 0.2));
  EXPECT_FALSE(follows_exponential(sample, 0.45));
}

// Fails by chance with probability < 1e-9. The Kolmogorov-Smirnov test is blind in the tail.
TEST(Laplace, HasTheDeclaredTail) {
  SecureRandom random;
  std::array<std::uint64_t, 3> counts{};  // inside, beyond 6 and beyond 9 scales
  for (std::size_t i = 0; i < 2'000'000; ++i) {
    const double x = std::abs(laplace(random, 3)) / 3;
    ++counts[x < 6 ? 0 : x < 9 ? 1 : 2];
  }
  const auto cells = [](double scale) {
    return std::array{1 - std::exp(-6 / scale), std::exp(-6 / scale) - std::exp(-9 / scale),
                      std::exp(-9 / scale)};
  };
  EXPECT_TRUE(follows_pmf(counts, cells(1)));
  EXPECT_FALSE(follows_pmf(counts, cells(2.0 / 3)));
  EXPECT_FALSE(follows_pmf(counts, cells(1.5)));
}

}  // namespace
}  // namespace ration::testing
