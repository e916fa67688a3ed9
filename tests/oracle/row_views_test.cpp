// Rows that are seen through a map, their mean and their second moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "objectives/blank_rows.h"
#include "objectives/quadratic.h"
#include "objectives/views.h"
#include "oracle/sum_error.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"
#include "ration/oracle/oracle.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Vector = std::vector<double>;

constexpr double kLittle = 1e-6;  // noise

std::shared_ptr<const RowView> swapped(double size = 1) {
  return std::make_shared<const RowView>(3, std::vector<std::size_t>{0, 2}, 2, Vector{0, size, size, 0});
}

// Three rows of three columns, the second of which the map above does not look at.
struct Door {
  explicit Door(Relation relation = Relation::add_remove, std::size_t blank = 0)
      : objective(with_blank_rows(
            glm(GlmLoss::logistic, store(Storage::dense, 3, {1, 0, 2, 0, 0, 4, 3, 0, 0}, {0, 1, 1})), blank)),
        sampler({.rows = 3 + blank,
                 .declared_rows = relation == Relation::add_remove ? 10.0 : 3.0 + static_cast<double>(blank)},
                relation) {}

  std::unique_ptr<Objective> objective;
  FullSampler sampler;
  Journal journal;
  RecordingFilter filter{1000, journal};
  SeededRandom random{3};
  PrivateOracle oracle{*objective, sampler, filter, random};
};

TEST(RowViews, WeightsAreForWhatIsSeen) {
  Door door;
  EXPECT_EQ(door.oracle.parameters(), 3u);
  EXPECT_EQ(door.oracle.facts().columns, 3u);
  door.oracle.look_through(swapped());
  EXPECT_EQ(door.oracle.parameters(), 2u);
  EXPECT_EQ(door.oracle.facts().columns, 2u);
  Vector mean(3);
  EXPECT_THROW((void)door.oracle.gradient(Vector(3, 0.0), {.noise_multiplier = kLittle}, mean), InputError);
  ASSERT_TRUE(door.oracle.gradient(Vector(2, 0.0), {.clip = Abadi{100}, .noise_multiplier = kLittle},
                                   std::span(mean).first(2)));
  // Slopes are 1/2, -1/2 and -1/2, and the divisor 10.
  EXPECT_NEAR(mean[0], (2 - 4) / 20.0, 1e-4);
  EXPECT_NEAR(mean[1], (1 - 3) / 20.0, 1e-4);
  door.oracle.look_through(std::make_shared<const RowView>(3, std::vector<std::size_t>{1}, 1, Vector{1}));
  EXPECT_EQ(door.oracle.parameters(), 1u);
}

TEST(RowViews, TheMeanOfRowsIsOfWhatIsSeenOverTheDivisor) {
  Door door;
  Vector mean(3);
  ASSERT_TRUE(door.oracle.mean_of_rows({.bound = 100, .noise_multiplier = kLittle}, mean));
  EXPECT_NEAR(mean[0], 0.4, 1e-3);
  EXPECT_NEAR(mean[1], 0, 1e-3);
  EXPECT_NEAR(mean[2], 0.6, 1e-3);
  ASSERT_TRUE(door.oracle.mean_of_rows({.bound = 1, .noise_multiplier = kLittle}, mean));
  EXPECT_NEAR(mean[0], (1 / std::sqrt(5) + 1) / 10, 1e-5);  // each row is shortened by itself
  EXPECT_NEAR(mean[2], (2 / std::sqrt(5) + 1) / 10, 1e-5);
  door.oracle.look_through(swapped(2));
  ASSERT_TRUE(
      door.oracle.mean_of_rows({.bound = 100, .noise_multiplier = kLittle}, std::span(mean).first(2)));
  EXPECT_NEAR(mean[0], 1.2, 1e-3);
  EXPECT_NEAR(mean[1], 0.8, 1e-3);
}

