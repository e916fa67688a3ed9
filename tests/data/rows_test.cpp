#include "ration/data/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ration/base/error.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

// Rows (3 0 4 0), (), (0 0 0 12).
SparseMatrix three_rows() {
  return {.columns = 4, .starts = {0, 2, 2, 3}, .indices = {0, 2, 3}, .values = {3, 4, 12}};
}

TEST(Rows, DenseRowsAreKeptInOrder) {
  const Rows rows = Rows::dense(2, {1, 2, 3, 4, 5, 6}, {0, 1, 0});
  EXPECT_TRUE(rows.is_dense());
  EXPECT_EQ(rows.count(), 3u);
  EXPECT_EQ(rows.columns(), 2u);
  EXPECT_THAT(rows.dense_row(1), ElementsAre(3, 4));
  EXPECT_THAT(rows.labels(), ElementsAre(0, 1, 0));
  EXPECT_EQ(rows.norms()[1], 5);
}

TEST(Rows, SparseRowsAreKeptInOrder) {
  const Rows rows = Rows::sparse(three_rows(), {1, 2, 3});
  EXPECT_FALSE(rows.is_dense());
  EXPECT_THAT(rows.sparse_row(0).indices, ElementsAre(0, 2));
  EXPECT_THAT(rows.sparse_row(0).values, ElementsAre(3, 4));
  EXPECT_TRUE(rows.sparse_row(1).values.empty());
  EXPECT_THAT(rows.norms(), ElementsAre(5, 0, 12));
}

std::vector<std::pair<std::size_t, double>> entries_of(const Rows& rows, std::size_t row) {
  std::vector<std::pair<std::size_t, double>> entries;
  rows.for_each_entry(row, [&](std::size_t column, double value) { entries.emplace_back(column, value); });
  return entries;
}

TEST(Rows, EntriesAreThoseThatAreStored) {
  using ::testing::Pair;
  EXPECT_THAT(entries_of(Rows::dense(3, {7, 8, 9, 3, 0, 4}, {0, 1}), 1),
              ElementsAre(Pair(0, 3), Pair(1, 0), Pair(2, 4)));
  const Rows sparse = Rows::sparse(three_rows(), {1, 2, 3});
  EXPECT_THAT(entries_of(sparse, 0), ElementsAre(Pair(0, 3), Pair(2, 4)));
  EXPECT_THAT(entries_of(sparse, 1), ElementsAre());
  EXPECT_THAT(entries_of(sparse, 2), ElementsAre(Pair(3, 12)));
}

TEST(SparseMatrix, IsMadeRowByRow) {
  SparseMatrix matrix{.columns = 4, .indices = {}, .values = {}};
  matrix.add(0, 3);
  matrix.add(2, 4);
  matrix.end_row();
  matrix.end_row();
  matrix.add(3, 12);
  matrix.end_row();
  EXPECT_EQ(matrix.rows(), 3u);
  EXPECT_EQ(matrix.starts, three_rows().starts);
  EXPECT_EQ(matrix.indices, three_rows().indices);
  EXPECT_EQ(matrix.values, three_rows().values);
}

TEST(Rows, OfPublicRowsTheShareOfEntriesDecides) {
  SparseMatrix narrow = three_rows();
  narrow.starts = {0, 2, 3, 4};
  narrow.indices = {0, 2, 1, 3};
  narrow.values = {3, 4, 5, 12};
  const Rows dense = Rows::build_public(narrow, {1, 2, 3});  // 4 of 12 entries
  ASSERT_TRUE(dense.is_dense());
  EXPECT_FALSE(Rows::build_public(three_rows(), {1, 2, 3}).is_dense());  // 3 of them
  EXPECT_THAT(dense.dense_row(0), ElementsAre(3, 0, 4, 0));
  EXPECT_THAT(dense.dense_row(2), ElementsAre(0, 0, 0, 12));
  SparseMatrix wide = three_rows();
  wide.columns = 1000;
  EXPECT_FALSE(Rows::build_public(wide, {1, 2, 3}).is_dense());
}

TEST(Rows, NormsNeitherOverflowNorUnderflow) {
  const Rows rows =
      Rows::dense(2, {3e200, 4e200, 3e-200, 4e-200, 3e-320, 4e-320, 1.5e308, 1.5e308}, {0, 0, 0, 0});
  EXPECT_DOUBLE_EQ(rows.norms()[0], 5e200);
  EXPECT_DOUBLE_EQ(rows.norms()[1], 5e-200);
  EXPECT_EQ(rows.norms()[2], 0);
  EXPECT_EQ(rows.norms()[3], kInfinity);
}

