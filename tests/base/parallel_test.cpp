#include "base/parallel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <vector>

#include "support/forked.h"

namespace ration::testing {
namespace {

std::vector<int> times_done(std::size_t blocks, std::size_t threads) {
  std::vector<std::atomic<int>> times(blocks);
  for_each_block(blocks, threads, [&](std::size_t block) { ++times[block]; });
  return {times.begin(), times.end()};
}

TEST(ForEachBlock, DoesEachOnce) {
  for (const std::size_t threads : {0u, 1u, 2u, 3u, 8u}) {
    for (const std::size_t blocks : {0u, 1u, 2u, 7u, 100u}) {
      EXPECT_EQ(times_done(blocks, threads), std::vector<int>(blocks, 1)) << blocks << ' ' << threads;
    }
  }
}

TEST(ForEachBlock, RunsAtTheSameTime) {
  std::atomic<int> arrived{0};
  for_each_block(2, 2, [&](std::size_t) {
    ++arrived;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (arrived < 2 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ForEachBlock, InsideAnotherDoesEachOnceToo) {
  std::atomic<int> sum{0};
  for_each_block(4, 3, [&](std::size_t) { for_each_block(5, 3, [&](std::size_t) { ++sum; }); });
  EXPECT_EQ(sum, 20);
}

// What a helper has not begun, the caller does itself. Here helpers are busy for as long as they like.
TEST(ForEachBlock, DoesNotWaitForAHelperThatDoesNotCome) {
  constexpr std::size_t kBusy = 9;  // more than any test before has started
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<std::size_t> waiting{0};
  const auto busy = std::async(std::launch::async, [&] {
    share_out(kBusy, [&](std::size_t) {
      ++waiting;
      ended.wait();
    });
  });
  while (waiting < kBusy) std::this_thread::yield();
  EXPECT_EQ(times_done(50, kBusy), std::vector<int>(50, 1));
  end.set_value();
}

TEST(ForEachBlock, WorksInAForkedChild) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no new threads after a fork";
#endif
  times_done(10, 2);  // there are helpers now
  const auto in_the_child = in_child([] {
    const std::vector<int> times = times_done(10, 2);
    return std::vector<std::uint64_t>(times.begin(), times.end());
  });
  EXPECT_EQ(in_the_child, std::vector<std::uint64_t>(10, 1));
}

}  // namespace
}  // namespace ration::testing
