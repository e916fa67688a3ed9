#include "baselines/majority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/bench.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using Vector = std::vector<double>;

// The table's own counts.
Vector true_counts() {
  const auto rows = BaselineBench::table(1);
  Vector counts(2);
  for (const double label : rows->labels()) counts[static_cast<std::size_t>(label)] += 1;
  return counts;
}

TEST(Majority, OfTwoClassesIsTheSignOfTheBias) {
  for (const GlmLoss loss : {GlmLoss::logistic, GlmLoss::hinge, GlmLoss::huber}) {
    BaselineBench bench(loss);
    const auto method = make_majority({.noise_multiplier = 1e-6, .bias_column = 2}, 3);
    const Vector w = bench.run(*method), counts = true_counts();
    EXPECT_EQ(w[0], 0);
    EXPECT_EQ(w[1], 0);
    EXPECT_NEAR(w[2], std::log(counts[1] / counts[0]), 1e-6);
    EXPECT_NEAR(bench.accuracy(w), counts[1] / BaselineBench::kRows, 1e-12);
  }
}

TEST(Majority, WithOneOutputPerClassIsTheLargestBias) {
  BaselineBench bench(GlmLoss::softmax);
  const auto method = make_majority({.noise_multiplier = 1e-6, .bias_column = 1, .outputs = 2}, 6);
  const Vector w = bench.run(*method), counts = true_counts();
  for (const std::size_t i : {0, 2, 3, 5}) EXPECT_EQ(w[i], 0);
  EXPECT_NEAR(w[1], std::log(counts[0]), 1e-6);
  EXPECT_NEAR(w[4], std::log(counts[1]), 1e-6);
}

TEST(Majority, StaysFiniteWhateverTheNoise) {
  BaselineBench bench;
  for (int i = 0; i < 20; ++i) {
    const auto method = make_majority({.noise_multiplier = 1e7, .bias_column = 2}, 3);
    EXPECT_TRUE(std::isfinite(bench.run(*method)[2]));
  }
}

TEST(Majority, RefusesNumbersAndShapesThatDoNotFit) {
  BaselineBench bench(GlmLoss::squared);
  const auto method = make_majority({.bias_column = 2}, 3);
  EXPECT_THAT(refusal([&] { EXPECT_FALSE(method->step(bench.oracle)); }), HasSubstr("are no classes"));
  EXPECT_THAT(refusal([] { make_majority({.bias_column = 3}, 3); }), HasSubstr("bias_column < 3"));
  EXPECT_THAT(refusal([] { make_majority({.bias_column = 3, .outputs = 2}, 6); }),
              HasSubstr("bias_column < 3"));
  EXPECT_THAT(refusal([] { make_majority({.classes = 3, .outputs = 1}, 6); }),
              HasSubstr("one output per class"));
  EXPECT_THAT(refusal([] { make_majority({.classes = 1}, 6); }), HasSubstr("classes"));
  EXPECT_THAT(refusal([] { make_majority({.outputs = 0}, 6); }), HasSubstr("one output per class"));
}

}  // namespace
}  // namespace ration::testing