TEST(RowViews, TheSecondMomentIsOfWhatIsSeenOverTheDivisor) {
  Door door;
  door.oracle.look_through(swapped());
  Vector upper(3);
  ASSERT_TRUE(door.oracle.second_moment({.bound = 100, .noise_multiplier = 1e-9}, upper));
  EXPECT_NEAR(upper[0], 2.0, 1e-4);
  EXPECT_NEAR(upper[1], 0.2, 1e-4);
  EXPECT_NEAR(upper[2], 1.0, 1e-4);
  ASSERT_TRUE(door.oracle.second_moment({.bound = 1, .noise_multiplier = kLittle}, upper));
  EXPECT_NEAR(upper[0], 0.18, 1e-5);
  EXPECT_NEAR(upper[1], 0.04, 1e-5);
  EXPECT_NEAR(upper[2], 0.12, 1e-5);
}

TEST(RowViews, RowsThatAreLeftOutCountNothing) {
  Door door(Relation::replace_one, 2);
  door.oracle.look_through(swapped());
  Vector upper(3), mean(2);
  ASSERT_TRUE(door.oracle.second_moment({.bound = 1, .noise_multiplier = kLittle}, upper));
  EXPECT_NEAR(upper[0], 0.36, 1e-5);
  ASSERT_TRUE(door.oracle.mean_of_rows({.bound = 100, .noise_multiplier = kLittle}, mean));
  EXPECT_NEAR(mean[0], 6 / 5.0, 1e-3);
  EXPECT_GT(door.oracle.gradient_stddev({}), 0);
}

TEST(RowViews, WhatDoesNotFitIsRefusedBeforeItIsCharged) {
  Door door;
  Vector places(7, -7.0);
  const auto some = [&](std::size_t count) { return std::span(places).first(count); };
  EXPECT_THAT(refusal([&] { (void)door.oracle.second_moment({}, some(3)); }),
              HasSubstr("second moment: expected rows that are seen through a map"));
  EXPECT_THROW((void)door.oracle.second_moment_stddev({}), InputError);
  for (const std::size_t count : {0u, 2u, 4u}) {
    EXPECT_THROW((void)door.oracle.mean_of_rows({}, some(count)), InputError);
  }
  EXPECT_THROW(
      door.oracle.look_through(std::make_shared<const RowView>(2, std::vector<std::size_t>{0}, 1, Vector{1})),
      InputError);
  EXPECT_EQ(door.oracle.parameters(), 3u);  // as before
  door.oracle.look_through(swapped());
  for (const std::size_t count : {1u, 2u, 4u}) {
    EXPECT_THROW((void)door.oracle.second_moment({}, some(count)), InputError);
  }
  for (const double wrong : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW((void)door.oracle.mean_of_rows({.bound = wrong}, some(2)), InputError);
    EXPECT_THROW((void)door.oracle.second_moment({.bound = wrong}, some(3)), InputError);
    EXPECT_THROW((void)door.oracle.mean_of_rows({.noise_multiplier = wrong}, some(2)), InputError);
    EXPECT_THROW((void)door.oracle.second_moment({.noise_multiplier = wrong}, some(3)), InputError);
  }
  EXPECT_THAT(door.journal, IsEmpty());
  EXPECT_THAT(places, Each(-7));
}

TEST(RowViews, OtherObjectivesHaveNoRowsToSee) {
  const auto objective = make_quadratics({{.matrix = {1, 0, 0, 2}, .target = {0, 0}}});
  const FullSampler sampler({.rows = 1, .declared_rows = 1}, Relation::add_remove);
  Journal journal;
  RecordingFilter filter(1000, journal);
  SeededRandom random(1);
  PrivateOracle oracle(*objective, sampler, filter, random);
  Vector mean(2);
  EXPECT_THAT(refusal([&] { (void)oracle.mean_of_rows({}, mean); }), HasSubstr("expected a linear model"));
  EXPECT_THAT(refusal([&] { oracle.look_through(swapped()); }), HasSubstr("expected a linear model"));
  EXPECT_THAT(journal, IsEmpty());
}

