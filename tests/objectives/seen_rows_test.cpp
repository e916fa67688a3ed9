#include "objectives/glm/seen_rows.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <limits>

#include "objectives/views.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Storage kStorages[] = {Storage::dense, Storage::sparse};

double norm(const Vector& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

void expect_near(const Vector& got, const Vector& expected, double relative) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], relative * norm(expected));
}

// Rows without a column of ones, which may be as short as they like.
std::shared_ptr<const Rows> hostile_rows(Storage storage, std::size_t rows, std::size_t columns,
                                         std::mt19937_64& random) {
  Vector values;
  for (std::size_t row = 0; row < rows; ++row) {
    const double scale = std::pow(10.0, static_cast<double>(random() % 600) - 300);
    const bool mixed = random() % 3 == 0;
    for (std::size_t column = 0; column < columns; ++column)
      values.push_back(mixed ? hostile_value(random) : scale * plain_value(random));
  }
  return store(storage, columns, std::move(values), Vector(rows, 0.0));
}

bool contributes(double norm) {
  return norm >= DBL_MIN && norm <= DBL_MAX;
}

TEST(NormsThrough, AreUpperBoundsWhateverRowAndMapHold) {
  std::mt19937_64 random(1);
  for (const double size : {1e-300, 1e-160, 1e-20, 1e-3, 1.0, 1e3, 1e20, 1e140}) {
    for (const Storage storage : kStorages) {
      for (const std::size_t columns : {1u, 3u, 50u}) {
        const auto view = random_view(columns, 1 + random() % 40, size, random);
        const auto rows = hostile_rows(storage, 200, columns, random);
        const Vector norms = norms_through(*rows, *view, 2);
        for (std::size_t row = 0; row < rows->count(); ++row) {
          if (!contributes(norms[row])) continue;
          const auto claimed = static_cast<long double>(norms[row]);
          ASSERT_GE(claimed, length_of(seen_in_long_double(*rows, row, *view)));
          ASSERT_GE(norms[row] * usual_length(columns) * (1 + 1e-15), rows->norms()[row]);
        }
      }
    }
  }
}

// Squares of what is seen of these rows are lost below the smallest double.
TEST(NormsThrough, ARowWhoseSquaresAreLostContributesNothing) {
  const std::size_t columns = 64;
  std::vector<std::size_t> used(columns);
  Vector matrix(columns * columns, 0.0);
  for (std::size_t j = 0; j < columns; ++j) {
    used[j] = j;
    matrix[j * columns + j] = 1;
  }
  const auto view = std::make_shared<const RowView>(columns, used, columns, matrix);
  for (const double tiny : {1e-150, 1e-161, 1e-162, 1e-170, 1e-300}) {
    Vector values(columns, 0.0);
    values[5] = tiny;
    // A label so far away that a gradient of this row is long all the same.
    const auto rows = store(Storage::sparse, columns, values, {1e305});
    for (const AnyClipRule& rule : {AnyClipRule(Abadi{1}), AnyClipRule(AutoV{1}), AnyClipRule(AutoS{1})}) {
      const auto objective = glm(GlmLoss::squared, rows)->seen_through(view);
      EXPECT_LE(norm(gradient_sum(*objective, Vector(columns, 0.0), all(1), rule)), 1) << tiny;
    }
  }
}

TEST(NormsThrough, AreLittleMoreThanTheNormsOfOrdinaryRows) {
  std::mt19937_64 random(2);
  for (const Storage storage : kStorages) {
    const auto rows = random_table(GlmLoss::logistic, storage, 100, 20, false, random);
    const auto view = random_view(20, 10, 3, random);
    const Vector norms = norms_through(*rows, *view, 1);
    for (std::size_t row = 0; row < rows->count(); ++row) {
      const auto exact = static_cast<double>(length_of(seen_in_long_double(*rows, row, *view)));
      EXPECT_LE(norms[row], std::max(exact, rows->norms()[row] / std::sqrt(20.0)) * (1 + 1e-12));
    }
  }
}

