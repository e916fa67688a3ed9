#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>

#include "ration/sampling/fixed_size.h"
#include "ration/sampling/poisson.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

constexpr std::uint64_t kRows = 20;
constexpr std::uint64_t kDraws = 100'000;

// How often rows 3 and 11 are both out, only the first in, only the second in, both in; and how often k rows
// are in.
struct Counts {
  std::array<std::uint64_t, 4> pair{};
  std::array<std::uint64_t, kRows + 1> size{};
};

Counts count(const Sampler& sampler) {
  Counts counts;
  Batch batch;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    sampler.draw(SecureRandom::for_this_thread(), batch);
    ++counts.size[batch.rows.size()];
    const bool first = std::binary_search(batch.rows.begin(), batch.rows.end(), std::uint64_t{3});
    const bool second = std::binary_search(batch.rows.begin(), batch.rows.end(), std::uint64_t{11});
    ++counts.pair[(first ? 1 : 0) + (second ? 2 : 0)];
  }
  return counts;
}

std::array<double, 4> independent(double p) {
  return {(1 - p) * (1 - p), p * (1 - p), (1 - p) * p, p * p};
}

std::array<double, kRows + 1> binomial(double p) {
  std::array<double, kRows + 1> cells{};
  const boost::math::binomial distribution(static_cast<double>(kRows), p);
  for (std::size_t k = 0; k <= kRows; ++k) cells[k] = pdf(distribution, static_cast<double>(k));
  return cells;
}

// Fails by chance with probability < 2e-9 per rate.
TEST(PoissonSampler, RowsAreInIndependentlyWithTheRateTheEventSays) {
  for (const double rate : {0.05, 0.3, 0.8}) {
    const PoissonSampler sampler({.rows = kRows, .declared_rows = 20}, rate);
    const Counts counts = count(sampler);
    const auto event = std::get<Event::PoissonSampled>(sampler.sampled(Event::nothing()).node());
    EXPECT_TRUE(follows_pmf(counts.pair, independent(event.rate)));
    EXPECT_TRUE(follows_pmf(counts.size, binomial(event.rate)));
    for (const double wrong : {rate * 0.95, rate * 1.05})
      EXPECT_FALSE(follows_pmf(counts.size, binomial(wrong)));
  }
}

// Fails by chance with probability < 1e-9 per size. Two rows are in together less often than if independent.
TEST(FixedSizeSampler, EverySetIsEquallyLikely) {
  for (const std::uint64_t size : {4u, 13u}) {
    const FixedSizeSampler sampler(kRows, size);
    const Counts counts = count(sampler);
    EXPECT_EQ(counts.size[size], kDraws);
    const auto event = std::get<Event::FixedSizeSampled>(sampler.sampled(Event::nothing()).node());
    const double both = event.rate * static_cast<double>(size - 1) / static_cast<double>(kRows - 1);
    const double one = event.rate - both;
    EXPECT_TRUE(follows_pmf(counts.pair, std::array{1 - both - 2 * one, one, one, both}));
    EXPECT_FALSE(follows_pmf(counts.pair, independent(event.rate)));
  }
}

}  // namespace
}  // namespace ration::testing
