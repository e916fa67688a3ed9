// What a row contributes depends on the row, the weights and public facts: not on the other rows, by its
// place among them or by the storage that was chosen for all. The room for rounding covers the order in which
// contributions are added up, and nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/instruction_set.h"
#include "objectives/tables.h"
#include "ration/data/table.h"
#include "support/child_process.h"

namespace ration::testing {
namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

constexpr std::size_t kColumns = 40;
constexpr std::size_t kEntries = 13;  // fewer than a third
constexpr std::size_t kRows = 30;

data::Schema libsvm_schema() {
  return data::parse_schema(fmt::format(
      "format = \"libsvm\"\nbias = false\nlabel = \"y\"\nfeatures = {{ count = {}, low = -1, high = 1 }}\n"
      "columns = [{{ name = \"y\", type = \"category\", categories = [0, 1] }}]\n",
      kColumns));
}

std::string libsvm_line(const std::vector<double>& row) {
  std::string line = "1";
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] != 0) line += fmt::format(" {}:{}", j + 1, row[j]);
  }
  return line + "\n";
}

std::shared_ptr<const Rows> read_libsvm(const std::string& text) {
  const TemporaryFolder folder;
  return std::make_shared<const Rows>(data::read_table(folder.write("t.svm", text), libsvm_schema()).rows);
}

// One row full of entries more makes a table of few entries one of many. At the kink of the hinge, the last
// bit of a product decides whether a row contributes 0 or its whole bound, so that a product in another order
// would move all rows at once.
TEST(Storage, ARowFullOfEntriesMovesNoOtherRow) {
  std::mt19937_64 random(1);
  std::vector<double> row(kColumns, 0.0), full(kColumns);
  for (std::size_t j = 0; j < kEntries; ++j) row[3 * j] = plain_value(random) / 8 + 0.01;
  for (double& value : full) value = 0.5;
  std::string text;
  for (std::size_t i = 0; i < kRows; ++i) text += libsvm_line(row);
  const auto few = read_libsvm(text);
  const auto more = read_libsvm(text + libsvm_line(full));
  EXPECT_EQ(few->is_dense(), more->is_dense());

  const auto one = glm(GlmLoss::hinge, few);
  const auto other = glm(GlmLoss::hinge, more);
  const Abadi rule{.R = 1};
  for (int t = 0; t < 2000; ++t) {
    std::vector<double> w = random_weights(kColumns, 1, random);
    double product = 0;
    for (std::size_t j = 0; j < kColumns; ++j) product += w[j] * row[j];
    for (double& weight : w) weight /= product;
    ASSERT_LE(
        distance(gradient_sum(*one, w, all(kRows), rule), gradient_sum(*other, w, all(kRows + 1), rule)),
        sensitivity(rule, Relation::add_remove) * (1 + 1e-12))
        << t;
  }
}

TEST(Storage, BuildGoesByTheColumnsAlone) {
  for (const std::size_t columns : {Rows::kNarrow, Rows::kNarrow + 1, std::size_t{500}}) {
    for (const std::size_t entries : {std::size_t{0}, std::size_t{1}, columns}) {
      SparseMatrix matrix{.columns = columns, .indices = {}, .values = {}};
      for (std::size_t j = 0; j < entries; ++j) matrix.add(j, 1);
      matrix.end_row();
      EXPECT_EQ(Rows::build(matrix, {0}).is_dense(), columns <= Rows::kNarrow) << columns << ' ' << entries;
    }
  }
}

class PlaceOfARow : public ::testing::TestWithParam<std::tuple<GlmLoss, Storage>> {};

// All other rows hold no number, and so contribute nothing: the sum is what the one row contributes.
TEST_P(PlaceOfARow, DoesNotChangeWhatItContributes) {
  const auto [loss, storage] = GetParam();
  constexpr std::size_t kMany = 70;  // more than a tile
  for (const InstructionSet set : available_instruction_sets()) {
    const UseInstructionSet use(set);
    std::mt19937_64 random(1);
    for (const std::size_t columns : std::vector<std::size_t>{1, 2, 3, 5, 8, 13, 31}) {
      std::vector<double> row(columns);
      for (double& value : row) value = plain_value(random);
      const double label = label_for(loss, random);
      std::vector<double> first_gradient, first_losses;
      const std::size_t outputs = loss == GlmLoss::softmax ? kClasses : 1;
      const std::vector<double> w = random_weights(columns * outputs, 1, random);
      const std::vector<double> direction = random_weights(columns * outputs, 1, random);
      const std::vector<double> steps = {0, 0.3, 1.7};
      for (std::size_t place = 0; place < kMany; ++place) {
        std::vector<double> values(kMany * columns, std::nan("")), labels(kMany, 0.0);
        std::copy(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(place * columns));
        labels[place] = label;
        const auto objective = glm(loss, store(storage, columns, values, labels));
        const auto gradient = gradient_sum(*objective, w, all(kMany), AutoV{});
        auto losses = loss_sums(*objective, {w}, all(kMany), 2);
        losses.resize(4);
        objective->clipped_loss_sums_along({w, direction, steps}, all(kMany), 2,
                                           std::span(losses).subspan(1));
        if (place == 0) first_gradient = gradient, first_losses = losses;
        ASSERT_EQ(gradient, first_gradient) << to_string(set) << ", " << columns << " columns, " << place;
        ASSERT_EQ(losses, first_losses) << to_string(set) << ", " << columns << " columns, " << place;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlaceOfARow,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses),
                                            ::testing::Values(Storage::dense, Storage::sparse)));

}  // namespace
}  // namespace ration::testing
