#include "steps/averaging.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "ration/base/error.h"
#include "steps/runs.h"

namespace ration::testing {
namespace {

constexpr std::array kEveryAveraging = {Averaging::none, Averaging::half, Averaging::exponential};

// From the definition, over the iterates of steps 1 ... t.
std::vector<double> direct(const AverageOptions& options, std::span<const std::vector<double>> iterates,
                           std::int64_t total) {
  std::vector<double> sum(iterates[0].size());
  double weights = 0;
  const auto weight_of = [&](std::size_t step) {
    const std::size_t t = iterates.size();
    if (options.kind == Averaging::half) return 2 * static_cast<std::int64_t>(step) > total ? 1.0 : 0.0;
    if (options.kind == Averaging::exponential) return std::pow(options.decay, static_cast<double>(t - step));
    return step == t ? 1.0 : 0.0;
  };
  for (std::size_t step = 1; step <= iterates.size(); ++step) {
    weights += weight_of(step);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight_of(step) * iterates[step - 1][i];
  }
  if (weights == 0) return iterates.back();
  for (double& value : sum) value /= weights;
  return sum;
}

TEST(IterateAverage, IsTheWeightedMeanAfterEveryStep) {
  EXPECT_TRUE(rc::check([] {
    const AverageOptions options{.kind = *rc::gen::elementOf(kEveryAveraging),
                                 .decay = *rc::gen::inRange(0, 1000) / 1000.0};
    const auto total = *rc::gen::inRange<std::int64_t>(1, 40);
    const Vectors iterates =
        gaussian_gradients(static_cast<std::size_t>(total), 2, 1, 3, *rc::gen::inRange(0u, 1000u));
    IterateAverage average(options, 2, total);
    std::vector<double> result(2);
    for (std::size_t t = 1; t <= iterates.size(); ++t) {
      average.add(static_cast<std::int64_t>(t), iterates[t - 1]);
      average.result(iterates[t - 1], result);
      const std::vector<double> expected = direct(options, std::span(iterates).first(t), total);
      for (std::size_t i = 0; i < 2; ++i) RC_ASSERT(std::abs(result[i] - expected[i]) < 1e-12);
    }
  }));
}

double average_of_count(Averaging kind, std::int64_t steps, std::int64_t total) {
  IterateAverage average({.kind = kind, .decay = 0.5}, 1, total);
  for (std::int64_t t = 1; t <= steps; ++t) average.add(t, std::vector{static_cast<double>(t)});
  std::vector<double> result(1);
  average.result(std::vector{static_cast<double>(steps)}, result);
  return result[0];
}

TEST(IterateAverage, BordersByHand) {
  EXPECT_EQ(average_of_count(Averaging::half, 4, 4), 3.5);  // steps 3 and 4
  EXPECT_EQ(average_of_count(Averaging::half, 5, 5), 4);    // 3, 4 and 5
  EXPECT_EQ(average_of_count(Averaging::half, 1, 1), 1);
  EXPECT_EQ(average_of_count(Averaging::half, 2, 4), 2);  // stopped early: the last iterate
  EXPECT_EQ(average_of_count(Averaging::half, 3, 4), 3);
  EXPECT_EQ(average_of_count(Averaging::none, 3, 0), 3);
  EXPECT_EQ(average_of_count(Averaging::exponential, 1, 0), 1);
  EXPECT_DOUBLE_EQ(average_of_count(Averaging::exponential, 2, 0), 5.0 / 3);
}

TEST(IterateAverage, WithoutAStepTheStartStays) {
  for (const Averaging kind : kEveryAveraging) {
    std::vector<double> w = {7}, out = {8};
    const IterateAverage average({.kind = kind}, 1, 10);
    average.result(w, out);
    EXPECT_EQ(out[0], 7);
    average.result(w, w);
    EXPECT_EQ(w[0], 7);
  }
}

TEST(IterateAverage, WithoutAveragingNothingIsKept) {
  IterateAverage average({}, 1000, 10);
  average.add(1, std::vector<double>(1000, 1.0));
  EXPECT_EQ(average.save().size(), 1u);
}

// Blocks of any size, in any order.
TEST(IterateAverage, BlocksMakeUpTheWhole) {
  const Vectors iterates = gaussian_gradients(20, 7);
  for (const Averaging kind : kEveryAveraging) {
    IterateAverage whole({.kind = kind}, 7, 20), blocks({.kind = kind}, 7, 20);
    for (std::int64_t t = 1; t <= 20; ++t) {
      const std::span<const double> w = iterates[static_cast<std::size_t>(t - 1)];
      whole.add(t, w);
      blocks.begin(t);
      blocks.add_block(5, w.subspan(5));
      blocks.add_block(0, w.first(1));
      blocks.add_block(1, w.subspan(1, 4));
      EXPECT_EQ(blocks.save(), whole.save());
    }
  }
}

TEST(IterateAverage, SavedAveragesGoOnBitByBit) {
  const Vectors iterates = gaussian_gradients(20, 3);
  for (const Averaging kind : kEveryAveraging) {
    for (const std::int64_t pause : {0, 7, 10, 15}) {
      IterateAverage whole({.kind = kind}, 3, 20), second({.kind = kind}, 3, 20);
      for (std::int64_t t = 1; t <= pause; ++t) whole.add(t, iterates[static_cast<std::size_t>(t - 1)]);
      second.restore(whole.save());
      std::vector<double> expected(3, 9), actual(3, 9);
      const std::vector<double> last(3, 5);
      whole.result(last, expected);
      second.result(last, actual);
      EXPECT_EQ(actual, expected);
      for (std::int64_t t = pause + 1; t <= 20; ++t) {
        whole.add(t, iterates[static_cast<std::size_t>(t - 1)]);
        second.add(t, iterates[static_cast<std::size_t>(t - 1)]);
      }
      EXPECT_EQ(second.save(), whole.save());
    }
  }
}

TEST(IterateAverage, RefusesWhatDoesNotFit) {
  EXPECT_THROW(IterateAverage({.kind = Averaging::exponential, .decay = 1}, 1, 1), InputError);
  EXPECT_THROW(IterateAverage({.kind = Averaging::exponential, .decay = -0.1}, 1, 1), InputError);
  EXPECT_THROW(IterateAverage({.kind = Averaging::half}, 1, 0), InputError);
  EXPECT_THROW(IterateAverage({}, 0, 1), InputError);
  IterateAverage average({}, 2, 1);
  std::vector<double> two(2), three(3);
  EXPECT_THROW(average.add(1, three), InputError);
  EXPECT_THROW(average.add(0, std::vector<double>(2)), InputError);
  EXPECT_THROW(average.result(two, three), InputError);
  EXPECT_THROW(average.result(three, two), InputError);
  EXPECT_THROW(average.restore(three), InputError);
  IterateAverage exponential({.kind = Averaging::exponential}, 2, 1);
  EXPECT_THROW(exponential.restore(two), InputError);
  EXPECT_THROW(exponential.restore(std::vector<double>{0.5, 0, 0}), InputError);
}

TEST(Averaging, NamesGoBothWays) {
  for (const Averaging kind : kEveryAveraging) EXPECT_EQ(named<Averaging>(to_string(kind)), kind);
  EXPECT_EQ(to_string(Averaging::half), "half");
  EXPECT_THROW(named<Averaging>("polyak"), InputError);
}

}  // namespace
}  // namespace ration::testing
