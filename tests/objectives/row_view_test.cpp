#include "ration/objectives/row_view.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "objectives/views.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;
using Columns = std::vector<std::size_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// M with its zero columns.
Eigen::MatrixXd whole(const RowView& view) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(view.coordinates()),
                                                 static_cast<Eigen::Index>(view.columns()));
  for (const std::size_t column : view.used()) {
    for (std::size_t k = 0; k < view.coordinates(); ++k) {
      matrix(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(column)) =
          view.column_at(view.place(column))[k];
    }
  }
  return matrix;
}

Eigen::VectorXd part(const Vector& values, std::size_t which, std::size_t size) {
  return Eigen::Map<const Eigen::VectorXd>(values.data() + which * size, static_cast<Eigen::Index>(size));
}

void expect_near(const Vector& got, std::size_t which, const Eigen::VectorXd& expected) {
  const auto size = static_cast<std::size_t>(expected.size());
  for (std::size_t k = 0; k < size; ++k) {
    EXPECT_NEAR(got[which * size + k], expected[static_cast<Eigen::Index>(k)], 1e-12 * expected.norm());
  }
}

TEST(RowView, SaysWhatItIs) {
  const RowView view(5, {1, 4}, 2, {1, 2, 3, 4});
  EXPECT_EQ(view.columns(), 5u);
  EXPECT_EQ(view.coordinates(), 2u);
  EXPECT_EQ(Columns(view.used().begin(), view.used().end()), (Columns{1, 4}));
  for (const std::size_t column : {0, 2, 3}) EXPECT_EQ(view.place(column), RowView::kUnused);
  EXPECT_EQ(view.column_at(view.place(4))[0], 3);
  EXPECT_EQ(view.column_at(view.place(4))[1], 4);
  EXPECT_EQ(triangle_size(1), 1u);
  EXPECT_EQ(triangle_size(4), 10u);
}

TEST(RowView, IsTheProductWithItsMatrixAndWithTheTransposed) {
  std::mt19937_64 random(1);
  for (const std::size_t columns : {1u, 2u, 7u, 40u}) {
    for (const std::size_t coordinates : {1u, 3u, 41u}) {
      const auto view = random_view(columns, coordinates, 2, random);
      const Eigen::MatrixXd matrix = whole(*view);
      for (const std::size_t outputs : {1u, 3u}) {
        const Vector u = random_weights(outputs * coordinates, 1, random);
        const Vector rows = random_weights(outputs * columns, 1, random);
        Vector w(outputs * columns, std::nan("")), seen(outputs * coordinates, std::nan(""));
        view->weights_for_rows(u, w);
        view->look(rows, seen);
        for (std::size_t k = 0; k < outputs; ++k) {
          expect_near(w, k, matrix.transpose() * part(u, k, coordinates));
          expect_near(seen, k, matrix * part(rows, k, columns));
        }
      }
    }
  }
}

TEST(RowView, LooksAtBothSidesOfAMoment) {
  std::mt19937_64 random(2);
  const auto view = random_view(11, 4, 1, random);
  const std::size_t side = view->used().size();
  const Vector upper = random_weights(triangle_size(side), 1, random);
  const auto size = static_cast<Eigen::Index>(side);
  Eigen::MatrixXd moment(size, size), matrix(4, size);
  for (Eigen::Index i = 0, at = 0; i < size; ++i) {
    for (Eigen::Index j = i; j < size; ++j, ++at) {
      moment(i, j) = moment(j, i) = upper[static_cast<std::size_t>(at)];
    }
    for (Eigen::Index k = 0; k < 4; ++k) {
      matrix(k, i) = view->column_at(static_cast<std::int32_t>(i))[static_cast<std::size_t>(k)];
    }
  }
  const Eigen::MatrixXd expected = matrix * moment * matrix.transpose();
  Vector seen(triangle_size(4), std::nan(""));
  view->look_twice(upper, seen);
  for (Eigen::Index i = 0, at = 0; i < 4; ++i) {
    for (Eigen::Index j = i; j < 4; ++j, ++at) {
      EXPECT_NEAR(seen[static_cast<std::size_t>(at)], expected(i, j), 1e-12 * expected.norm());
    }
  }
}

TEST(RowView, WeightsOfWhatIsSeenGiveTheSameOutputs) {
  std::mt19937_64 random(3);
  const auto view = random_view(9, 5, 1, random);
  const Vector u = random_weights(5, 1, random);
  const Vector x = random_weights(9, 1, random);
  Vector w(9), z(5);
  view->weights_for_rows(u, w);
  view->look(x, z);
  double through = 0;
  double directly = 0;
  for (std::size_t k = 0; k < 5; ++k) through += u[k] * z[k];
  for (std::size_t j = 0; j < 9; ++j) directly += w[j] * x[j];
  EXPECT_NEAR(through, directly, 1e-12);
}