// A column that nobody looks at can still be the longest part of a row, and the sums are taken before
// looking.
TEST(NormsThrough, KeepLongRowsShortInTheSumsOnTheWay) {
  const RowView view(4, {0}, 1, {1});
  for (const double other : {0.0, 1.0, 1e3, 1e150, 1e300}) {
    const auto rows = store(Storage::dense, 4, {1, other, 0, 0}, {0});
    EXPECT_GE(norms_through(*rows, view, 1)[0], rows->norms()[0] / 2);
  }
}

TEST(NormsThrough, SaysOfARowWithANumberThatIsNoneThatItHasNoNorm) {
  const RowView view(3, {0, 2}, 1, {1, 1});
  for (const Storage storage : kStorages) {
    for (const double value : {std::nan(""), kInfinity, -kInfinity}) {
      const auto rows = store(storage, 3, {value, 1, 1, 1, value, 1, kInfinity, 1, -kInfinity}, {0, 0, 0});
      for (const double norm : norms_through(*rows, view, 1)) EXPECT_FALSE(std::isfinite(norm));
    }
  }
}

// --- objectives

struct Seen {
  std::shared_ptr<const Rows> rows;
  std::shared_ptr<const RowView> view;
  std::unique_ptr<Objective> through;     // the rows, seen
  std::unique_ptr<Objective> explicitly;  // a table of what is seen
};

Seen seen(GlmLoss loss, Storage storage, std::size_t rows, std::size_t columns, std::size_t threads,
          std::mt19937_64& random) {
  const auto table = random_table(loss, storage, rows, columns, false, random);
  const auto view = random_view(columns, columns / 2 + 1, 3, random);
  return {table, view, glm(loss, table, threads)->seen_through(view), glm(loss, seen_table(*table, *view))};
}

// Rows that are not much longer than what is seen of them, which is what their norms go by otherwise.
Batch ordinary(const Seen& drawn) {
  const Rows& rows = *drawn.rows;
  Batch batch;
  const double usual = usual_length(rows.columns());
  for (std::size_t row = 0; row < rows.count(); ++row) {
    if (length_of(seen_in_long_double(rows, row, *drawn.view)) > 1.01 * rows.norms()[row] / usual)
      batch.rows.push_back(row);
  }
  EXPECT_GE(batch.rows.size(), rows.count() / 4);
  return batch;
}

class EveryLossAndStorage : public ::testing::TestWithParam<std::tuple<GlmLoss, Storage>> {
 protected:
  Seen draw(std::size_t rows, std::size_t columns) {
    return seen(std::get<0>(GetParam()), std::get<1>(GetParam()), rows, columns, 1, random_);
  }
  std::mt19937_64 random_{5};
};

TEST_P(EveryLossAndStorage, HasTheSumsOfATableOfWhatIsSeen) {
  for (const std::size_t columns : {2u, 5u, 40u}) {
    const Seen drawn = draw(100, columns);
    ASSERT_EQ(drawn.through->parameters(), drawn.explicitly->parameters());
    const Vector u = random_weights(drawn.through->parameters(), 0.1, random_);
    const Vector direction = random_weights(u.size(), 0.1, random_);
    const Batch batch = ordinary(drawn);
    for (const double bound : {0.01, 2.0, 1e4}) {
      for (const AnyClipRule& rule : {AnyClipRule(Abadi{bound}), AnyClipRule(AutoS{bound, 0.1})}) {
        expect_near(gradient_sum(*drawn.through, u, batch, rule),
                    gradient_sum(*drawn.explicitly, u, batch, rule), 1e-12);
      }
      expect_near(loss_sums(*drawn.through, {u, direction}, batch, bound),
                  loss_sums(*drawn.explicitly, {u, direction}, batch, bound), 1e-12);
      const Vector steps = {0, 0.5, 2};
      Vector through(3), explicitly(3);
      drawn.through->clipped_loss_sums_along({u, direction, steps}, batch, bound, through);
      drawn.explicitly->clipped_loss_sums_along({u, direction, steps}, batch, bound, explicitly);
      expect_near(through, explicitly, 1e-12);
      EXPECT_EQ(drawn.through->count_norms_at_most(u, batch, bound),
                drawn.explicitly->count_norms_at_most(u, batch, bound));
    }
    EXPECT_NEAR(drawn.through->mean_loss(u), drawn.explicitly->mean_loss(u), 1e-12);
    Vector through(100), explicitly(100);
    drawn.through->predict(u, through);
    drawn.explicitly->predict(u, explicitly);
    expect_near(through, explicitly, 1e-12);
  }
}

