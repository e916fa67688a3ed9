#include "objectives/blank_rows.h"

#include <gtest/gtest.h>

#include "objectives/tables.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

constexpr std::size_t kPresent = 20;
constexpr std::size_t kBlank = 7;

class BlankRowsOf : public ::testing::TestWithParam<GlmLoss> {
 protected:
  std::unique_ptr<Objective> present() { return glm(GetParam(), rows_); }
  std::unique_ptr<Objective> with_blank() { return with_blank_rows(glm(GetParam(), rows_), kBlank); }

  std::mt19937_64 random_{1};
  std::shared_ptr<const Rows> rows_ = random_table(GetParam(), Storage::dense, kPresent, 4, false, random_);
};

TEST_P(BlankRowsOf, CountAsRowsAndContributeNothing) {
  const auto plain = present();
  const auto blank = with_blank();
  EXPECT_EQ(blank->rows(), kPresent + kBlank);
  EXPECT_EQ(blank->parameters(), plain->parameters());
  const std::vector<double> w = random_weights(plain->parameters(), 1, random_);
  const std::vector<double> direction = random_weights(plain->parameters(), 1, random_);
  const std::vector<double> steps = {0, 0.5};
  const std::vector<std::vector<std::uint64_t>> batches = {{}, {0, 3, 19}, {5}};
  for (const std::vector<std::uint64_t>& own : batches) {
    const Batch few{.rows = own, .divisor = 3};
    Batch more = few;
    more.rows.insert(more.rows.end(), {20, 22, 26});
    EXPECT_EQ(gradient_sum(*blank, w, more, AutoV{}), gradient_sum(*plain, w, few, AutoV{}));
    EXPECT_EQ(loss_sums(*blank, {w}, more, 1), loss_sums(*plain, {w}, few, 1));
    EXPECT_EQ(blank->count_norms_at_most(w, more, 1e9), plain->count_norms_at_most(w, few, 1e9));
    std::vector<double> along(2), along_few(2);
    blank->clipped_loss_sums_along({w, direction, steps}, more, 1, along);
    plain->clipped_loss_sums_along({w, direction, steps}, few, 1, along_few);
    EXPECT_EQ(along, along_few);
    if (plain->facts().label_classes == 0) continue;
    std::vector<double> counts(plain->facts().label_classes), few_counts(counts.size());
    blank->label_counts(more, counts);
    plain->label_counts(few, few_counts);
    EXPECT_EQ(counts, few_counts);
  }
}

TEST_P(BlankRowsOf, ARowBeyondThemIsRefused) {
  const auto blank = with_blank();
  const std::vector<double> w(blank->parameters(), 0.0);
  EXPECT_THROW(gradient_sum(*blank, w, all(kPresent + kBlank + 1), AutoV{}), InputError);
  EXPECT_NO_THROW(gradient_sum(*blank, w, all(kPresent + kBlank), AutoV{}));
}

INSTANTIATE_TEST_SUITE_P(All, BlankRowsOf, ::testing::ValuesIn(kAllLosses));

TEST(BlankRows, NoneOfThemIsTheObjectiveItself) {
  std::mt19937_64 random(1);
  auto objective =
      glm(GlmLoss::logistic, random_table(GlmLoss::logistic, Storage::dense, 5, 3, false, random));
  const Objective* const before = objective.get();
  EXPECT_EQ(with_blank_rows(std::move(objective), 0).get(), before);
}

}  // namespace
}  // namespace ration::testing
