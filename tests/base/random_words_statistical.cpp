#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <thread>
#include <vector>

#include "base/distributions.h"
#include "ration/base/random.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

// Fails by chance with probability < 64e-9 (one test of 1e-9 for each bit).
TEST(SecureRandom, EveryBitIsFair) {
  SecureRandom random;
  constexpr std::uint64_t kWords = 200'000;
  std::array<std::uint64_t, 64> ones{};
  for (std::uint64_t i = 0; i < kWords; ++i) {
    const auto word = random.next_word();
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += (word >> bit) & 1;
  }
  for (const auto count : ones) {
    const std::array counts{count, kWords - count};
    EXPECT_TRUE(follows_pmf(counts, std::array{0.5, 0.5}));
    EXPECT_FALSE(follows_pmf(counts, std::array{1.0 / 3, 2.0 / 3}));
  }
}

// Fails by chance with probability < 1e-9.
TEST(SecureRandom, BytesAreUniform) {
  SecureRandom random;
  std::vector<std::uint64_t> words(200'000);
  random.fill(words);
  std::array<std::uint64_t, 256> counts{};
  for (auto word : words) {
    for (int byte = 0; byte < 8; ++byte, word >>= 8) ++counts[word & 0xff];
  }
  EXPECT_TRUE(follows_pmf(counts, std::vector<double>(256, 1.0 / 256)));
}

// Fails by chance with probability about 1e-9.
TEST(SecureRandom, StreamsOfTwoThreadsAreUncorrelated) {
  std::vector<double> here(500'000);
  std::vector<double> there(here.size());
  fill_gaussian(SecureRandom::for_this_thread(), here, 1);
  std::thread([&] { fill_gaussian(SecureRandom::for_this_thread(), there, 1); }).join();
  EXPECT_TRUE(uncorrelated(here, there));
  EXPECT_FALSE(uncorrelated(here, here));
}

}  // namespace
}  // namespace ration::testing
