// No pair of neighbours is further apart than declared, and some are nearly as far.
#include "objectives/fit_sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "objectives/tables.h"
#include "ration/base/error.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using Vector = std::vector<double>;

constexpr std::size_t kColumns = 2;

struct Table {
  Vector values;
  Vector labels;
};

Vector fit_to(GlmLoss loss, const Table& table, const AnyFit& fit, double ridge, double divisor) {
  const auto rows = store(Storage::dense, kColumns, table.values, table.labels);
  const auto objective = glm(loss, std::make_shared<const Rows>(rows->with_row_norms_at_most(1)));
  Batch batch = all(table.labels.size());
  batch.divisor = divisor;
  SeededRandom random(3);
  Vector w(objective->parameters());
  run_fit({.objective = *objective,
           .batch = batch,
           .ridge = ridge,
           .most_per_row = objective->facts().slope_bound},
          fit, random, w);
  return w;
}

double distance(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

FitScale scale_for(GlmLoss loss, double ridge, double divisor, Relation relation) {
  const PublicFacts facts = glm(loss, store(Storage::dense, kColumns, {}, {}))->facts();
  return {.lipschitz = facts.slope_bound,
          .smoothness = facts.curvature_bound,
          .ridge = ridge,
          .divisor = divisor,
          .parameters = kColumns,
          .relation = relation};
}

// measured / declared.
double tightness(GlmLoss loss, const Table& a, const Table& b, const AnyFit& fit, double ridge,
                 double divisor, Relation relation) {
  const double declared = fit_sensitivity(fit, scale_for(loss, ridge, divisor, relation));
  return distance(fit_to(loss, a, fit, ridge, divisor), fit_to(loss, b, fit, ridge, divisor)) / declared;
}

Table random_rows(GlmLoss loss, std::size_t count, std::mt19937_64& random) {
  Table table;
  for (std::size_t i = 0; i < count; ++i) {
    // Directions of two kinds only, so that rows add up.
    const double angle = random() % 2 == 0 ? 0.3 : std::uniform_real_distribution<double>(0, 7)(random);
    const double size = random() % 3 == 0 ? 0.2 : 5;
    table.values.insert(table.values.end(), {size * std::cos(angle), size * std::sin(angle)});
    table.labels.push_back(label_for(loss, random));
  }
  return table;
}

Table with_row(Table table, double x, double y, double label) {
  table.values.insert(table.values.end(), {x, y});
  table.labels.push_back(label);
  return table;
}

struct Case {
  GlmLoss loss;
  double ridge;
  AnyFit fit;
  Relation relation;
};

std::vector<AnyFit> fits(double largest) {
  std::vector<AnyFit> list;
  for (const double share : {0.02, 0.3, 1.0}) {
    for (const std::uint64_t steps : {1, 7, 60})
      list.push_back(DescentFit{.steps = steps, .step_size = share * largest});
    for (const auto result : {PassesFit::Result::last, PassesFit::Result::pass_averages}) {
      for (const std::uint64_t passes : {1, 2, 5}) {
        for (const std::uint64_t batch : {1, 3}) {
          list.push_back(
              PassesFit{.passes = passes, .batch = batch, .step_size = share * largest, .result = result});
        }
      }
    }
  }
  return list;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const GlmLoss loss : {GlmLoss::logistic, GlmLoss::huber, GlmLoss::softmax}) {
    for (const double ridge : {0.0, 0.01, 0.6}) {
      const double largest = largest_step(scale_for(loss, ridge, 1, Relation::replace_one));
      for (const AnyFit& fit : fits(largest)) {
        list.push_back({loss, ridge, fit, Relation::replace_one});
        if (std::holds_alternative<DescentFit>(fit)) list.push_back({loss, ridge, fit, Relation::add_remove});
      }
    }
  }
  return list;
}

