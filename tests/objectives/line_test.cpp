// The loss sums along a line are those at its points, computed another way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "objectives/tables.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Vector = std::vector<double>;

Vector sums_along(Objective& objective, const Objective::Line& line, const Batch& batch, double bound) {
  Vector sums(line.steps.size(), std::nan(""));
  objective.clipped_loss_sums_along(line, batch, bound, sums);
  return sums;
}

std::vector<Vector> points_of(const Objective::Line& line) {
  std::vector<Vector> points;
  for (const double step : line.steps) {
    Vector point(line.start.begin(), line.start.end());
    for (std::size_t i = 0; i < point.size(); ++i) point[i] -= step * line.direction[i];
    points.push_back(point);
  }
  return points;
}

class AlongALine : public ::testing::TestWithParam<std::tuple<GlmLoss, Storage>> {
 protected:
  auto table(std::size_t rows, std::size_t columns, bool hostile = false, std::size_t times = 1) {
    return random_table(loss(), std::get<1>(GetParam()), rows, columns, hostile, random_, times);
  }
  GlmLoss loss() const { return std::get<0>(GetParam()); }
  Vector weights(const Objective& objective, double scale = 0.7) {
    return random_weights(objective.parameters(), scale, random_);
  }

  const Vector steps_ = {0, 0.1, 1, -0.5, 2.5, 1e-12, 30, 4, 7};
  std::mt19937_64 random_{17};
};

TEST_P(AlongALine, TheSumsAreThoseAtThePoints) {
  for (const std::size_t columns : {1u, 2u, 5u, 31u}) {
    const auto objective = glm(loss(), table(101, columns));
    const Vector start = weights(*objective), direction = weights(*objective);
    const Objective::Line line{start, direction, steps_};
    for (const Batch& batch : {all(101), all_but(101, 50), Batch{.rows = {3, 17, 90}, .divisor = 1}}) {
      for (const double bound : {0.3, 2.0, 1e6}) {
        const Vector along = sums_along(*objective, line, batch, bound);
        const Vector at_points = loss_sums(*objective, points_of(line), batch, bound);
        for (std::size_t k = 0; k < along.size(); ++k) {
          EXPECT_NEAR(along[k], at_points[k], 1e-12 * std::max(1.0, at_points[k]));
        }
      }
    }
  }
}

