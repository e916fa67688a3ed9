#include "objectives/quadratic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <random>

#include "objectives/tables.h"
#include "ration/clipping/sensitivity.h"
#include "support/generators.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

std::vector<QuadraticTerm> random_terms(std::size_t count, bool hostile, std::mt19937_64& random) {
  std::vector<QuadraticTerm> terms(count);
  const auto value = [&] { return hostile ? hostile_value(random) : plain_value(random); };
  for (QuadraticTerm& term : terms) {
    for (double& x : term.matrix) x = value();
    for (double& x : term.target) x = value();
  }
  return terms;
}

double length(const std::vector<double>& v) {
  return std::hypot(v[0], v[1]);
}

std::vector<double> gradient(Objective& objective, const std::vector<double>& w, const Batch& batch,
                             const AnyClipRule& rule) {
  std::vector<double> sum(2);
  objective.clipped_gradient_sum(w, batch, rule, sum);
  return sum;
}

double loss(Objective& objective, const std::vector<double>& w, const Batch& batch, double bound) {
  const std::array<Objective::Parameters, 1> candidates{w};
  double sum = 0;
  objective.clipped_loss_sums(candidates, batch, bound, std::span(&sum, 1));
  return sum;
}

// --- the conformance suite: neighbours are no further apart than clipping/sensitivity.h says

class QuadraticSensitivity : public ::testing::TestWithParam<std::tuple<std::string_view, Relation>> {
 protected:
  Relation relation() const { return std::get<1>(GetParam()); }

  struct Case {
    std::unique_ptr<Objective> objective;
    Batch first, second;
    std::vector<double> w;
    double bound;
  };
  Case draw() const {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    const std::size_t rows = *rc::gen::inRange<std::size_t>(2, 24);
    const std::size_t out = random() % rows;
    const double scale = *log_uniform(1e-3, 1e3);
    const bool add_remove = relation() == Relation::add_remove;
    return {.objective = make_quadratics(random_terms(rows, *rc::gen::arbitrary<bool>(), random)),
            .first = add_remove ? all(rows) : all_but(rows, (out + 1 + random() % (rows - 1)) % rows),
            .second = all_but(rows, out),
            .w = random_weights(2, scale, random),
            .bound = *log_uniform(1e-3, 1e3)};
  }
  AnyClipRule rule(double bound) const {
    return AnyClipRule::of(named<ClipKind>(std::get<0>(GetParam())), bound, *log_uniform(1e-6, 10));
  }
};

TEST_P(QuadraticSensitivity, OfGradientSumsAndTheirSquaredNorms) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const AnyClipRule clip = rule(drawn.bound);
    const auto one = gradient(*drawn.objective, drawn.w, drawn.first, clip);
    const auto two = gradient(*drawn.objective, drawn.w, drawn.second, clip);
    RC_ASSERT(length({one[0] - two[0], one[1] - two[1]}) <= clip.sensitivity(relation()) * (1 + 1e-14));
    const double squares = std::pow(length(one), 2) - std::pow(length(two), 2);
    RC_ASSERT(std::abs(squares) <=
              squared_norm_sensitivity(drawn.bound, drawn.first.rows.size(), relation()) * (1 + 1e-14));
  }));
}

TEST_P(QuadraticSensitivity, OfLossesAndCounts) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const double one = loss(*drawn.objective, drawn.w, drawn.first, drawn.bound);
    const double two = loss(*drawn.objective, drawn.w, drawn.second, drawn.bound);
    RC_ASSERT(one >= 0);
    RC_ASSERT(std::abs(one - two) <= loss_sum_sensitivity(drawn.bound, relation()) + 1e-13 * drawn.bound);
    const auto count = [&](const Batch& batch) {
      return static_cast<double>(drawn.objective->count_norms_at_most(drawn.w, batch, drawn.bound));
    };
    RC_ASSERT(std::abs(count(drawn.first) - count(drawn.second)) <= count_sensitivity(relation()));
  }));
}

INSTANTIATE_TEST_SUITE_P(All, QuadraticSensitivity,
                         ::testing::Combine(::testing::ValuesIn(names_of<ClipKind>()),
                                            ::testing::Values(Relation::add_remove, Relation::replace_one)));

// --- what it computes

TEST(Quadratics, LossAndGradientByHand) {
  // |(w0 + 2 w1 - 5, 3 w0 + 4 w1 - 6)|^2 at (1, 1): (-2, 1), loss 5, gradient 2 W^T r = 2 (-2 + 3, -4 + 4).
  const auto objective = make_quadratics({{{1, 2, 3, 4}, {5, 6}}});
  EXPECT_EQ(loss(*objective, {1, 1}, all(1), 100), 5);
  EXPECT_EQ(loss(*objective, {1, 1}, all(1), 3), 3);
  const auto g = gradient(*objective, {1, 1}, all(1), Abadi{1e6});
  EXPECT_DOUBLE_EQ(g[0], 2 * (1 - kRoundingRoom));
  EXPECT_NEAR(g[1], 0, 1e-12);
  EXPECT_EQ(objective->mean_loss(std::vector<double>{1, 1}), 5);
}

TEST(Quadratics, GradientIsThatOfDifferences) {
  std::mt19937_64 random(3);
  const auto objective = make_quadratics(random_terms(60, false, random));
  const std::vector<double> w{0.3, -0.8};
  const auto g = gradient(*objective, w, all(60), Abadi{1e9});
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> more = w, less = w;
    more[i] += 1e-6;
    less[i] -= 1e-6;
    const double expected = 60 * (objective->mean_loss(more) - objective->mean_loss(less)) / 2e-6;
    EXPECT_NEAR(g[i], expected, 1e-5 * (1 + std::abs(expected)));
  }
}

TEST(Quadratics, ALineIsItsPoints) {
  std::mt19937_64 random(4);
  const auto objective = make_quadratics(random_terms(20, false, random));
  const std::vector<double> start{1, 2}, direction{-0.5, 3}, steps{0, 0.1, 2};
  std::vector<double> along(3);
  objective->clipped_loss_sums_along({start, direction, steps}, all(20), 4, along);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double> at{1 + 0.5 * steps[k], 2 - 3 * steps[k]};
    EXPECT_NEAR(along[k], loss(*objective, at, all(20), 4), 1e-12);
  }
}

TEST(Quadratics, WrongSizesAreRefused) {
  const auto objective = make_quadratics({{{1, 0, 0, 1}, {0, 0}}});
  std::vector<double> sum(3);
  EXPECT_THAT(refusal([&] { objective->mean_loss(std::vector<double>{1}); }),
              HasSubstr("expected 2 parameters, got 1"));
  EXPECT_THAT(refusal([&] {
                objective->clipped_gradient_sum(std::vector<double>{1, 2}, all(1), Abadi{1}, sum);
              }),
              HasSubstr("expected 2 sums, got 3"));
  EXPECT_THAT(refusal([&] { gradient(*objective, {0, 0}, all(2), Abadi{1}); }), HasSubstr("got row 1"));
  EXPECT_EQ(make_quadratics({})->mean_loss(std::vector<double>{0, 0}), 0);
}

}  // namespace
}  // namespace ration::testing