// Under add_remove the declared number of rows may be as low as half the true one.
TEST(FitSensitivity, HoldsOnRandomNeighbours) {
  std::mt19937_64 random(17);
  double tightest = 0;
  for (const Case& one : cases()) {
    for (int i = 0; i < 12; ++i) {
      const std::size_t others = random() % 12;
      const Table common = random_rows(one.loss, others, random);
      const double angle = std::uniform_real_distribution<double>(0, 7)(random);
      const double label = label_for(one.loss, random);
      const Table with = with_row(common, 9 * std::cos(angle), 9 * std::sin(angle), label);
      const bool replaced = one.relation == Relation::replace_one;
      const Table other = !replaced ? common
                          : one.loss == GlmLoss::softmax
                              ? with_row(common, 9 * std::cos(angle), 9 * std::sin(angle), label == 0 ? 1 : 0)
                              : with_row(common, 9 * std::cos(angle), 9 * std::sin(angle), 1 - label);
      const auto rows = static_cast<double>(others + 1);
      const double divisor = replaced ? rows : std::ceil(rows / (1 + static_cast<double>(random() % 2)));
      const double share = tightness(one.loss, with, other, one.fit, one.ridge, divisor, one.relation);
      ASSERT_LE(share, 1) << static_cast<int>(one.loss) << " " << one.ridge;
      tightest = std::max(tightest, share);
    }
  }
  EXPECT_GT(tightest, 0.9);
}

// Rows of zeros pull nowhere; the one row pulls at full strength as long as its margin is below 1 - h = 1/2.
Table silent_rows(std::size_t count) {
  return {Vector(count * kColumns, 0.0), Vector(count, 0.0)};
}

TEST(FitSensitivity, OfDescentIsReached) {
  for (const double ridge : {0.0, 0.5}) {
    const DescentFit fit{.steps = 20, .step_size = 0.2};
    const Table without = silent_rows(9);
    for (const double label : {0.0, 1.0}) {
      const double share = tightness(GlmLoss::huber, without, with_row(without, 1, 0, label), fit, ridge, 10,
                                     Relation::add_remove);
      EXPECT_LE(share, 1);
      EXPECT_GT(share, 1 - 1e-9);
    }
    EXPECT_GT(tightness(GlmLoss::huber, with_row(without, 0, 1, 0), with_row(without, 0, 1, 1), fit, ridge,
                        10, Relation::replace_one),
              1 - 1e-9);
  }
}

// The row's batch comes at a random place; over a few tables it comes at the worst one, or near it.
TEST(FitSensitivity, OfPassesIsReached) {
  for (const double ridge : {0.0, 0.5}) {
    for (const auto result : {PassesFit::Result::last, PassesFit::Result::pass_averages}) {
      for (const std::uint64_t batch : {1, 2}) {
        const PassesFit fit{.passes = 4, .batch = batch, .step_size = 0.02, .result = result};
        double tightest = 0;
        for (std::size_t place = 0; place < 6; ++place) {
          Table a = silent_rows(6), b = silent_rows(6);
          a.values[kColumns * place] = b.values[kColumns * place] = 1;
          b.labels[place] = 1;
          const double share = tightness(GlmLoss::huber, a, b, fit, ridge, 6, Relation::replace_one);
          EXPECT_LE(share, 1);
          tightest = std::max(tightest, share);
        }
        EXPECT_GT(tightest, 1 - 1e-9);
      }
    }
  }
}

