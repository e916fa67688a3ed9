// What a parent and its child draw after fork() must have nothing in common, or one could subtract the
// other's noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/entropy.h"
#include "ration/base/error.h"
#include "ration/base/random.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

using Words = std::vector<std::uint64_t>;

// Enough to use up what was buffered, and some more straight from the cipher.
Words draw(RandomSource& random) {
  Words words(700);
  for (auto& word : words) word = random.next_word();
  words.resize(900);
  random.fill(std::span(words).subspan(700));
  return words;
}

Words fill(RandomSource& random) {
  Words words(200);
  random.fill(words);
  return words;
}

bool all_different(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return std::set<std::uint64_t>(a.begin(), a.end()).size() == a.size();
}

TEST(Fork, ChildAndParentDrawDifferentWords) {
  SecureRandom random;
  random.next_word();  // the buffer is full of words that both processes now hold
  const auto child = in_child([&] { return draw(random); });
  ASSERT_EQ(child.size(), 900u);
  EXPECT_TRUE(all_different(draw(random), child));
}

TEST(Fork, ChildAndParentFillDifferentWords) {
  SecureRandom random;
  random.next_word();
  const auto child = in_child([&] { return fill(random); });
  ASSERT_EQ(child.size(), 200u);
  EXPECT_TRUE(all_different(fill(random), child));
}

TEST(Fork, AFillInTheChildDropsTheBufferToo) {
  SecureRandom random;
  random.next_word();
  const auto child = in_child([&] {
    auto words = fill(random);
    const auto more = draw(random);
    words.insert(words.end(), more.begin(), more.end());
    return words;
  });
  ASSERT_EQ(child.size(), 1100u);
  EXPECT_TRUE(all_different(draw(random), child));  // erased words, all 0, would be equal too
}

TEST(Fork, TwoChildrenDrawDifferentWords) {
  SecureRandom random;
  random.next_word();
  const auto first = in_child([&] { return draw(random); });
  const auto second = in_child([&] { return draw(random); });
  EXPECT_TRUE(all_different(first, second));
}

TEST(Fork, GrandchildDrawsDifferentWordsThanItsParent) {
  SecureRandom random;
  random.next_word();
  const auto family = in_child([&] {
    auto child = Words{random.next_word()};
    const auto grandchild = in_child([&] { return draw(random); });
    const auto more = draw(random);
    child.insert(child.end(), more.begin(), more.end());
    child.insert(child.end(), grandchild.begin(), grandchild.end());
    return child;
  });
  ASSERT_EQ(family.size(), 1801u);
  EXPECT_TRUE(all_different(family, draw(random)));
}

TEST(Fork, TheThreadsOwnStreamIsSafeToo) {
  SecureRandom::for_this_thread().next_word();
  const auto child = in_child([] { return draw(SecureRandom::for_this_thread()); });
  EXPECT_TRUE(all_different(draw(SecureRandom::for_this_thread()), child));
}

bool entropy_works = true;
bool sometimes_failing(std::span<std::byte> bytes) {
  return entropy_works && system_entropy(bytes);
}

bool refuses(RandomSource& random) {
  try {
    random.next_word();
  } catch (const InternalError&) {
    return true;
  }
  return false;
}

TEST(Fork, ChildRefusesToGoOnWithTheParentsKey) {
  auto random = EntropyInjection::secure_random(&sometimes_failing);
  random.next_word();
  const auto child = in_child([&] {
    entropy_works = false;
    const bool refused = refuses(random) && refuses(random);
    entropy_works = true;
    auto words = draw(random);
    words.push_back(refused ? 1 : 0);
    return words;
  });
  ASSERT_EQ(child.size(), 901u);
  EXPECT_EQ(child.back(), 1u);
  EXPECT_TRUE(all_different(draw(random), child));
}

}  // namespace
}  // namespace ration::testing