// Neighbouring tables leave memory in different states. Were weights rounded otherwise for that, all rows
// could move.
TEST(RowView, WeightsForRowsAreTheSameToTheLastBitWhereverTheNumbersLie) {
  std::mt19937_64 random(4);
  for (const std::size_t coordinates : {2u, 7u, 33u}) {
    const auto view = random_view(5, coordinates, 1, random);
    const Vector u = random_weights(coordinates, 1, random);
    Vector expected(5);
    view->weights_for_rows(u, expected);
    for (std::size_t shift = 0; shift < 8; ++shift) {
      Vector moved(coordinates + shift), w(5 + shift);
      std::copy(u.begin(), u.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
      view->weights_for_rows(std::span(moved).subspan(shift), std::span(w).subspan(shift));
      EXPECT_EQ(Vector(w.begin() + static_cast<std::ptrdiff_t>(shift), w.end()), expected);
    }
  }
}

// What may overflow, or be lost below the smallest double, is never a smaller size.
TEST(RowView, ItsSizeIsAnUpperBoundWhateverTheMatrixHolds) {
  for (const double value : {0.0, 5e-324, 1e-300, 1e-170, 1e-160, 1e-9, 1.0, 1e100, 1e150}) {
    const RowView view(3, {0, 1, 2}, 1, {value, value, -value});
    EXPECT_GE(view.size(), std::sqrt(3.0) * value) << value;
    if (value > 1e-100) {
      EXPECT_LE(view.size(), std::sqrt(3.0) * value * (1 + 1e-5)) << value;
    }
  }
}

// Of numbers without signs: those make errors of products longer, too.
TEST(RowView, ItsSizeIsHardlyMoreThanTheMostThatItMakesAVectorLonger) {
  std::mt19937_64 random(5);
  for (const std::size_t columns : {1u, 3u, 30u, 200u}) {
    for (const std::size_t coordinates : {1u, 20u}) {
      const auto view = random_view(columns, coordinates, 1e3, random);
      const Eigen::MatrixXd matrix = whole(*view).cwiseAbs();
      const double longest = Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues()[0];
      EXPECT_GE(view->size(), longest);
      EXPECT_LE(view->size(), 1.001 * longest);
    }
  }
  // Columns that are scaled, and a mean that is subtracted: where Frobenius's norm is many times too large.
  const std::size_t columns = 400;
  std::vector<std::size_t> used(columns);
  Vector numbers(columns * (columns - 1));
  for (std::size_t j = 0; j < columns; ++j) used[j] = j;
  for (std::size_t j = 0; j + 1 < columns; ++j) {
    const double scale = 1 + 4.0 * static_cast<double>(random() % 1000) / 1000;
    numbers[j * (columns - 1) + j] = scale;
    numbers[(columns - 1) * (columns - 1) + j] = -0.02 * scale;
  }
  const RowView centred(columns, used, columns - 1, numbers);
  const double longest = Eigen::BDCSVD<Eigen::MatrixXd>(whole(centred).cwiseAbs()).singularValues()[0];
  EXPECT_GE(centred.size(), longest);
  EXPECT_LE(centred.size(), 1.1 * longest);
  EXPECT_GT(whole(centred).norm(), 5 * centred.size());
}

TEST(RowView, RefusesWhatIsNoMap) {
  EXPECT_THROW(RowView(3, {}, 1, {}), InputError);
  EXPECT_THROW(RowView(3, {3}, 1, {1}), InputError);
  EXPECT_THROW(RowView(3, {1, 0}, 1, {1, 1}), InputError);
  EXPECT_THROW(RowView(3, {1, 1}, 1, {1, 1}), InputError);
  EXPECT_THROW(RowView(3, {1}, 0, {}), InputError);
  EXPECT_THROW(RowView(3, {1}, 2, {1}), InputError);
  EXPECT_THROW(RowView(3, {1}, 1, {1, 1}), InputError);
  for (const double value : {std::nan(""), kInfinity, -kInfinity, 1e200}) {
    EXPECT_THROW(RowView(3, {1}, 1, {value}), InputError) << value;
  }
}

TEST(RowView, RefusesSpansThatDoNotFit) {
  const RowView view(3, {0, 2}, 2, {1, 2, 3, 4});
  Vector three(3), two(2), four(4), six(6);
  EXPECT_THROW(view.weights_for_rows(three, three), InputError);
  EXPECT_THROW(view.weights_for_rows(two, two), InputError);
  EXPECT_THROW(view.weights_for_rows(four, three), InputError);
  EXPECT_THROW(view.look(two, two), InputError);
  EXPECT_THROW(view.look(three, three), InputError);
  EXPECT_THROW(view.look(six, two), InputError);
  EXPECT_THROW(view.look_twice(six, three), InputError);
  EXPECT_THROW(view.look_twice(three, two), InputError);
}

}  // namespace
}  // namespace ration::testing
