// Units of several rows (data/units.h): what a unit contributes is what its definition says, computed from
// one row after the other. That it stays within its bound is in sensitivity_test.cpp.
#include "ration/data/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <numeric>

#include "objectives/glm/unit_lengths.h"
#include "objectives/tables.h"
#include "objectives/views.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

double norm(const Vector& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

void add(Vector& sum, const Vector& more, double factor = 1) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * more[i];
}

std::unique_ptr<Objective> by_units(GlmLoss loss, std::shared_ptr<const Rows> rows,
                                    std::shared_ptr<const Units> units, std::size_t threads = 1) {
  return make_glm(
      std::move(rows),
      {.loss = loss, .classes = kClasses, .huber_width = 0.5, .threads = threads, .units = std::move(units)});
}

std::shared_ptr<const Units> units_of(std::vector<std::size_t> starts, bool even = false) {
  return std::make_shared<const Units>(std::move(starts), 40, even);
}

Batch one(std::size_t number) {
  return {.rows = {number}, .divisor = 1};
}

// A map that makes no row shorter, since one that it makes much shorter is clipped sooner (seen_rows.h):
// turns and stretches of two columns each.
std::shared_ptr<const RowView> stretching_view(std::size_t columns, std::mt19937_64& random) {
  std::vector<std::size_t> used(columns);
  std::iota(used.begin(), used.end(), std::size_t{0});
  Vector matrix(columns * columns, 0.0);
  for (std::size_t k = 0; k < columns; ++k) {
    const double stretch = 1 + static_cast<double>(random() % 100) / 100;
    const std::size_t pair = k ^ 1U;
    matrix[k * columns + k] = stretch;
    if (pair < columns) matrix[k * columns + pair] = pair > k ? 0.5 * stretch : -0.5 * stretch;
  }
  return std::make_shared<const RowView>(columns, used, columns, matrix);
}

// Tables of everyday numbers in units, by both weights, seen through a map or not.
struct Drawn {
  std::shared_ptr<const Units> units;
  std::unique_ptr<Objective> objective;  // by units
  std::unique_ptr<Objective> rows;       // the same rows, one by one
  std::size_t coordinates = 0;
  Vector w;
};

Drawn draw(GlmLoss loss, Storage storage, bool seen) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<std::size_t> starts{0};
  for (int unit = 0; unit < 5; ++unit) starts.push_back(starts.back() + random() % 9);
  Drawn drawn{.units = units_of(starts, random() % 2 == 0), .objective = {}, .rows = {}, .w = {}};
  const std::size_t columns = 1 + random() % 7;
  const auto table = random_table(loss, storage, drawn.units->rows(), columns, false, random);
  drawn.objective = by_units(loss, table, drawn.units);
  drawn.rows = glm(loss, table);
  drawn.coordinates = columns;
  if (seen) {
    const auto view = stretching_view(columns, random);
    drawn.objective = drawn.objective->seen_through(view);
    drawn.rows = drawn.rows->seen_through(view);
    drawn.coordinates = view->coordinates();
  }
  drawn.w = random_weights(drawn.objective->parameters(), 1, random);
  return drawn;
}

class EveryUnit : public ::testing::TestWithParam<std::tuple<GlmLoss, Storage, bool>> {
 protected:
  Drawn draw_one() const {
    return draw(std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()));
  }
};

TEST_P(EveryUnit, AGradientIsTheSumOfItsRowsAndClippedAsAWhole) {
  EXPECT_TRUE(rc::check([&] {
    const Drawn drawn = draw_one();
    for (std::size_t unit = 0; unit < drawn.units->count(); ++unit) {
      Vector whole(drawn.w.size(), 0.0);
      for (std::size_t i = 0; i < drawn.units->size(unit); ++i)
        add(whole, gradient_sum(*drawn.rows, drawn.w, one(drawn.units->first(unit) + i), Abadi{1e100}),
            drawn.units->weight(unit));
      for (const double bound : {0.3, 3.0}) {
        Vector difference = gradient_sum(*drawn.objective, drawn.w, one(unit), Abadi{bound});
        const double length = norm(whole);
        add(difference, whole, -std::min(1.0, bound / length));
        // Rows that cancel by more than the sixty-fourth part are not to be expected here.
        if (length > 0) RC_ASSERT(norm(difference) <= 1e-6 * std::min(bound, length) + 1e-10);
      }
    }
  }));
}

