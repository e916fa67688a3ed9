// The conformance suite: whatever the rows hold, neighbouring batches differ by no more than
// clipping/sensitivity.h says.
#include "ration/clipping/sensitivity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <tuple>

#include "objectives/tables.h"
#include "support/generators.h"

namespace ration::testing {
namespace {

double norm(const std::vector<double>& v) {
  double squares = 0;
  for (const double x : v) squares += x * x;
  return std::sqrt(squares);
}

double distance(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a);
}

// Two batches of one table that differ by one row: under add_remove the second lacks a row of the first;
// under replace_one each lacks a row that the other has.
struct Neighbours {
  Batch first;
  Batch second;
};

Neighbours neighbours(Relation relation, std::size_t rows, std::mt19937_64& random) {
  const std::size_t left_out = random() % rows;
  if (relation == Relation::add_remove) return {all(rows), all_but(rows, left_out)};
  return {all_but(rows, (left_out + 1 + random() % (rows - 1)) % rows), all_but(rows, left_out)};
}

struct Case {
  std::shared_ptr<const Rows> rows;
  std::unique_ptr<Objective> objective;
  Neighbours batches;
  std::vector<double> w;
  std::vector<double> other_w;
  double bound;
};

using Setting = std::tuple<GlmLoss, Storage, std::string_view, Relation>;

class EveryObjective : public ::testing::TestWithParam<Setting> {
 protected:
  GlmLoss loss() const { return std::get<0>(GetParam()); }
  Relation relation() const { return std::get<3>(GetParam()); }
  AnyClipRule rule(double bound, double gamma) const {
    return AnyClipRule::of(named<ClipKind>(std::get<2>(GetParam())), bound, gamma);
  }

  Case draw() const {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    const std::size_t rows = *rc::gen::inRange<std::size_t>(2, 24);
    const std::size_t columns = *rc::gen::inRange<std::size_t>(1, 8);
    const double scale = *log_uniform(1e-3, 1e3);
    Case drawn{.rows = random_table(loss(), std::get<1>(GetParam()), rows, columns,
                                    *rc::gen::arbitrary<bool>(), random),
               .objective = nullptr,
               .batches = neighbours(relation(), rows, random),
               .w = {},
               .other_w = {},
               .bound = *log_uniform(1e-3, 1e3)};
    drawn.objective = glm(loss(), drawn.rows);
    drawn.w = random_weights(drawn.objective->parameters(), scale, random);
    drawn.other_w = random_weights(drawn.objective->parameters(), scale, random);
    return drawn;
  }
};

// No room for rounding: the clip factor leaves it (kRoundingRoom).
TEST_P(EveryObjective, GradientSumsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const AnyClipRule clip = rule(drawn.bound, *log_uniform(1e-6, 10));
    const auto first = gradient_sum(*drawn.objective, drawn.w, drawn.batches.first, clip);
    const auto second = gradient_sum(*drawn.objective, drawn.w, drawn.batches.second, clip);
    RC_ASSERT(distance(first, second) <= clip.sensitivity(relation()));
  }));
}

TEST_P(EveryObjective, SquaredNormsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const AnyClipRule clip = rule(drawn.bound, *log_uniform(1e-6, 10));
    const double first = norm(gradient_sum(*drawn.objective, drawn.w, drawn.batches.first, clip));
    const double second = norm(gradient_sum(*drawn.objective, drawn.w, drawn.batches.second, clip));
    const double allowed = squared_norm_sensitivity(drawn.bound, drawn.batches.first.rows.size(), relation());
    RC_ASSERT(std::abs(first * first - second * second) <= allowed);
  }));
}

// A sum of up to 24 losses rounds by less than 1e-13 of its largest possible term.
TEST_P(EveryObjective, LossSumsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const auto first =
        loss_sums(*drawn.objective, {drawn.w, drawn.other_w}, drawn.batches.first, drawn.bound);
    const auto second =
        loss_sums(*drawn.objective, {drawn.w, drawn.other_w}, drawn.batches.second, drawn.bound);
    const double room = 1e-13 * drawn.bound;
    RC_ASSERT(first[0] >= 0);
    RC_ASSERT(std::abs(first[0] - second[0]) <= loss_sum_sensitivity(drawn.bound, relation()) + room);
    RC_ASSERT(std::abs((first[0] - first[1]) - (second[0] - second[1])) <=
              loss_difference_sensitivity(drawn.bound, relation()) + room);
  }));
}

