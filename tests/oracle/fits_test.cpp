// The conditions of a fit's sensitivity are checked, before anything is charged or read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "objectives/solvers.h"
#include "objectives/tables.h"
#include "ration/oracle/oracle.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Vector = std::vector<double>;

constexpr std::size_t kRows = 10;

std::shared_ptr<const Rows> some_rows(double bound) {
  Vector values, labels;
  for (std::size_t i = 0; i < kRows; ++i) {
    values.insert(values.end(), {std::cos(static_cast<double>(i)), 1});
    labels.push_back(static_cast<double>(i % 2));
  }
  const Rows rows = Rows::dense(2, values, labels);
  return std::make_shared<const Rows>(bound > 0 ? rows.with_row_norms_at_most(bound) : rows);
}

struct Door {
  explicit Door(GlmLoss loss = GlmLoss::logistic, double bound = 1, Relation relation = Relation::add_remove,
                double declared = kRows, std::size_t grants = 100)
      : objective(glm(loss, some_rows(bound))),
        sampler(std::make_unique<FullSampler>(TableSize{kRows, declared}, relation)),
        filter(grants, journal) {}

  PrivateOracle oracle() { return {*objective, *sampler, filter, random}; }
  std::string output(const OutputQuery& query) {
    Vector w(objective->parameters());
    return refusal([&] { EXPECT_TRUE(oracle().perturbed_fit(query, w)); });
  }
  std::string perturbed(const ObjectiveQuery& query) {
    Vector w(objective->parameters());
    return refusal([&] { EXPECT_TRUE(oracle().perturbed_objective(query, w)); });
  }

  Journal journal;
  std::unique_ptr<Objective> objective;
  std::unique_ptr<Sampler> sampler;
  RecordingFilter filter;
  SeededRandom random{1};
};

const ObjectiveQuery kWide{.ridge = 1};

TEST(Fits, RowsOverTheBoundAreRefused) {
  Door none(GlmLoss::logistic, 0), loose(GlmLoss::logistic, 2), tight(GlmLoss::logistic, 0.5);
  for (Door* door : {&none, &loose}) {
    const std::string got = door == &none ? "got no bound" : "got a bound of 2";
    EXPECT_THAT(door->output({}),
                HasSubstr("output perturbation: expected rows whose norms are kept at 1 or less"));
    EXPECT_THAT(door->output({}), HasSubstr(got));
    EXPECT_THAT(door->perturbed(kWide),
                HasSubstr("objective perturbation: expected rows whose norms are kept at 1"));
    EXPECT_THAT(door->perturbed(kWide), HasSubstr(got));
    EXPECT_THAT(door->journal, IsEmpty());
  }
  EXPECT_EQ(loose.output({.fit = DescentFit{.step_size = 0.9}, .row_norm = 2}), "");
  EXPECT_EQ(tight.output({}), "");
  EXPECT_EQ(tight.perturbed(kWide), "");
  EXPECT_THAT(tight.output({.row_norm = 0}), HasSubstr("row_norm"));
}

// A method cannot leave out what its answers rest on: the door itself says it.
TEST(Fits, WhatTheyAssumeIsSaidByTheOracle) {
  Vector w(2);
  Door asked, recalled, replaced(GlmLoss::logistic, 1, Relation::replace_one);
  PrivateOracle oracle = asked.oracle();
  ASSERT_TRUE(oracle.gradient(w, {}, w));
  EXPECT_THAT(oracle.assumed(), IsEmpty());
  ASSERT_TRUE(oracle.perturbed_objective(kWide, w));
  ASSERT_TRUE(oracle.perturbed_fit({}, w));
  EXPECT_THAT(oracle.assumed(), ElementsAre(HasSubstr("at most twice as many rows as declared")));

  PrivateOracle later = recalled.oracle();
  later.recall(oracle.released(), oracle.assumed());
  EXPECT_EQ(later.assumed(), oracle.assumed());

  PrivateOracle public_size = replaced.oracle();
  ASSERT_TRUE(public_size.perturbed_fit({}, w));
  EXPECT_THAT(public_size.assumed(), IsEmpty());
}