TEST_P(EveryUnit, ALossIsTheSumOfItsRowsAndClippedAsAWhole) {
  EXPECT_TRUE(rc::check([&] {
    const Drawn drawn = draw_one();
    const Vector steps{0, 0.5};
    for (std::size_t unit = 0; unit < drawn.units->count(); ++unit) {
      double whole = 0;
      for (std::size_t i = 0; i < drawn.units->size(unit); ++i)
        whole += drawn.units->weight(unit) *
                 loss_sums(*drawn.rows, {drawn.w}, one(drawn.units->first(unit) + i), 1e100)[0];
      for (const double bound : {0.7, 50.0}) {
        const double expected = std::min(whole, bound);
        RC_ASSERT(std::abs(loss_sums(*drawn.objective, {drawn.w}, one(unit), bound)[0] - expected) <=
                  1e-12 * bound);
        Vector along(2);
        const Vector start(drawn.w), nowhere(drawn.w.size(), 0.0);
        drawn.objective->clipped_loss_sums_along({start, nowhere, steps}, one(unit), bound, along);
        RC_ASSERT(std::abs(along[1] - expected) <= 1e-12 * bound);
      }
    }
  }));
}

TEST_P(EveryUnit, SumsOfRowsAndProductsAreShortenedAsAWhole) {
  EXPECT_TRUE(rc::check([&] {
    const Drawn drawn = draw_one();
    const bool seen = std::get<2>(GetParam());
    for (std::size_t unit = 0; unit < drawn.units->count(); ++unit) {
      Vector whole(drawn.coordinates, 0.0), row(drawn.coordinates);
      Vector products(triangle_size(drawn.coordinates), 0.0);
      double squares = 0;
      for (std::size_t i = 0; i < drawn.units->size(unit); ++i) {
        const double weight = drawn.units->weight(unit);
        drawn.rows->shortened_row_sum(one(drawn.units->first(unit) + i), 1e100, row);
        add(whole, row, weight);
        squares += weight * std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
        for (std::size_t a = 0, at = 0; a < row.size(); ++a)
          for (std::size_t b = a; b < row.size(); ++b) products[at++] += weight * row[a] * row[b];
      }
      constexpr double kBound = 1.5;
      Vector found(drawn.coordinates);
      drawn.objective->shortened_row_sum(one(unit), kBound, found);
      const double length = norm(whole);
      if (length > 0) {
        add(found, whole, -std::min(1.0, kBound / length));
        RC_ASSERT(norm(found) <= 1e-6 * kBound);
      }
      if (!seen || !(squares > 0)) continue;
      Vector upper(products.size());
      drawn.objective->second_moment_sum(one(unit), kBound, upper);
      add(upper, products, -std::min(1.0, kBound * kBound / squares));
      RC_ASSERT(norm(upper) <= 1e-9 * kBound * kBound);
    }
  }));
}

