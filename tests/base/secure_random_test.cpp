#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/entropy.h"
#include "ration/base/error.h"
#include "ration/base/random.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

bool zero_key(std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  return true;
}

std::vector<std::uint64_t> draw(RandomSource& random, std::size_t count) {
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) word = random.next_word();
  return words;
}

bool share_a_word(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  const std::set<std::uint64_t> seen(a.begin(), a.end());
  return std::any_of(b.begin(), b.end(), [&](std::uint64_t word) { return seen.contains(word); });
}

TEST(SecureRandom, IsAesInCounterMode) {
  auto random = EntropyInjection::secure_random(&zero_key);
  std::vector<std::uint64_t> block(2);
  random.fill(block);
  // AES-256, key 0, plaintext 0: dc95c078 a2408989 ad48a214 92842087 (a known answer of the cipher's test
  // suites).
  const unsigned char expected[16] = {0xdc, 0x95, 0xc0, 0x78, 0xa2, 0x40, 0x89, 0x89,
                                      0xad, 0x48, 0xa2, 0x14, 0x92, 0x84, 0x20, 0x87};
  EXPECT_EQ(0, std::memcmp(block.data(), expected, sizeof(expected)));
}

TEST(SecureRandom, NeverGivesAWordTwice) {
  SecureRandom random;
  std::vector<std::uint64_t> all = draw(random, 1500);  // crosses the buffer's end
  for (const std::size_t size : {1u, 2u, 3u, 511u, 1024u, 5000u}) {
    std::vector<std::uint64_t> filled(size);
    random.fill(filled);
    EXPECT_FALSE(share_a_word(all, filled)) << size;
    all.insert(all.end(), filled.begin(), filled.end());
    all.push_back(random.next_word());
  }
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), all.size());
}

TEST(SecureRandom, FillWritesEveryWord) {
  SecureRandom random;
  for (std::size_t size = 0; size < 3000; size += 97) {
    std::vector<std::uint64_t> words(size + 1, 0);
    random.fill(std::span(words).first(size));
    EXPECT_EQ(words.back(), 0u);
    EXPECT_EQ(std::count(words.begin(), words.end(), 0u), 1) << size;
  }
}

// What is left of a block of the cipher is not thrown away, and nothing is given twice.
TEST(SecureRandom, FillsOfAnySizeAreOneStream) {
  auto whole = EntropyInjection::secure_random(&zero_key), parts = EntropyInjection::secure_random(&zero_key);
  std::vector<std::uint64_t> expected(5000), words(5000);
  whole.fill(expected);
  std::size_t done = 0;
  for (const std::size_t size : {1u, 2u, 3u, 511u, 1024u, 1025u, 2434u}) {
    parts.fill(std::span(words).subspan(done, size));
    done += size;
  }
  ASSERT_EQ(done, 5000u);
  EXPECT_EQ(words, expected);
}

// The system gives the same key each time here, so the stream begins anew wherever it was asked for one.
TEST(SecureRandom, AKeyThatHasBeenUsedEnoughIsRenewed) {
  constexpr std::size_t kWords = 2 * kBlocksPerKey;  // of one key
  auto random = EntropyInjection::secure_random(&zero_key);
  std::vector<std::uint64_t> words(2 * kWords + 100);
  random.fill(words);
  EXPECT_TRUE(std::equal(words.begin(), words.begin() + kWords, words.begin() + kWords));
  EXPECT_TRUE(std::equal(words.begin(), words.begin() + 100, words.begin() + 2 * kWords));
  EXPECT_EQ(std::count(words.begin(), words.begin() + kWords, words[0]), 1);  // and nowhere before
}

TEST(SecureRandom, AnotherStreamHasAnotherKey) {
  SecureRandom random;
  const auto second = random.another_stream();
  const auto third = random.another_stream();
  ASSERT_TRUE(second && third);
  EXPECT_TRUE(second->is_secure());
  const auto words = draw(random, 1000);
  EXPECT_FALSE(share_a_word(words, draw(*second, 1000)));
  EXPECT_FALSE(share_a_word(draw(*second, 1000), draw(*third, 1000)));
}

bool key_once(std::span<std::byte> bytes) {
  static int asked = 0;
  return asked++ == 0 && zero_key(bytes);
}

TEST(SecureRandom, AnotherStreamNeedsTheSystemsEntropyToo) {
  auto random = EntropyInjection::secure_random(&key_once);
  EXPECT_THAT([&] { random.another_stream(); },
              ThrowsMessage<InternalError>(HasSubstr("operating system's random source failed")));
}

TEST(SecureRandom, ASeededSourceHasNoOtherStream) {
  EXPECT_EQ(SeededRandom(1).another_stream(), nullptr);
}

TEST(SecureRandom, TwoSourcesHaveDifferentKeys) {
  SecureRandom a;
  SecureRandom b;
  EXPECT_FALSE(share_a_word(draw(a, 1000), draw(b, 1000)));
}

TEST(SecureRandom, EachThreadHasItsOwnStream) {
  const auto here = draw(SecureRandom::for_this_thread(), 1000);
  std::vector<std::uint64_t> there;
  std::thread([&] { there = draw(SecureRandom::for_this_thread(), 1000); }).join();
  EXPECT_FALSE(share_a_word(here, there));
}

TEST(SecureRandom, RefusesToRunWithoutTheSystemsEntropy) {
  const auto make = [] {
    auto random = EntropyInjection::secure_random([](std::span<std::byte>) { return false; });
  };
  EXPECT_THAT(make, ThrowsMessage<InternalError>(HasSubstr("operating system's random source failed")));
}

TEST(SecureRandom, OnlyItIsSecure) {
  EXPECT_TRUE(SecureRandom().is_secure());
  EXPECT_FALSE(SeededRandom(1).is_secure());
}

}  // namespace
}  // namespace ration::testing