// Rows with norms of every size between the bounds, so that some are shortened and some are not.
TEST_P(EveryLossAndStorage, HasTheMomentsOfATableOfWhatIsSeen) {
  for (const std::size_t columns : {2u, 5u, 40u}) {
    const Seen drawn = draw(100, columns);
    const std::size_t side = drawn.view->coordinates();
    const Batch batch = ordinary(drawn);
    const auto table = [&](std::size_t row, double bound) {
      Vector sum(side);
      drawn.explicitly->shortened_row_sum({.rows = {row}, .divisor = 1}, bound, sum);
      return sum;
    };
    for (const double bound : {0.01, 20.0, 1e4}) {
      Vector sum(side), upper(triangle_size(side)), expected_sum(side), expected_upper(upper.size());
      for (const std::uint64_t row : batch.rows) {
        const Vector z = table(row, bound);
        for (std::size_t i = 0, at = 0; i < side; ++i) {
          expected_sum[i] += z[i];
          for (std::size_t j = i; j < side; ++j, ++at) expected_upper[at] += z[i] * z[j];
        }
      }
      drawn.through->shortened_row_sum(batch, bound, sum);
      drawn.through->second_moment_sum(batch, bound, upper);
      expect_near(sum, expected_sum, 1e-12);
      expect_near(upper, expected_upper, 1e-11);
    }
  }
}

// As everywhere: long sums are cut the same way however many threads there are.
TEST_P(EveryLossAndStorage, IsTheSameWhateverTheNumberOfThreads) {
  const auto [loss, storage] = GetParam();
  const auto table = random_table(loss, storage, 500, 36, false, random_, 100);
  const auto view = random_view(36, 20, 1, random_);
  const Batch batch = all(table->count());
  Vector u, gradients, means, moments;
  for (const std::size_t threads : {1u, 2u, 5u}) {
    const auto objective = glm(loss, table, threads)->seen_through(view);
    if (u.empty()) u = random_weights(objective->parameters(), 0.1, random_);
    Vector mean(view->coordinates()), upper(triangle_size(view->coordinates()));
    const Vector gradient = gradient_sum(*objective, u, batch, Abadi{1});
    objective->shortened_row_sum(batch, 3, mean);
    objective->second_moment_sum(batch, 3, upper);
    if (threads == 1) {
      gradients = gradient;
      means = mean;
      moments = upper;
    }
    EXPECT_EQ(gradient, gradients);
    EXPECT_EQ(mean, means);
    EXPECT_EQ(upper, moments);
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<GlmLoss, Storage>>& info) {
  return std::string(to_string(std::get<0>(info.param))) +
         (std::get<1>(info.param) == Storage::dense ? "_dense" : "_sparse");
}

INSTANTIATE_TEST_SUITE_P(SeenObjective, EveryLossAndStorage,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses), ::testing::ValuesIn(kStorages)),
                         name_of);

TEST(SeenObjective, SaysWhatEverybodyMayKnow) {
  const auto rows =
      std::make_shared<const Rows>(Rows::dense(2, {1, 1, 1, 1}, {0, 1}).with_row_norms_at_most(1));
  const auto objective = glm(GlmLoss::logistic, rows);
  EXPECT_EQ(objective->facts().columns, 2u);
  EXPECT_EQ(objective->facts().row_norm_bound, 1);
  const auto view = std::make_shared<const RowView>(2, std::vector<std::size_t>{0, 1}, 3, Vector(6, 10.0));
  const auto through = objective->seen_through(view);
  EXPECT_EQ(through->facts().columns, 3u);
  EXPECT_EQ(through->facts().row_norm_bound, PublicFacts::kUnknown);  // the map may make them longer
  EXPECT_EQ(through->facts().slope_bound, objective->facts().slope_bound);
  EXPECT_GE(through->longest_chain(100), objective->longest_chain(100));
  EXPECT_GE(through->magnification(), std::sqrt(600.0) * std::sqrt(2.0));
  EXPECT_EQ(objective->magnification(), 1);
}

