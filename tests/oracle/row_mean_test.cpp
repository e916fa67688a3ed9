#include "oracle/row_mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

const Budget kPlenty{1e9, 1e-6};

Rows table(std::vector<double> values, std::size_t columns = 2) {
  const std::size_t rows = values.size() / columns;
  return Rows::dense(columns, std::move(values), std::vector<double>(rows, 0.0));
}

// Hardly any noise, so that what is added up can be seen.
std::vector<double> nearly_exact_mean(const Rows& rows, double bound, double declared) {
  const auto filter = make_gdp_filter(kPlenty, Relation::add_remove);
  SeededRandom random(1);
  return noisy_row_mean(rows, {.bound = bound, .noise_multiplier = 1e-4}, declared, Relation::add_remove,
                        *filter, random)
      .value();
}

TEST(NoisyRowMean, ShortensRowsAndDividesByWhatIsDeclared) {
  const std::vector<double> mean =
      nearly_exact_mean(table({3, 4, 0, 1}), 2, 10);  // (3, 4) becomes (1.2, 1.6)
  EXPECT_NEAR(mean[0], 0.12, 1e-3);
  EXPECT_NEAR(mean[1], 0.26, 1e-3);
}

TEST(NoisyRowMean, SparseRowsHaveTheSame) {
  const Rows sparse =
      Rows::sparse({.columns = 3, .starts = {0, 1, 3}, .indices = {1, 0, 2}, .values = {2, 1, 1}}, {0, 0});
  const std::vector<double> mean = nearly_exact_mean(sparse, 5, 2);
  EXPECT_NEAR(mean[0], 0.5, 1e-2);
  EXPECT_NEAR(mean[1], 1, 1e-2);
  EXPECT_NEAR(mean[2], 0.5, 1e-2);
}

// Neighbours: with the same noise, one row more moves the sum by its own length at most, whatever it holds.
TEST(NoisyRowMean, OneRowMovesTheSumByTheBoundAtMost) {
  constexpr double kBound = 1.5, kDeclared = 4;
  const Rows without = table({0.3, -0.2, 1, 1});
  const std::vector<double> base = nearly_exact_mean(without, kBound, kDeclared);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [x, y] :
       {std::pair{1e9, -1e9}, {0.1, 0.1}, {infinity, 0.0}, {std::nan(""), 1.0}, {1e-300, 0.0}}) {
    const std::vector<double> with = nearly_exact_mean(table({0.3, -0.2, 1, 1, x, y}), kBound, kDeclared);
    const double moved = kDeclared * std::hypot(with[0] - base[0], with[1] - base[1]);
    EXPECT_LE(moved, kBound * (1 + 1e-9)) << x;
    if (x == 1e9) {
      EXPECT_GT(moved, kBound * (1 - 1e-3));  // the bound is reached
    }
  }
}

TEST(NoisyRowMean, IsChargedAsOneGaussianAndRefusedItDrawsNothing) {
  const Budget small{1, 1e-6};
  CountingRandom random(1);
  const auto filter = make_gdp_filter(small, Relation::add_remove);
  EXPECT_FALSE(
      noisy_row_mean(table({1, 1}), {.noise_multiplier = 0.5}, 1, Relation::add_remove, *filter, random));
  EXPECT_EQ(random.words_generated(), 0u);
  EXPECT_EQ(filter->spent_epsilon(), 0);
  const auto same = make_gdp_filter(small, Relation::add_remove);
  ASSERT_TRUE(
      noisy_row_mean(table({1, 1}), {.noise_multiplier = 20}, 1, Relation::add_remove, *filter, random));
  ASSERT_TRUE(same->spend(Event::gaussian(20)));
  EXPECT_EQ(filter->spent_epsilon(), same->spent_epsilon());
}

TEST(NoisyRowMean, RefusesWhatHasNoMeaning) {
  const auto filter = make_gdp_filter(kPlenty, Relation::add_remove);
  SeededRandom random(1);
  const Rows rows = table({1, 1});
  const auto ask = [&](const RowMeanQuery& query, double declared) {
    return noisy_row_mean(rows, query, declared, Relation::add_remove, *filter, random);
  };
  EXPECT_THROW(ask({.bound = 0}, 1), InputError);
  EXPECT_THROW(ask({.noise_multiplier = 0}, 1), InputError);
  EXPECT_THROW(ask({}, 0), InputError);
}

}  // namespace
}  // namespace ration::testing