// A fit's proof needs rows of bounded length, and a map may stretch them.
TEST(RowViews, ABoundOnTheRowsIsNoneOnWhatIsSeenOfThem) {
  const auto rows = std::make_shared<const Rows>(Rows::dense(1, {1.0}, {1.0}).with_row_norms_at_most(1));
  const auto objective = glm(GlmLoss::logistic, rows);
  const FullSampler sampler({.rows = 1, .declared_rows = 1}, Relation::add_remove);
  GenerousFilter filter;
  SeededRandom random(1);
  PrivateOracle oracle(*objective, sampler, filter, random);
  Vector w(1);
  const OutputQuery query{.fit = DescentFit{.steps = 1, .step_size = 0.1}};
  EXPECT_TRUE(oracle.perturbed_fit(query, w));
  oracle.look_through(std::make_shared<const RowView>(1, std::vector<std::size_t>{0}, 1, Vector{1}));
  EXPECT_THROW((void)oracle.perturbed_fit(query, w), InputError);
}

// ---- how much noise, before any is drawn ----

class RowViewsNoise : public ::testing::TestWithParam<Relation> {
 protected:
  double times(double under_add_remove, double under_replace_one) const {
    return GetParam() == Relation::add_remove ? under_add_remove : under_replace_one;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, RowViewsNoise, ::testing::Values(Relation::add_remove, Relation::replace_one),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST_P(RowViewsNoise, IsThatOfTheTable) {
  Door door(GetParam());
  const double divisor = door.oracle.divisor();
  door.oracle.look_through(swapped());
  EXPECT_NEAR(door.oracle.mean_of_rows_stddev({.bound = 3, .noise_multiplier = 2}) * divisor, times(6, 12),
              1e-3);
  EXPECT_NEAR(door.oracle.second_moment_stddev({.bound = 3, .noise_multiplier = 2}) * divisor,
              times(18, 18 * std::sqrt(2)), 1e-2);
}

// A map that stretches rows, or what they lose on the way, has as much more room for rounding; that of the
// second moment counts twice.
TEST_P(RowViewsNoise, GrowsWithTheMagnification) {
  constexpr double kBound = 3;
  Door door(GetParam());
  const double divisor = door.oracle.divisor();
  for (const double size : {1e-3, 1.0, 1e6, 1e9}) {
    const auto view = swapped(size);
    door.oracle.look_through(view);
    const auto seen = door.objective->seen_through(view);
    const std::uint64_t most = door.sampler.most_rows();
    const double room = 2 * kBound * seen->magnification() * sum_error(most, seen->longest_chain(most));
    const double moment_room = std::sqrt(2) * kBound * seen->magnification() * room;
    EXPECT_GE(seen->magnification(), std::max(1.0, size * std::sqrt(3)));
    EXPECT_GE(door.oracle.gradient_stddev({.clip = Abadi{kBound}}) * divisor, times(3, 6) + room);
    EXPECT_GE(door.oracle.mean_of_rows_stddev({.bound = kBound}) * divisor, times(3, 6) + room);
    EXPECT_GE(door.oracle.second_moment_stddev({.bound = kBound}) * divisor,
              times(9, 9 * std::sqrt(2)) + moment_room);
    EXPECT_LE(door.oracle.second_moment_stddev({.bound = kBound}) * divisor,
              (times(9, 9 * std::sqrt(2)) + moment_room) * (1 + 1e-5));
  }
}

// Sums of losses do not pass through the map, and a small one does not take their room.
TEST_P(RowViewsNoise, IsNeverLessThanWithoutAMap) {
  Door door(GetParam());
  const double before = door.oracle.gradient_stddev({});
  door.oracle.look_through(swapped(1e-200));
  EXPECT_GE(door.oracle.gradient_stddev({}), before * (1 - 1e-6));  // the grid takes less of two numbers
}

}  // namespace
}  // namespace ration::testing
