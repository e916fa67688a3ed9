#include "oracle/noisy_accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle/right_and_wrong.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"
#include "ration/privacy/accountant.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

struct Classified {
  double prediction;
  double label;
};

std::array<double, 2> histogram(const std::vector<Classified>& rows) {
  std::vector<double> predictions, labels;
  for (const Classified& row : rows) {
    predictions.push_back(row.prediction);
    labels.push_back(row.label);
  }
  return count_right_and_wrong(predictions, labels);
}

double l1_distance(const std::array<double, 2>& a, const std::array<double, 2>& b) {
  return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]);
}

// Every kind of row there is, also the odd ones.
const std::vector<Classified> kKinds = {
    {0, 0}, {1, 1}, {0, 1}, {1, 0}, {2, 2}, {std::nan(""), 1}, {1, std::nan("")}, {INFINITY, 0}, {-0.0, 0.0}};

TEST(NoisyAccuracy, NeighboursMoveTheHistogramByTheSensitivityAndNoMore) {
  double most_added = 0;
  double most_replaced = 0;
  for (const Classified& row : kKinds) {
    std::vector<Classified> more = kKinds;
    more.push_back(row);
    most_added = std::max(most_added, l1_distance(histogram(kKinds), histogram(more)));
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      std::vector<Classified> changed = kKinds;
      changed[i] = row;
      most_replaced = std::max(most_replaced, l1_distance(histogram(kKinds), histogram(changed)));
    }
  }
  EXPECT_EQ(most_added, histogram_sensitivity_l1(Relation::add_remove));
  EXPECT_EQ(most_replaced, histogram_sensitivity_l1(Relation::replace_one));
}

TEST(NoisyAccuracy, CountsEveryRowOnce) {
  const auto counts = histogram(kKinds);
  EXPECT_EQ(counts[0], 4);
  EXPECT_EQ(counts[1], 5);
  EXPECT_EQ(histogram({})[0] + histogram({})[1], 0);
}

TEST(NoisyAccuracy, WithLittleNoiseItIsTheAccuracy) {
  SeededRandom random(1);
  const NoisyAccuracyQuery query({.epsilon = 1000});
  const std::vector<double> predictions = {0, 1, 1, 0, 1}, labels = {0, 1, 0, 0, 1};
  const NoisyAccuracy found = query.release(predictions, labels, random);
  EXPECT_NEAR(*found.accuracy, 0.8, 0.01);
  EXPECT_NEAR(found.rows, 5, 0.05);
  // As many rows as fit into memory are not clamped.
  const std::vector<double> many(1'000'000, 1);
  EXPECT_NEAR(query.release(many, many, random).rows, 1e6, 0.05);
}

TEST(NoisyAccuracy, WithMuchNoiseItStaysInItsBounds) {
  SeededRandom random(2);
  const std::vector<double> one = {1};
  int without_rows = 0, below_one = 0, at_bounds = 0;
  for (int i = 0; i < 200; ++i) {
    const NoisyAccuracy found = NoisyAccuracyQuery({.epsilon = 1e-6}).release(one, one, random);
    EXPECT_GE(found.rows, 0);
    EXPECT_EQ(found.accuracy.has_value(), found.rows > 0);
    without_rows += found.accuracy ? 0 : 1;
    if (!found.accuracy) continue;
    EXPECT_GE(*found.accuracy, 0);
    EXPECT_LE(*found.accuracy, 1);
    at_bounds += *found.accuracy == 0 || *found.accuracy == 1 ? 1 : 0;
    below_one += *found.accuracy > 0 && *found.accuracy < 1 ? 1 : 0;
  }
  EXPECT_GT(without_rows, 50);
  EXPECT_GT(at_bounds, 10);
  EXPECT_GT(below_one, 10);
}

TEST(NoisyAccuracy, ItsEventCostsNoMoreThanEpsilon) {
  for (const double epsilon : {1e-6, 0.1, 0.3, 1.0, 1.0 / 3, 49.0, 1000.0}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      const NoisyAccuracyQuery query({.epsilon = epsilon, .relation = relation});
      const double scale = std::get<Event::Laplace>(query.event().node()).scale;
      EXPECT_LE(std::fma(-scale, epsilon, 1.0), 0) << epsilon;  // 1 <= scale * epsilon, exactly
      EXPECT_NEAR(scale * epsilon, 1, 1e-15);
      const double excess = query.noise_scale() * epsilon / histogram_sensitivity_l1(relation);
      EXPECT_GE(excess, 1);
      EXPECT_LE(excess, 1.001);
    }
  }
}

TEST(NoisyAccuracy, WrongInputIsRefused) {
  for (const double epsilon : {0.0, -1.0, 1e-7, 1001.0, static_cast<double>(NAN)}) {
    EXPECT_THAT(refusal([&] { NoisyAccuracyQuery query({.epsilon = epsilon}); }),
                ::testing::HasSubstr("NoisyAccuracy: expected 1e-06 <= epsilon <= 1000"));
  }
  SeededRandom random(3);
  const std::vector<double> one = {1}, two = {1, 0};
  EXPECT_THAT(refusal([&] { NoisyAccuracyQuery({}).release(one, two, random); }),
              ::testing::HasSubstr("got 1 and 2"));
}

}  // namespace
}  // namespace ration::testing