TEST(Fits, TooLongAStepIsRefused) {
  Door door;
  EXPECT_EQ(door.output({.fit = DescentFit{.step_size = 2}, .ridge = 0.25}), "");
  door.journal.clear();
  EXPECT_THAT(door.output({.fit = DescentFit{.step_size = 2.1}, .ridge = 0.25}),
              HasSubstr("expected 0 < step_size <= 1 / (smoothness + ridge) = 2, got step_size=2.1"));
  EXPECT_THAT(door.journal, IsEmpty());
}

TEST(Fits, LongerRowsNeedShorterSteps) {
  Door door(GlmLoss::logistic, 2);
  EXPECT_THAT(door.output({.fit = DescentFit{.step_size = 1.01}, .ridge = 0, .row_norm = 2}),
              HasSubstr("= 1, got step_size=1.01"));
}

TEST(Fits, LossesWithoutTheNeededBoundsAreRefused) {
  Door hinge(GlmLoss::hinge), squared(GlmLoss::squared), softmax(GlmLoss::softmax);
  EXPECT_THAT(hinge.output({}), HasSubstr("expected a smooth loss, and 'hinge' has a kink; use 'huber'"));
  EXPECT_THAT(hinge.perturbed(kWide),
              HasSubstr("objective perturbation: expected a smooth loss, and 'hinge'"));
  EXPECT_THAT(squared.output({}),
              HasSubstr("expected a loss with bounded slopes, such as logistic or huber"));
  EXPECT_THAT(squared.perturbed(kWide), HasSubstr("those of 'squared' are not"));
  EXPECT_THAT(softmax.perturbed(kWide),
              HasSubstr("whose slope has one sign, such as logistic or huber, got 'softmax'"));
  for (const Door* door : {&hinge, &squared, &softmax}) EXPECT_THAT(door->journal, IsEmpty());
  EXPECT_EQ(softmax.output({}), "");
  EXPECT_EQ(Door(GlmLoss::huber).output({.fit = DescentFit{.step_size = 0.5}}), "");
  EXPECT_EQ(Door(GlmLoss::huber).perturbed(kWide), "");
}

TEST(Fits, ASamplerThatLeavesRowsOutIsRefused) {
  Door door;
  door.sampler = std::make_unique<PoissonSampler>(TableSize{kRows, kRows}, 0.5);
  EXPECT_THAT(door.output({}), HasSubstr("expected a sampler that takes every row"));
  EXPECT_THAT(door.perturbed(kWide), HasSubstr("expected a sampler that takes every row"));
  Vector counts(2);
  EXPECT_THAT(refusal([&] { EXPECT_FALSE(door.oracle().label_counts({}, counts)); }),
              HasSubstr("label counts: expected a sampler that takes every row"));
  EXPECT_THAT(door.journal, IsEmpty());
  door.sampler = std::make_unique<FixedSizeSampler>(kRows, kRows);
  EXPECT_EQ(door.output({}), "");
}

TEST(Fits, ATableFarBeyondItsDeclaredSizeIsRefused) {
  Door half(GlmLoss::logistic, 1, Relation::add_remove, 5),
      less(GlmLoss::logistic, 1, Relation::add_remove, 4.9);
  EXPECT_EQ(half.output({}), "");
  EXPECT_EQ(half.perturbed(kWide), "");
  EXPECT_THAT(less.output({}), HasSubstr("more than twice the 4.9 rows that were declared"));
  EXPECT_THAT(less.perturbed(kWide), HasSubstr("more than twice the 4.9 rows that were declared"));
}

TEST(Fits, PassesAreForReplaceOne) {
  EXPECT_THAT(Door().output({.fit = PassesFit{}}), HasSubstr("under relation replace_one only"));
  EXPECT_EQ(Door(GlmLoss::logistic, 1, Relation::replace_one).output({.fit = PassesFit{}}), "");
}