TEST(FitSensitivity, OfDescentIsTheFormula) {
  FitScale scale{.lipschitz = 3, .smoothness = 0.5, .ridge = 0.01, .divisor = 1000};
  const DescentFit fit{.steps = 50, .step_size = 1.5};
  const double sum = (1 - std::pow(1 - 0.015, 50)) / 0.015;
  EXPECT_NEAR(fit_sensitivity(fit, scale), 1.5 * 3 / 1000 * sum, 1e-9);
  scale.relation = Relation::replace_one;
  EXPECT_NEAR(fit_sensitivity(fit, scale), 2 * 1.5 * 3 / 1000 * sum, 1e-9);
  // In the end, that of the minimum: 2 L / (m ridge). Without a ridge: 2 T h L / m.
  EXPECT_NEAR(fit_sensitivity(DescentFit{.steps = 100'000, .step_size = 1.5}, scale), 0.6, 1e-6);
  scale.ridge = 0;
  EXPECT_NEAR(fit_sensitivity(fit, scale), 2 * 50 * 1.5 * 3 / 1000, 1e-9);
}

TEST(FitSensitivity, OfPassesIsThePapersWithoutARidgeAndHalfForAverages) {
  const FitScale scale{
      .lipschitz = 3, .smoothness = 0.5, .ridge = 0, .divisor = 1001, .relation = Relation::replace_one};
  PassesFit fit{.passes = 4, .batch = 10, .step_size = 0.1};
  EXPECT_NEAR(fit_sensitivity(fit, scale), 4 * 2 * 0.1 * 3 / 10, 1e-9);
  fit.result = PassesFit::Result::pass_averages;
  EXPECT_NEAR(fit_sensitivity(fit, scale), 2 * 2 * 0.1 * 3 / 10 * (1 + 1.0 / 101), 1e-9);
  fit.passes = 1;
  EXPECT_NEAR(fit_sensitivity(fit, scale), 2 * 0.1 * 3 / 10, 1e-9);
}

TEST(FitSensitivity, HasRoomForRounding) {
  FitScale scale{.lipschitz = 1, .smoothness = 0.25, .ridge = 0, .divisor = 1e6, .parameters = 100};
  const DescentFit fit{.steps = 100, .step_size = 4};
  const double exact = 400 / 1e6;
  // At |w| <= 800 a gradient is off by at most 4 u (0.25 * 102 * 800 + 17), a step by 4 u (800 / 4 + 2) / 4.
  const double u = 0x1p-53;
  const double room = 400 * 2 * (4 * u * (0.25 * 102 * 800 + 17) + 4 * u * 202);
  EXPECT_NEAR(fit_sensitivity(fit, scale) - exact, room, 0.01 * room);
  scale.longest_chain = 1'000'000;
  EXPECT_NEAR(fit_sensitivity(fit, scale) - exact, room + 400 * 2 * 4 * u * 999'999, 0.01 * room);
}

TEST(FitSensitivity, RefusesStepsThatNeedNotContract) {
  const FitScale scale{.smoothness = 0.25, .ridge = 0.25, .divisor = 10, .relation = Relation::replace_one};
  EXPECT_EQ(largest_step(scale), 2);
  EXPECT_NO_THROW(fit_sensitivity(DescentFit{.step_size = 2}, scale));
  for (const AnyFit& fit : {AnyFit(DescentFit{.step_size = 2.001}), AnyFit(PassesFit{.step_size = 2.001})}) {
    EXPECT_THAT(refusal([&] { fit_sensitivity(fit, scale); }),
                HasSubstr("expected 0 < step_size <= 1 / (smoothness + ridge) = 2, got step_size=2.001"));
  }
  for (const double size : {0.0, -1.0, std::nan("")}) {
    EXPECT_THAT(refusal([&] { fit_sensitivity(DescentFit{.step_size = size}, scale); }),
                HasSubstr("0 < step_size"));
  }
}

TEST(FitSensitivity, RefusesPassesUnderAddRemove) {
  EXPECT_THAT(refusal([&] { fit_sensitivity(PassesFit{}, {.divisor = 10}); }),
              HasSubstr("under relation replace_one only"));
}

TEST(FitSensitivity, RefusesSettingsWithoutMeaning) {
  const FitScale scale{.divisor = 10, .relation = Relation::replace_one};
  EXPECT_THAT(refusal([&] { fit_sensitivity(DescentFit{.steps = 0}, scale); }), HasSubstr("steps"));
  EXPECT_THAT(refusal([&] { fit_sensitivity(PassesFit{.passes = 0}, scale); }), HasSubstr("passes"));
  EXPECT_THAT(refusal([&] { fit_sensitivity(PassesFit{.batch = 0}, scale); }), HasSubstr("batch"));
  EXPECT_THAT(refusal([&] { fit_sensitivity(DescentFit{}, {.ridge = -1, .divisor = 10}); }),
              HasSubstr("ridge"));
}

}  // namespace
}  // namespace ration::testing
