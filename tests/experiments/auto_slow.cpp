// What auto is for, on made-up tables: whatever the loss and the relation, it is above who knows nothing and
// near what can be had without privacy. Noise is real, so margins are several times what repeats scatter by.
#include <gtest/gtest.h>

#include "e6/made_up.h"
#include "e6/trial.h"

namespace ration::testing {
namespace {

using e6::Family;
using e6::MadeUp;
using e6::score_of;

// 45 columns of categories: most of a gradient clipped as it is says nothing of most columns.
TEST(Auto, IsWithinAPointOfTheFitWithoutPrivacyOnAWideTable) {
  const MadeUp table = e6::make_up(e6::wide_one_hot(), 1);
  const double without_privacy = score_of({.method = "nonprivate"}, table);
  EXPECT_GT(without_privacy, e6::score_of_majority(table) + 8);
  EXPECT_GT(score_of({.epsilon = 1}, table), without_privacy - 1);
}

class EveryLossAndRelation : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(EveryLossAndRelation, IsNearTheFitWithoutPrivacy) {
  const auto& [model, relation] = GetParam();
  Family family = model == "softmax"   ? e6::ten_classes()
                  : model == "squared" ? e6::numeric_label()
                                       : e6::families()[0];
  family.rows = 20'000;
  const MadeUp table = e6::make_up(family, 1);
  const double nothing = e6::score_of_majority(table);
  const double without_privacy = score_of({.method = "nonprivate", .model = model}, table);
  const double at_one = score_of({.model = model, .epsilon = 1, .relation = relation}, table);
  EXPECT_GT(at_one, nothing + 0.8 * (without_privacy - nothing));
}

INSTANTIATE_TEST_SUITE_P(
    Auto, EveryLossAndRelation,
    ::testing::Combine(::testing::Values("logistic", "softmax", "hinge", "huber", "squared"),
                       ::testing::Values("add_remove", "replace_one")),
    [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

// A tenth and a fiftieth of the rows in one class, at budgets and rows that hardly carry a model. Means of
// ten runs are .34 below at most and scatter by .14: they fail by chance with probability < 1e-5.
TEST(Auto, IsHardlyBelowWhoKnowsNothing) {
  for (const Family& family : e6::families()) {
    if (family.rate > 0.2) continue;
    for (const double epsilon : {0.05, 0.1, 0.3}) {
      Family few = family;
      few.rows = 9'000;
      const MadeUp table = e6::make_up(few, 1);
      constexpr int kRuns = 10;
      double mean = 0;
      for (int run = 0; run < kRuns; ++run) mean += score_of({.epsilon = epsilon}, table) / kRuns;
      EXPECT_GT(mean, e6::score_of_majority(table) - 1) << family.name << " " << epsilon;
    }
  }
}

}  // namespace
}  // namespace ration::testing
