#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "mechanisms/selection_law.h"
#include "ration/base/random.h"
#include "ration/mechanisms/noisy_max.h"
#include "support/statistics.h"

namespace ration {
namespace {

using testing::follows_pmf;
using testing::Law;
using testing::Scores;

constexpr int kDraws = 100'000;

std::vector<std::uint64_t> reported_largest(const NoisyMaxOptions& options, const Scores& scores) {
  const NoisyMax selection(options);
  std::vector<std::uint64_t> counts(scores.size());
  for (int i = 0; i < kDraws; ++i) ++counts[selection.largest(scores, SecureRandom::for_this_thread())];
  return counts;
}

std::vector<std::uint64_t> reported_smallest(const NoisyMaxOptions& options, const Scores& losses) {
  const NoisyMax selection(options);
  std::vector<std::uint64_t> counts(losses.size());
  for (int i = 0; i < kDraws; ++i) ++counts[selection.smallest(losses, SecureRandom::for_this_thread())];
  return counts;
}

struct Form {
  SelectionNoise noise;
  Law (*law)(const Scores&, double rate);
};

class SelectionForms : public ::testing::TestWithParam<Form> {};

// Fails by chance with probability < 1e-9 each (likelihood ratio, n = 1e5).
TEST_P(SelectionForms, LargestAndSmallestAreDistributedAsComputed) {
  const NoisyMaxOptions options{.sensitivity = 0.5, .epsilon = 0.8, .noise = GetParam().noise};
  const double rate = options.epsilon / (2 * options.sensitivity);
  const Scores scores = {0.0, 1.5, -1.0, 1.5, 0.7, -4.0};
  const Scores losses = {0.0, -1.5, 1.0, -1.5, -0.7, 4.0};
  for (const auto& counts : {reported_largest(options, scores), reported_smallest(options, losses)}) {
    EXPECT_TRUE(follows_pmf(counts, GetParam().law(scores, rate)));
    EXPECT_FALSE(follows_pmf(counts, GetParam().law(scores, rate * 2 / 3)));
    EXPECT_FALSE(follows_pmf(counts, GetParam().law(scores, rate * 3 / 2)));
  }
}

INSTANTIATE_TEST_SUITE_P(Noises, SelectionForms,
                         ::testing::Values(Form{SelectionNoise::exponential, testing::exponential_noise_law},
                                           Form{SelectionNoise::gumbel, testing::gumbel_noise_law}));

// An audit of noisy-min on the neighbours of noisy_max_test.cpp where adding the noise would be e^4:
// candidate 0 is reported 20'000 times on one, and at least 20'000 / e times on the other. Fails by chance
// with probability < 1e-9 (ten standard deviations allowed).
TEST(NoisyMax, SmallestHoldsItsClaimBetweenNeighbours) {
  const NoisyMaxOptions options{.sensitivity = 1.0, .epsilon = 1.0};
  const auto before = static_cast<double>(reported_smallest(options, {0.0, 0.0, 0.0, 0.0, 0.0})[0]);
  const auto after = static_cast<double>(reported_smallest(options, {1.0, -1.0, -1.0, -1.0, -1.0})[0]);
  EXPECT_LE(before,
            std::exp(options.epsilon) * after + 10 * std::sqrt(before * (1 + std::exp(options.epsilon))));
  EXPECT_GE(before, 0.8 * std::exp(options.epsilon) * after);
}

}  // namespace
}  // namespace ration