TEST_P(EveryObjective, CountsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const auto first = drawn.objective->count_norms_at_most(drawn.w, drawn.batches.first, drawn.bound);
    const auto second = drawn.objective->count_norms_at_most(drawn.w, drawn.batches.second, drawn.bound);
    RC_ASSERT(std::abs(static_cast<double>(first) - static_cast<double>(second)) <=
              count_sensitivity(relation()));
  }));
}

std::string name_of(const ::testing::TestParamInfo<Setting>& info) {
  std::string name(to_string(std::get<0>(info.param)));
  name += std::get<1>(info.param) == Storage::dense ? "_dense_" : "_sparse_";
  for (const char letter : std::get<2>(info.param)) name += letter == '-' ? '_' : letter;
  return name + "_" + std::string(to_string(std::get<3>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, EveryObjective,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses),
                                            ::testing::Values(Storage::dense, Storage::sparse),
                                            ::testing::ValuesIn(names_of<ClipKind>()),
                                            ::testing::Values(Relation::add_remove, Relation::replace_one)),
                         name_of);

// The figures are reached, so none could be smaller, and a suite that never came near would say nothing.
// Rows 0 and 1 are the same feature with opposite labels, 2 is a copy of 0.
class Tightness : public ::testing::Test {
 protected:
  std::unique_ptr<Objective> objective_ =
      glm(GlmLoss::logistic, store(Storage::dense, 1, {1e3, 1e3, 1e3}, {0, 1, 0}));
  std::vector<double> at(const std::vector<double>& w, std::vector<std::uint64_t> rows) {
    return gradient_sum(*objective_, w, {.rows = std::move(rows), .divisor = 1}, Abadi{2});
  }
  double losses(double w, std::vector<std::uint64_t> rows) {
    return loss_sums(*objective_, {{w}}, {.rows = std::move(rows), .divisor = 1}, 2)[0];
  }
};

TEST_F(Tightness, OfGradientSums) {
  EXPECT_NEAR(distance(at({0}, {0, 1}), at({0}, {0})), gradient_sum_sensitivity(2, Relation::add_remove),
              1e-9);
  EXPECT_NEAR(distance(at({0}, {0}), at({0}, {1})), gradient_sum_sensitivity(2, Relation::replace_one), 1e-9);
}

TEST_F(Tightness, OfLossSumsAndTheirDifferences) {
  EXPECT_NEAR(losses(1, {0, 1}) - losses(1, {1}), loss_sum_sensitivity(2, Relation::add_remove), 1e-9);
  EXPECT_NEAR(losses(1, {0}) - losses(1, {1}), loss_sum_sensitivity(2, Relation::replace_one), 1e-9);
  const auto difference = [&](std::vector<std::uint64_t> rows) { return losses(1, rows) - losses(-1, rows); };
  EXPECT_NEAR(difference({0}), loss_difference_sensitivity(2, Relation::add_remove), 1e-9);
  EXPECT_NEAR(difference({0}) - difference({1}), loss_difference_sensitivity(2, Relation::replace_one), 1e-9);
}

TEST_F(Tightness, OfSquaredNorms) {
  const auto squared = [&](std::vector<std::uint64_t> rows) {
    return std::pow(norm(at({0}, std::move(rows))), 2);
  };
  EXPECT_NEAR(squared({0, 2}) - squared({0}), squared_norm_sensitivity(2, 2, Relation::add_remove), 1e-9);
  // Reached up to one C^2.
  EXPECT_NEAR(squared({0, 2}) - squared({0, 1}), squared_norm_sensitivity(2, 2, Relation::replace_one) - 4,
              1e-9);
}

}  // namespace
}  // namespace ration::testing
