// A longer search for neighbours on which an AboveThreshold costs more than is charged: more noises, more
// restarts, every query on its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "privacy/rdp_curves.h"
#include "privacy/search_patterns.h"

namespace ration {
namespace {

using testing::PatternSearch;

constexpr double kOrders[] = {1.5, 2, 3, 5, 8, 16, 32, 64};
constexpr std::tuple<int, int, int> kShapes[] = {{20, 20, 3}, {60, 12, 4}, {1000, 6, 6}};

TEST(AboveThresholdGaussian, ALongSearchFindsNothingAboveTheCharge) {
  double closest = 0;
  for (const auto& [s1, s2] : {std::pair{0.9, 1.2}, std::pair{std::sqrt(3.0), std::sqrt(6.0)},
                               std::pair{3.0, 12.0}, std::pair{30.0, 20.0}}) {
    for (const double alpha : kOrders) {
      PatternSearch search({true, s1, s2}, alpha, 11);
      for (const auto& [queries, blocks, rounds] : kShapes) {
        const double found = search.best_of(queries, blocks, 12, rounds);
        const double charge = rdp_above_threshold_gaussian(s1, s2, queries, alpha);
        EXPECT_LE(found, charge) << s1 << ' ' << alpha << ' ' << queries;
        closest = std::max(closest, found / charge);
      }
    }
  }
  RecordProperty("closest", std::to_string(closest));
  EXPECT_GT(closest, 0.8);
}

TEST(AboveThresholdLaplace, ALongSearchFindsNothingAboveTheCharge) {
  double closest = 0;
  for (const auto& [e1, e2] : {std::pair{2.0, 1.0}, std::pair{0.5, 0.25}, std::pair{0.05, 0.1}}) {
    for (const double alpha : kOrders) {
      PatternSearch search({false, 1 / e1, 1 / e2}, alpha, 11);
      for (const auto& [queries, blocks, rounds] : kShapes) {
        const double found = search.best_of(queries, blocks, 8, rounds / 2);
        const double charge = rdp_above_threshold_laplace(e1, e2, alpha);
        EXPECT_LE(found, charge) << e1 << ' ' << alpha << ' ' << queries;
        closest = std::max(closest, found / charge);
      }
    }
  }
  EXPECT_GT(closest, 0.8);
}

}  // namespace
}  // namespace ration
