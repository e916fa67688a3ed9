#include "data/select_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/small_table.h"

namespace ration::testing {
namespace {

using data::select_rows;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Which = std::vector<std::size_t>;

Rows sparse_rows() {
  return Rows::sparse({.columns = 3, .starts = {0, 1, 3}, .indices = {1, 0, 2}, .values = {5, 3, 4}}, {1, 0});
}

TEST(SelectRows, CountsThroughSeveralTables) {
  const std::vector<Rows> tables{Rows::dense(2, {1, 2, 3, 4}, {0, 1}), Rows::dense(2, {5, 6}, {1})};
  const Rows rows = select_rows(tables, Which{2, 0, 2});
  EXPECT_TRUE(rows.is_dense());
  EXPECT_THAT(rows.labels(), ElementsAre(1, 0, 1));
  EXPECT_THAT(rows.dense_row(0), ElementsAre(5, 6));
  EXPECT_THAT(rows.dense_row(1), ElementsAre(1, 2));
}

TEST(SelectRows, KeepsSparseRowsAndTheirNorms) {
  const std::vector<Rows> tables{sparse_rows()};
  const Rows rows = select_rows(tables, Which{1, 0});
  EXPECT_FALSE(rows.is_dense());
  EXPECT_THAT(rows.sparse_row(0).indices, ElementsAre(0, 2));
  EXPECT_THAT(rows.sparse_row(1).values, ElementsAre(5));
  EXPECT_THAT(rows.norms(), ElementsAre(5, 5));
}

TEST(SelectRows, MixesStorage) {
  const std::vector<Rows> tables{Rows::dense(3, {0, 7, 8}, {1}), sparse_rows()};
  const Rows rows = select_rows(tables, Which{0, 2});
  EXPECT_FALSE(rows.is_dense());
  EXPECT_THAT(rows.sparse_row(0).indices, ElementsAre(1, 2));
  EXPECT_THAT(rows.sparse_row(0).values, ElementsAre(7, 8));
  EXPECT_THAT(rows.sparse_row(1).values, ElementsAre(3, 4));
}

TEST(SelectRows, RefusesWhatDoesNotExist) {
  const std::vector<Rows> tables{sparse_rows(), sparse_rows()};
  EXPECT_EQ(refusal([&] { select_rows(tables, Which{4}); }), "select_rows: expected row < 4, got 4");
  EXPECT_THAT(refusal([] { select_rows({}, Which{0}); }), HasSubstr("expected a table"));
  const std::vector<Rows> unlike{sparse_rows(), Rows::dense(2, {1, 2}, {0})};
  EXPECT_THAT(refusal([&] { select_rows(unlike, Which{0}); }), HasSubstr("expected 3 columns"));
}

}  // namespace
}  // namespace ration::testing
