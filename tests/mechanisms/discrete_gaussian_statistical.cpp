#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/laws.h"
#include "ration/base/random.h"
#include "support/statistics.h"

namespace ration {
namespace {

using testing::follows_normal;
using testing::follows_pmf;
using testing::integer_counts;
using testing::integer_law;
using testing::Law;

struct Case {
  DiscreteVariance variance;
  int reach;  // beyond 9 sigma, so that nothing lies outside
};

double sigma_of(const DiscreteVariance& variance) {
  return std::sqrt(static_cast<double>(variance.numerator) / static_cast<double>(variance.denominator));
}

Law law_of(double sigma, int reach) {
  return integer_law(reach, [=](int k) { return k * static_cast<double>(k) / (2 * sigma * sigma); });
}

class DiscreteGaussianLaw : public ::testing::TestWithParam<Case> {};

// Fails by chance with probability < 1e-9 (likelihood ratio, n = 3e4).
TEST_P(DiscreteGaussianLaw, IsExact) {
  const auto& [variance, reach] = GetParam();
  const double sigma = sigma_of(variance);
  const DiscreteGaussian noise(variance);
  auto& random = SecureRandom::for_this_thread();
  const auto counts = integer_counts(reach, 30'000, [&] { return noise.sample(random); });
  EXPECT_TRUE(follows_pmf(counts, law_of(sigma, reach)));
  EXPECT_FALSE(follows_pmf(counts, law_of(sigma * 2 / 3, reach)));
  EXPECT_FALSE(follows_pmf(counts, law_of(sigma * 3 / 2, reach)));
}

INSTANTIATE_TEST_SUITE_P(
    SmallAndModerate, DiscreteGaussianLaw,
    ::testing::Values(Case{{9, 100}, 4}, Case{{1, 1}, 9}, Case{{9, 4}, 14}, Case{{100, 1}, 90},
                      // the same sigma = 3/2 with the largest integers there are
                      Case{{18'446'744'073'709'551'612U, 8'198'552'921'648'689'605U}, 14}));

// Fails by chance with probability < 1e-9 (Kolmogorov-Smirnov against the real Gaussian, n = 2e4; the two
// laws differ by 1e-6 at most).
TEST(DiscreteGaussian, OfLargeVarianceIsNormal) {
  for (const DiscreteVariance variance : {DiscreteVariance{1'000'000'000'000U, 1},
                                          DiscreteVariance{std::numeric_limits<std::uint64_t>::max(), 1}}) {
    const double sigma = sigma_of(variance);
    const DiscreteGaussian noise(variance);
    std::vector<double> sample(20'000);
    for (double& value : sample) value = static_cast<double>(noise.sample(SecureRandom::for_this_thread()));
    EXPECT_TRUE(follows_normal(sample, sigma));
    EXPECT_FALSE(follows_normal(sample, sigma * 2 / 3));
    EXPECT_FALSE(follows_normal(sample, sigma * 3 / 2));
  }
}

}  // namespace
}  // namespace ration