TEST_P(AlongALine, ManyBlocksAndThreadsChangeNothing) {
  const auto rows = table(500, 60, false, 120);
  const auto one = glm(loss(), rows, 1);
  const Vector start = weights(*one, 0.2), direction = weights(*one, 0.2);
  const Objective::Line line{start, direction, steps_};
  const Vector expected = sums_along(*one, line, all(60'000), 1);
  for (const std::size_t threads : {2u, 3u}) {
    EXPECT_EQ(sums_along(*glm(loss(), rows, threads), line, all(60'000), 1), expected);
  }
  const Vector at_points = loss_sums(*one, points_of(line), all(60'000), 1);
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(expected[k], at_points[k], 1e-7);
}

// The two ways may differ for a row with huge values, where one overflows and the other does not. What must
// hold is the bound on what the row adds: to nothing, and to any batch of others.
TEST_P(AlongALine, AHostileRowStaysWithinTheBound) {
  constexpr double kBound = 0.75;
  for (const double scale : {1e-3, 1.0, 1e5, 1e200}) {
    const auto objective = glm(loss(), table(60, 5, true));
    const Vector start = weights(*objective, scale), direction = weights(*objective, scale);
    const Vector steps = {0, 1, -1, 1e-300, 1e150, 1e308, std::nan(""), INFINITY};
    const Objective::Line line{start, direction, steps};
    const Vector whole = sums_along(*objective, line, all(60), kBound);
    for (std::uint64_t row = 0; row < 60; ++row) {
      const Vector alone = sums_along(*objective, line, {.rows = {row}, .divisor = 1}, kBound);
      const Vector others = sums_along(*objective, line, all_but(60, row), kBound);
      for (std::size_t k = 0; k < steps.size(); ++k) {
        ASSERT_GE(alone[k], 0);
        ASSERT_LE(alone[k], kBound);
        ASSERT_NEAR(whole[k], others[k] + alone[k], 1e-12);
      }
    }
  }
}

TEST_P(AlongALine, RowsWithoutALossAddNothing) {
  const auto storage = std::get<1>(GetParam());
  const auto rows = store(storage, 2, {std::nan(""), 1, 0.5, 1, INFINITY, 1, -INFINITY, 1}, {0, 1, 1, 0});
  const auto objective = glm(loss(), rows);
  const Vector start(objective->parameters(), 0.25), direction(objective->parameters(), 0.5);
  const Vector steps = {0, 0.25};
  const Objective::Line line{start, direction, steps};
  const Batch nan_and_good{.rows = {0, 1}, .divisor = 1};
  const Batch good{.rows = {1}, .divisor = 1};
  EXPECT_EQ(sums_along(*objective, line, nan_and_good, 1), sums_along(*objective, line, good, 1));
}

TEST_P(AlongALine, AnEmptyBatchAndAnEmptyLine) {
  const auto objective = glm(loss(), table(5, 4));
  const Vector start = weights(*objective), direction = weights(*objective);
  EXPECT_THAT(sums_along(*objective, {start, direction, steps_}, {}, 1), Each(0.0));
  EXPECT_TRUE(sums_along(*objective, {start, direction, {}}, all(5), 1).empty());
}

TEST_P(AlongALine, ASecondCallForgetsTheFirst) {
  const auto objective = glm(loss(), table(50, 4));
  const Vector start = weights(*objective), direction = weights(*objective);
  const Objective::Line line{start, direction, steps_};
  const Vector once = sums_along(*objective, line, all(50), 1);
  gradient_sum(*objective, start, all(50), AutoV{});
  EXPECT_EQ(sums_along(*objective, line, all(50), 1), once);
}

TEST_P(AlongALine, RefusesWhatDoesNotFit) {
  const auto objective = glm(loss(), table(5, 4));
  const Vector w = weights(*objective), shorter(w.size() - 1);
  Vector sums(steps_.size()), too_few(steps_.size() - 1);
  const auto ask = [&](const Objective::Line& line, double bound, Vector& places, std::size_t rows = 5) {
    return [&, line, bound, rows] { objective->clipped_loss_sums_along(line, all(rows), bound, places); };
  };
  EXPECT_THROW(ask({shorter, w, steps_}, 1, sums)(), InputError);
  EXPECT_THAT(ask({w, shorter, steps_}, 1, sums),
              ThrowsMessage<InputError>(HasSubstr("parameters in the direction")));
  EXPECT_THROW(ask({w, w, steps_}, 1, too_few)(), InputError);
  EXPECT_THROW(ask({w, w, steps_}, 0, sums)(), InputError);
  EXPECT_THROW(ask({w, w, steps_}, std::nan(""), sums)(), InputError);
  EXPECT_THROW(ask({w, w, steps_}, 1, sums, 6)(), InputError);
}

// ---- longest_chain ----

// What it promises: the error of a sum of m contributions of at most 1 is within m k u. Equal numbers whose
// last digits are all set are rounded in the same direction time after time.
TEST_P(AlongALine, TheLongestChainCoversTheErrorOfLongSums) {
  constexpr std::size_t kRows = 200'000;
  constexpr double kBound = 0.1;  // not a sum of few powers of two
  const auto rows = store(std::get<1>(GetParam()), 1, Vector(kRows, 1.0), Vector(kRows, 0.0));
  const auto objective = glm(loss(), rows, 2);
  const Vector w(objective->parameters(), 3.0), direction(objective->parameters(), 0.0), steps = {1};
  const double one = loss_sums(*objective, {w}, {.rows = {0}, .divisor = 1}, kBound)[0];
  const long double exact = static_cast<long double>(one) * kRows;
  const double chain = static_cast<double>(objective->longest_chain(kRows));
  const double room = kRows * kBound * chain * 0x1p-53;
  EXPECT_LE(std::abs(loss_sums(*objective, {w}, all(kRows), kBound)[0] - exact), room);
  EXPECT_LE(std::abs(sums_along(*objective, {w, direction, steps}, all(kRows), kBound)[0] - exact), room);
}

TEST_P(AlongALine, TheLongestChainDoesNotFall) {
  const auto objective = glm(loss(), table(5, 4));
  std::uint64_t before = 0;
  for (std::uint64_t rows = 0; rows < std::uint64_t{1} << 53; rows = rows * 3 / 2 + 1) {
    const std::uint64_t chain = objective->longest_chain(rows);
    EXPECT_GE(chain, before);
    EXPECT_GE(chain, std::min<std::uint64_t>(rows, 8192));
    before = chain;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AlongALine,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses),
                                            ::testing::Values(Storage::dense, Storage::sparse)));

}  // namespace
}  // namespace ration::testing