TEST(Rows, WhatIsNoNumberHasNoFiniteNorm) {
  const Rows rows =
      Rows::dense(2, {kNan, 1, 1, kNan, kInfinity, 1, kInfinity, kNan, -kInfinity, 0}, {0, 0, 0, 0, 0});
  for (const double norm : rows.norms()) EXPECT_FALSE(std::isfinite(norm));
}

TEST(Rows, EmptyTablesAreTables) {
  EXPECT_EQ(Rows::dense(3, {}, {}).count(), 0u);
  EXPECT_EQ(Rows::build({}, {}).count(), 0u);
  EXPECT_EQ(Rows::dense(0, {}, {1, 2}).norms()[1], 0);
}

TEST(Rows, LongRowsAreShortenedAndShortOnesAreNot) {
  for (const double bound : {1.0, 0.1, 5.0, 1e-300, 7.0}) {
    const Rows rows = Rows::sparse(three_rows(), {1, 2, 3}).with_row_norms_at_most(bound);
    for (const double norm : rows.norms()) EXPECT_LE(norm, bound);
    EXPECT_DOUBLE_EQ(rows.norms()[2], std::min(12.0, bound));
    EXPECT_NEAR(rows.sparse_row(0).values[1] / rows.sparse_row(0).values[0], 4.0 / 3, 1e-15);
  }
  const Rows same = Rows::sparse(three_rows(), {1, 2, 3}).with_row_norms_at_most(12);
  EXPECT_THAT(same.sparse_row(0).values, ElementsAre(3, 4));
}

TEST(Rows, ShorteningLeavesTheOriginalAlone) {
  const Rows rows = Rows::dense(2, {3, 4}, {0});
  EXPECT_DOUBLE_EQ(rows.with_row_norms_at_most(1).dense_row(0)[0], 0.6);
  EXPECT_THAT(rows.dense_row(0), ElementsAre(3, 4));
}

TEST(Rows, ShorteningEmptiesRowsWithoutAFiniteNorm) {
  const Rows rows =
      Rows::dense(2, {kNan, 1, kInfinity, 1, 1.5e308, 1.5e308}, {0, 0, 0}).with_row_norms_at_most(1);
  for (std::size_t row = 0; row < rows.count(); ++row) EXPECT_THAT(rows.dense_row(row), ElementsAre(0, 0));
}

TEST(Rows, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(
      [] {
        Rows::dense(2, {1, 2, 3}, {0});
      },
      ThrowsMessage<InputError>(HasSubstr("expected 2 values, got 3")));
  EXPECT_THAT([] { Rows::sparse(three_rows(), {0, 1}); }, ThrowsMessage<InputError>(HasSubstr("row starts")));
  EXPECT_THROW(Rows::dense(1, {1}, {0}).with_row_norms_at_most(0), InputError);
  EXPECT_THROW(Rows::dense(std::size_t{1} << 63, {}, {0, 1}), InputError);
}

TEST(Rows, RefusesSparseMatricesThatLie) {
  const auto build = [](auto change) {
    SparseMatrix matrix = three_rows();
    change(matrix);
    return Rows::build(std::move(matrix), {1, 2, 3});
  };
  EXPECT_THROW(build([](SparseMatrix& m) { m.indices[0] = 2; }), InputError);  // twice the same column
  EXPECT_THROW(build([](SparseMatrix& m) { m.indices[0] = 3; }), InputError);
  EXPECT_THROW(build([](SparseMatrix& m) { m.indices[2] = 4; }), InputError);
  EXPECT_THROW(build([](SparseMatrix& m) { m.indices[2] = -1; }), InputError);
  EXPECT_THROW(build([](SparseMatrix& m) { m.starts = {0, 3, 2, 3}; }), InputError);
  EXPECT_THROW(build([](SparseMatrix& m) { m.starts = {1, 2, 2, 3}; }), InputError);
  EXPECT_THROW(build([](SparseMatrix& m) { m.values.pop_back(); }), InputError);
  EXPECT_THROW(build([](SparseMatrix& m) { m.indices.push_back(1); }), InputError);
}

}  // namespace
}  // namespace ration::testing
