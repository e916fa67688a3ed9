#include "compare/folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::compare;
using ::testing::HasSubstr;

class FoldsOfSize : public ::testing::TestWithParam<std::pair<std::size_t, std::size_t>> {};

TEST_P(FoldsOfSize, AreDisjointCoverAllRowsAndAreAlmostEqual) {
  const auto [rows, folds] = GetParam();
  const Folds all(rows, folds, 0);
  std::vector<std::size_t> tested;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const Split split = all.split(fold);
    EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
    EXPECT_GE(split.test.size(), rows / folds);
    EXPECT_LE(split.test.size(), (rows + folds - 1) / folds);
    EXPECT_EQ(split.train.size(), all.train_rows());
    EXPECT_LE(rows - split.test.size() - split.train.size(), 1u);
    std::vector<std::size_t> both;
    std::set_intersection(split.train.begin(), split.train.end(), split.test.begin(), split.test.end(),
                          std::back_inserter(both));
    EXPECT_TRUE(both.empty());
    EXPECT_EQ(std::adjacent_find(split.train.begin(), split.train.end()), split.train.end());
    tested.insert(tested.end(), split.test.begin(), split.test.end());
  }
  std::sort(tested.begin(), tested.end());
  std::vector<std::size_t> expected(rows);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(tested, expected);
}

INSTANTIATE_TEST_SUITE_P(Folds, FoldsOfSize,
                         ::testing::Values(std::pair{2, 2}, std::pair{10, 3}, std::pair{1000, 10},
                                           std::pair{1003, 10}, std::pair{7, 7}, std::pair{48842, 10}));

TEST(Folds, DifferByRepeatAndAreAlwaysTheSame) {
  EXPECT_EQ(Folds(500, 5, 0).split(2).test, Folds(500, 5, 0).split(2).test);
  EXPECT_NE(Folds(500, 5, 0).split(2).test, Folds(500, 5, 1).split(2).test);
}

// The rows of a file are often sorted; a fold takes its share of each stretch. The share of a tenth of the
// rows in a fold has mean 100 and deviation below 10, so that all lie within 6 deviations.
TEST(Folds, TakeTheirShareOfEveryPartOfTheFile) {
  for (std::size_t repeat = 0; repeat < 5; ++repeat) {
    const Folds folds(10'000, 10, repeat);
    for (std::size_t fold = 0; fold < 10; ++fold) {
      std::vector<int> in_part(10);
      for (const std::size_t row : folds.split(fold).test) ++in_part[row / 1000];
      for (const int count : in_part) EXPECT_NEAR(count, 100, 60);
    }
  }
}

TEST(Folds, RefuseMoreFoldsThanRows) {
  EXPECT_THAT(refusal([] { Folds(5, 6, 0); }), HasSubstr("2 <= folds <= 5"));
  EXPECT_THAT(refusal([] { Folds(5, 1, 0); }), HasSubstr("2 <= folds"));
}

}  // namespace
}  // namespace ration::testing