TEST(Fits, TooSmallARidgeIsRefused) {
  Door door;
  EXPECT_THAT(door.perturbed({.ridge = 0}), HasSubstr("expected ridge > 0"));
  EXPECT_THAT(door.perturbed({.ridge = 0.001, .noise_multiplier = 50}), HasSubstr("take a larger ridge"));
  EXPECT_THAT(door.journal, IsEmpty());
}

TEST(Fits, AnswersNeedPlaces) {
  Door door;
  Vector w(3);
  EXPECT_THAT(refusal([&] { EXPECT_FALSE(door.oracle().perturbed_fit({}, w)); }),
              HasSubstr("expected 2 places"));
  EXPECT_THAT(refusal([&] { EXPECT_FALSE(door.oracle().perturbed_objective(kWide, w)); }),
              HasSubstr("expected 2 places"));
  EXPECT_THAT(refusal([&] { EXPECT_FALSE(door.oracle().label_counts({}, w)); }),
              HasSubstr("expected 2 places"));
  EXPECT_THAT(door.journal, IsEmpty());
}

TEST(Fits, LabelsThatAreNoClassesAreNotCounted) {
  Door door(GlmLoss::squared);
  Vector counts(2);
  EXPECT_THAT(refusal([&] { EXPECT_FALSE(door.oracle().label_counts({}, counts)); }),
              HasSubstr("the labels of loss 'squared' are no classes"));
  EXPECT_THAT(door.journal, IsEmpty());
}

TEST(Fits, EachIsChargedOnceAsAGaussian) {
  Door door;
  PrivateOracle oracle = door.oracle();
  Vector w(2);
  ASSERT_TRUE(oracle.perturbed_fit({.noise_multiplier = 3}, w));
  ASSERT_TRUE(oracle.perturbed_objective({.ridge = 5, .noise_multiplier = 4}, w));
  ASSERT_TRUE(oracle.label_counts({.noise_multiplier = 5}, w));
  EXPECT_THAT(door.journal, ElementsAre(Event::gaussian(3).describe(), Event::gaussian(4).describe(),
                                        Event::gaussian(5).describe()));
  EXPECT_EQ(flatten(oracle.released()).size(), 3u);
}

TEST(Fits, ARefusedOneAnswersNothing) {
  Door door(GlmLoss::logistic, 1, Relation::add_remove, kRows, 0);
  PrivateOracle oracle = door.oracle();
  Vector w(2, 7.0);
  EXPECT_FALSE(oracle.perturbed_fit({}, w));
  EXPECT_FALSE(oracle.perturbed_objective(kWide, w));
  EXPECT_FALSE(oracle.label_counts({}, w));
  EXPECT_EQ(w, Vector(2, 7.0));
  EXPECT_TRUE(flatten(oracle.released()).empty());
}

// With next to no noise the answers are the fits themselves.
TEST(Fits, AnswerTheQuestion) {
  Door door(GlmLoss::logistic, 1, Relation::replace_one);
  PrivateOracle oracle = door.oracle();
  const Vector best = fit_without_privacy(*door.objective, {.ridge = 0.3});
  Vector w(2), counts(2);
  ASSERT_TRUE(oracle.perturbed_fit(
      {.fit = DescentFit{.steps = 200, .step_size = 1.5}, .ridge = 0.3, .noise_multiplier = 1e-7}, w));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(w[i], best[i], 1e-5);
  ASSERT_TRUE(oracle.perturbed_objective({.ridge = 0.3, .noise_multiplier = 1e-6}, w));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(w[i], best[i], 1e-4);
  ASSERT_TRUE(oracle.label_counts({.noise_multiplier = 1e-6}, counts));
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(counts[k], 5, 1e-4);
}

}  // namespace
}  // namespace ration::testing