// Sums of losses do not pass through the map, so a small one does not make their rounding smaller.
TEST(SeenObjective, NeverMagnifiesByLessThanOne) {
  const auto objective = glm(GlmLoss::logistic, store(Storage::dense, 2, {1, 1}, {0}));
  for (const double value : {0.0, 1e-300, 1e-9, 0.1}) {
    const auto view = std::make_shared<const RowView>(2, std::vector<std::size_t>{0, 1}, 1, Vector(2, value));
    EXPECT_GE(objective->seen_through(view)->magnification(), 1) << value;
  }
}

TEST(SeenObjective, AMapOfASeenRowIsForTheRowItself) {
  const auto rows = store(Storage::dense, 2, {3, 4}, {1});
  const std::vector<std::size_t> used = {0, 1};
  const auto first = std::make_shared<const RowView>(2, used, 2, Vector{2, 0, 0, 2});
  const auto second = std::make_shared<const RowView>(2, used, 1, Vector{1, 1});
  const auto objective = glm(GlmLoss::logistic, rows)->seen_through(first)->seen_through(second);
  Vector sum(1);
  objective->shortened_row_sum(all(1), 100, sum);
  EXPECT_NEAR(sum[0], 7, 1e-9);
}

TEST(SeenObjective, RefusesMapsOfOtherRows) {
  const auto objective = glm(GlmLoss::logistic, store(Storage::dense, 2, {3, 4}, {1}));
  const auto view = std::make_shared<const RowView>(3, std::vector<std::size_t>{0}, 1, Vector{1});
  EXPECT_THROW((void)objective->seen_through(view), InputError);
  Vector sum(3);
  EXPECT_THROW(objective->shortened_row_sum(all(1), 1, sum), InputError);
  EXPECT_THROW(objective->shortened_row_sum(all(2), 1, std::span(sum).first(2)), InputError);
  EXPECT_THROW(objective->second_moment_sum(all(1), 1, sum), InputError);  // not seen through a map
}

// Whoever breaks one column of a row breaks the row, whichever columns are looked at.
TEST(SeenObjective, RowsThatHoldNoNumbersContributeNothing) {
  const auto view = std::make_shared<const RowView>(3, std::vector<std::size_t>{0, 2}, 2, Vector{1, 2, 3, 4});
  for (const Storage storage : kStorages) {
    for (const double value : {std::nan(""), kInfinity, -kInfinity}) {
      const auto rows = store(storage, 3, {value, 1, 1, 1, value, 1, 1, 1, value}, {0, 1, 0});
      const auto objective = glm(GlmLoss::logistic, rows)->seen_through(view);
      Vector sum(2, 5.0), upper(3, 5.0);
      objective->shortened_row_sum(all(3), 1, sum);
      objective->second_moment_sum(all(3), 1, upper);
      EXPECT_EQ(sum, Vector(2, 0.0));
      EXPECT_EQ(upper, Vector(3, 0.0));
      EXPECT_EQ(gradient_sum(*objective, Vector(2, 0.5), all(3), Abadi{1}), Vector(2, 0.0));
    }
  }
}

TEST(SeenObjective, AnEmptyBatchGivesZeros) {
  const auto view = std::make_shared<const RowView>(1, std::vector<std::size_t>{0}, 2, Vector{1, 2});
  const auto objective = glm(GlmLoss::logistic, store(Storage::dense, 1, {1}, {1}))->seen_through(view);
  Vector sum(2, 5.0), upper(3, 5.0);
  objective->shortened_row_sum({}, 1, sum);
  objective->second_moment_sum({}, 1, upper);
  EXPECT_EQ(sum, Vector(2, 0.0));
  EXPECT_EQ(upper, Vector(3, 0.0));
}

}  // namespace
}  // namespace ration::testing