TEST_P(EveryUnit, OfOneRowEachAreRows) {
  EXPECT_TRUE(rc::check([&] {
    const auto loss = std::get<0>(GetParam());
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    const auto table = random_table(loss, std::get<1>(GetParam()), 20, 4, true, random);
    std::vector<std::size_t> starts(21);
    std::iota(starts.begin(), starts.end(), std::size_t{0});
    auto units = by_units(loss, table, units_of(starts));
    auto rows = glm(loss, table);
    if (std::get<2>(GetParam())) {
      const auto view = random_view(4, 3, 1, random);
      units = units->seen_through(view);
      rows = rows->seen_through(view);
    }
    const Vector w = random_weights(rows->parameters(), 1, random);
    for (std::size_t row = 0; row < 20; ++row) {
      RC_ASSERT(gradient_sum(*units, w, one(row), AutoS{1, 0.01}) ==
                gradient_sum(*rows, w, one(row), AutoS{1, 0.01}));
      RC_ASSERT(loss_sums(*units, {w}, one(row), 2) == loss_sums(*rows, {w}, one(row), 2));
      RC_ASSERT(units->count_norms_at_most(w, one(row), 1) == rows->count_norms_at_most(w, one(row), 1));
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(All, EveryUnit,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses),
                                            ::testing::Values(Storage::dense, Storage::sparse),
                                            ::testing::Bool()));

// Eight copies of a row: clipped apart they would contribute eight times the bound.
TEST(UnitGradients, OfARowEightTimesIsNoLongerThanTheBound) {
  const auto table = store(Storage::dense, 2, Vector(16, 1e3), Vector(8, 1));
  for (const bool even : {false, true}) {
    const auto objective = by_units(GlmLoss::logistic, table, units_of({0, 8}, even));
    EXPECT_NEAR(norm(gradient_sum(*objective, Vector{0, 0}, one(0), Abadi{2})), 2, 1e-9);
  }
}

// Two rows that nearly cancel: what is left of them may be small, but not the rounding of what they are.
TEST(UnitGradients, OfRowsThatCancelAreNotLongThemselves) {
  const auto table = store(Storage::dense, 1, {1, 1}, {1e12, -1e12});
  const auto units = units_of({0, 2});
  const auto objective = by_units(GlmLoss::squared, table, units);
  EXPECT_LT(norm(gradient_sum(*objective, Vector{1e3}, one(0), Abadi{1})), 1);
  const UnitLengths lengths(*table, *units, table->norms(), nullptr, 1);
  Vector slopes{1e12, -1e12};
  Vector shares;
  EXPECT_GE(lengths.of(0, slopes, 1, Vector{1e12, 1e12}, shares), 2e12 / UnitLengths::kMostCancelling);
}

// A row that cannot be computed with does nothing, and its unit's others what they would do without it.
TEST(UnitGradients, AHostileRowContributesNothing) {
  for (const double hostile : {std::nan(""), HUGE_VAL, 1e300, 1e-300}) {
    const auto table = store(Storage::dense, 2, {1, 2, hostile, hostile, 3, 1}, {1, 0, 0});
    const auto without = store(Storage::dense, 2, {1, 2, 3, 1}, {1, 0});
    const auto with_it = by_units(GlmLoss::logistic, table, units_of({0, 3}));
    const auto others = by_units(GlmLoss::logistic, without, units_of({0, 2}));
    const Vector w{0.1, -0.2};
    EXPECT_EQ(gradient_sum(*with_it, w, one(0), Abadi{100}), gradient_sum(*others, w, one(0), Abadi{100}))
        << hostile;
  }
}

// Of a row near the largest, seen for sure, the clipped slope is rounded to a digit or two.
TEST(UnitGradients, OfTheLongestRowNoMoreIsLeftThanTheBoundAllows) {
  const auto table = store(Storage::sparse, 2, {1.7e308, 1}, {1});
  const auto objective = by_units(GlmLoss::logistic, table, units_of({0, 1}));
  for (const double sure : {0.0, 20.0, 40.0, 46.0}) {
    for (const double bound : {4.6e-16, 8e-16, 2.7e-14, 1e-9, 1.0}) {
      EXPECT_LE(norm(gradient_sum(*objective, Vector{0, sure}, one(0), Abadi{bound})), bound * (1 + 1e-13))
          << sure << ' ' << bound;
    }
  }
}

TEST(UnitCounts, AUnitIsShortAsAWhole) {
  const auto table = store(Storage::dense, 1, {1, 1, 1, 1}, {0, 0, 0, 1});
  const auto objective = by_units(GlmLoss::logistic, table, units_of({0, 2, 2, 4}));
  const Vector w{0};  // slopes of a half: 1/2 + 1/2, nothing, 1/2 - 1/2
  EXPECT_EQ(objective->count_norms_at_most(w, all(3), 0.9), 1u);
  EXPECT_EQ(objective->count_norms_at_most(w, all(3), 1.1), 2u);
}

TEST(UnitCounts, LabelsAreShares) {
  const auto table = store(Storage::dense, 1, {1, 1, 1, 1, 1}, {0, 0, 0, 1, 1});
  const auto objective = by_units(GlmLoss::logistic, table, units_of({0, 4, 5}));
  Vector counts(2);
  objective->label_counts(all(2), counts);
  EXPECT_EQ(counts, (Vector{0.75, 1.25}));
}

TEST(UnitSums, DoNotDependOnTheNumberOfThreads) {
  std::mt19937_64 random(1);
  const auto table = random_table(GlmLoss::logistic, Storage::sparse, 60'000, 5, false, random);
  std::vector<std::size_t> starts{0};
  while (starts.back() + 12 < 60'000) starts.push_back(starts.back() + random() % 12);
  starts.push_back(60'000);
  const auto units = units_of(starts);
  const Vector w = random_weights(5, 1, random);
  const auto with = [&](std::size_t threads) {
    const auto objective = by_units(GlmLoss::logistic, table, units, threads);
    return gradient_sum(*objective, w, all(units->count()), AutoS{});
  };
  EXPECT_EQ(with(1), with(4));
}

TEST(UnitsView, WhatIsNoUnitIsRefused) {
  EXPECT_THROW(Units({}, 1), InputError);
  EXPECT_THROW(Units({1, 2}, 8), InputError);
  EXPECT_THROW(Units({0, 3, 2}, 8), InputError);
  EXPECT_THROW(Units({0, 3}, 2), InputError);
  EXPECT_THROW(Units({0, 1}, 0), InputError);
  EXPECT_EQ(Units({0, 0, 3}, 3, true).weight(1), 1 / 3.0);
  const auto table = store(Storage::dense, 1, {1, 1}, {0, 1});
  EXPECT_THROW(by_units(GlmLoss::logistic, table, units_of({0, 1})), InputError);
  EXPECT_THROW(by_units(GlmLoss::logistic, table, units_of({0, 1, 9})), InputError);
  const auto objective = by_units(GlmLoss::logistic, table, units_of({0, 2}));
  EXPECT_THROW(gradient_sum(*objective, Vector{0}, one(1), Abadi{1}), InputError);
}

}  // namespace
}  // namespace ration::testing
