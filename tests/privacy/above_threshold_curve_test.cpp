// The AboveThreshold curves against the mechanism itself: the distribution of its output, for the query
// patterns that come closest to the bound. (above_threshold_slow.cpp searches longer.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "privacy/rdp_curves.h"
#include "privacy/search_curve.h"
#include "privacy/search_moments.h"
#include "privacy/search_patterns.h"

namespace ration {
namespace {

using testing::axis_for;
using testing::pattern_divergence;
using testing::PatternNoise;
using testing::PatternSearch;
using testing::published_gaussian_search;
using testing::QueryPattern;

QueryPattern alternating(int queries, double value, double move) {
  QueryPattern pattern;
  for (int i = 0; i < queries; ++i) pattern.push_back({1, value, i % 2 == 0 ? move : -move});
  return pattern;
}

struct KnownPattern {
  std::string name;
  double threshold_noise, query_noise, alpha;
  QueryPattern pattern;
  double reached;  // at least, as it was reported

  PatternNoise noise() const { return {true, threshold_noise, query_noise}; }
  int queries() const {
    int sum = 0;
    for (const auto& block : pattern) sum += block.count;
    return sum;
  }
};

std::vector<KnownPattern> known_patterns() {
  const double s1 = std::sqrt(3.0), s2 = std::sqrt(6.0);  // rho = 0.5 by the published formula
  return {{"400 queries", s1, s2, 4, {{200, -4.01, 1}, {200, -5.58, -1}}, 2.063},
          {"10'000 queries", s1, s2, 4, {{5000, -6.29, 1}, {5000, -7.34, -1}}, 2.79},
          {"order 1", std::sqrt(50.0), 10, 1, alternating(10'000, -30, 1), 0.0411}};
}

TEST(AboveThresholdGaussian, ThePublishedFormulaIsFalseAndTheChargeIsNot) {
  for (const KnownPattern& known : known_patterns()) {
    const double reached =
        pattern_divergence(known.pattern, known.noise(), known.alpha, axis_for(known.noise()));
    EXPECT_GE(reached, known.reached) << known.name;
    EXPECT_GT(reached, published_gaussian_search(known.threshold_noise, known.query_noise, known.alpha))
        << known.name;
    EXPECT_LE(reached, rdp_above_threshold_gaussian(known.threshold_noise, known.query_noise, known.queries(),
                                                    known.alpha))
        << known.name;
  }
}

TEST(AboveThresholdGaussian, TheIntegrationIsRight) {
  for (const KnownPattern& known : known_patterns()) {
    if (known.queries() > 1000) continue;
    const double coarse =
        pattern_divergence(known.pattern, known.noise(), known.alpha, axis_for(known.noise()));
    const double fine =
        pattern_divergence(known.pattern, known.noise(), known.alpha, axis_for(known.noise(), 3));
    EXPECT_NEAR(coarse, fine, 1e-9);
  }
}

constexpr double kOrders[] = {1.5, 2, 4, 8, 16, 32, 64};

// What a search finds is a lower bound on the truth; the charge must not be below it, nor far above.
TEST(AboveThresholdGaussian, ASearchOverPatternsFindsNothingAboveTheCharge) {
  double closest = 0;
  for (const auto& [s1, s2] : {std::pair{std::sqrt(3.0), std::sqrt(6.0)}, std::pair{8.0, 12.0}}) {
    for (const double alpha : kOrders) {
      PatternSearch search({true, s1, s2}, alpha, 7);
      for (const auto& [queries, blocks] : {std::pair{6, 6}, std::pair{1000, 4}}) {
        const double found = search.best_of(queries, blocks, 12, 6);
        const double charge = rdp_above_threshold_gaussian(s1, s2, queries, alpha);
        EXPECT_LE(found, charge) << s1 << ' ' << alpha << ' ' << queries;
        closest = std::max(closest, found / charge);
      }
    }
  }
  EXPECT_GT(closest, 0.7);
}

TEST(AboveThresholdLaplace, ASearchOverPatternsFindsNothingAboveTheCharge) {
  double closest = 0;
  for (const auto& [e1, e2] : {std::pair{1.0, 0.5}, std::pair{0.1, 0.1}}) {
    for (const double alpha : kOrders) {
      PatternSearch search({false, 1 / e1, 1 / e2}, alpha, 7);
      for (const auto& [queries, blocks] : {std::pair{6, 6}, std::pair{400, 4}}) {
        const double found = search.best_of(queries, blocks, 8, 4);
        const double charge = rdp_above_threshold_laplace(e1, e2, alpha);
        EXPECT_LE(found, charge) << e1 << ' ' << alpha << ' ' << queries;
        closest = std::max(closest, found / charge);
      }
    }
  }
  EXPECT_GT(closest, 0.7);
}

// The moment over all positions on a fine grid, without any bound on what lies between: from below.
struct Tail {
  double (*tail)(double);
  double step, reach;
};
double normal_tail(double x) {
  return 0.5 * std::erfc(x / std::sqrt(2.0));
}
double laplace_tail(double x) {
  return x < 0 ? 1 - 0.5 * std::exp(x) : 0.5 * std::exp(-x);
}

double moment_on_a_grid(const Tail& noise, double alpha, double up, double down, int queries) {
  struct Contribution {
    double yes, no;
  };
  std::vector<Contribution> all;
  for (double x = -noise.reach; x <= noise.reach; x += noise.step) {
    for (const double shift : {up, -down}) {
      const double u = noise.tail(x), n = noise.tail(-x), v = noise.tail(x + shift),
                   m = noise.tail(-x - shift);
      all.push_back({u * std::pow(u / v, alpha - 1), n * std::pow(n / m, alpha - 1)});
    }
  }
  double moment = 1;
  for (int i = 0; i < queries; ++i) {
    double best = 0;
    for (const Contribution& one : all) best = std::max(best, one.yes + one.no * moment);
    moment = best;
  }
  return std::log(moment);
}

TEST(SearchMoments, CoverEveryPositionAndAreSharp) {
  const Tail normal{normal_tail, 1.0 / 37, 20};
  for (const double alpha : {1.1, 2.0, 6.0, 20.0}) {
    for (const auto& [up, down] : {std::pair{0.3, 0.3}, std::pair{0.5, 0.1}, std::pair{0.6, 0.0}}) {
      for (const int queries : {1, 2, 20, 100}) {
        const double seen = moment_on_a_grid(normal, alpha, up, down, queries);
        const double bound = log_gaussian_search_moment(alpha, {up, down}, queries);
        EXPECT_GE(bound, seen) << alpha << ' ' << up << ' ' << queries;
        EXPECT_LE(bound, 1.01 * seen + 1e-9) << alpha << ' ' << up << ' ' << queries;
      }
    }
  }
  const Tail laplace{laplace_tail, 1.0 / 53, 12};
  for (const double alpha : {1.1, 2.0, 6.0, 20.0}) {
    for (const auto& [up, down] : {std::pair{0.02, 0.02}, std::pair{0.5, 0.0}, std::pair{2.0, 0.01}}) {
      const double seen = moment_on_a_grid(laplace, alpha, up, down, 2000);
      const double bound = log_laplace_search_moment(alpha, {up, down});
      EXPECT_GE(bound, seen) << alpha << ' ' << up;
      EXPECT_LE(bound, 1.03 * seen + 1e-9) << alpha << ' ' << up;
    }
  }
}

TEST(SearchMoments, ManyStepsAtOnceAreAsManyOneByOne) {
  const Tail normal{normal_tail, 1.0 / 16, 20};
  for (const double down : {0.0, 0.05}) {
    const double seen = moment_on_a_grid(normal, 4, 0.5, down, 5000);
    const double bound = log_gaussian_search_moment(4, {0.5, down}, 5000);
    EXPECT_GE(bound, seen);
    EXPECT_LE(bound, 1.01 * seen);
  }
  EXPECT_GT(log_gaussian_search_moment(4, {0.5, 0}, INT64_MAX),
            log_gaussian_search_moment(4, {0.5, 0}, 5000));
}

// However many queries there are, each further one costs something, and at least as much as at the best
// single position for all of them: w = g (1 - b^k) / (1 - b).
TEST(SearchMoments, OfVeryManyQueriesStopNowhere) {
  for (const double alpha : {1.06, 1.7, 4.0}) {
    for (const double shift : {0.025, 0.3, 2.0}) {
      double before = 0;
      for (int power = 6; power < 63; ++power) {
        const std::int64_t queries = std::int64_t{1} << power;
        const double bound = log_gaussian_search_moment(alpha, {shift, 0}, queries);
        EXPECT_GE(bound, before * (1 + 1e-3)) << alpha << ' ' << shift << " 2^" << power;
        before = bound;
        double seen = 0;
        for (double x = -2; x < 10; x += 0.05) {
          const double u = normal_tail(x), v = normal_tail(x + shift);
          const double log_b = alpha * std::log1p(-u) - (alpha - 1) * std::log1p(-v);
          const double yes = u * std::pow(u / v, alpha - 1);
          const double w = (yes / -std::expm1(log_b) - 1) * -std::expm1(static_cast<double>(queries) * log_b);
          seen = std::max(seen, w);
        }
        EXPECT_GE(bound, std::log1p(seen) * (1 - 1e-6)) << alpha << ' ' << shift << " 2^" << power;
      }
    }
  }
}

// Where the two shifts are small, g is of second order and nothing may cancel.
TEST(SearchMoments, AreOfSecondOrderDownToTheSmallestShifts) {
  const double reference = log_gaussian_search_moment(3, {1e-3, 1e-3}, 10) / 1e-6;
  for (const double shift : {1e-4, 1e-5, 1e-6, 1e-7}) {
    EXPECT_NEAR(log_gaussian_search_moment(3, {shift, shift}, 10) / (shift * shift) / reference, 1, 0.01);
  }
  for (const double shift : {1e-3, 1e-4, 1e-8, 1e-100}) {
    EXPECT_NEAR(log_laplace_search_moment(3, {shift, shift}) / (shift * shift), 6, 0.2);  // 2 a (a-1)/2
  }
}

// The share by which the threshold moves is looked for on a grid, so a value may fall a little.
TEST(SearchCurve, RisesWithTheOrderAndTheNumberOfQueriesButForTheGridOfShares) {
  for (const double s2 : {0.5, 3.0, 40.0, 1e9}) {
    double before = 0;
    for (const std::int64_t queries : {std::int64_t{1}, std::int64_t{2}, std::int64_t{6}, std::int64_t{20},
                                       std::int64_t{1000}, std::int64_t{1'000'000}, INT64_MAX}) {
      const auto curve = gaussian_search_curve(s2, s2, queries);
      double last = 0;
      for (double order = 1; order < 1e6; order = 1 + 1.4 * (order - 1) + 0.01) {
        const double value = curve->rdp(order);
        EXPECT_GE(value, 0.95 * last) << s2 << ' ' << queries << ' ' << order;
        EXPECT_LE(value, curve->zcdp_rho() * order) << s2 << ' ' << queries << ' ' << order;
        last = value;
      }
      EXPECT_GE(curve->rdp(8), 0.95 * before) << s2 << ' ' << queries;
      before = curve->rdp(8);
    }
  }
}

TEST(SearchCurve, DoesNotDependOnWhatWasAskedBefore) {
  const GaussianSearchCurve one(3, 4, 20), other(3, 4, 20);
  const double rho = one.zcdp_rho(), value = one.rdp(7.7);
  EXPECT_EQ(other.rdp(7.7), value);
  EXPECT_EQ(other.zcdp_rho(), rho);
}

// One comparison is a Gaussian mechanism that is looked at through one bit.
TEST(SearchCurve, OneQueryCostsLessThanItsValue) {
  for (const double order : {1.5, 4.0, 32.0, 1e4}) {
    EXPECT_LE(rdp_above_threshold_gaussian(3, 4, 1, order), rdp_gaussian(4, order) * (1 + 1e-9));
  }
}

// The Laplace curve is never above what pure DP gives. The published one [Chen20, Thm 2] has no proof; what
// is charged instead is mostly less, and hardly more: by what chords between orders and cells of positions
// add, 0.2 % at query_epsilon = 3 and order 124.
TEST(AboveThresholdLaplace, IsHardlyAboveThePublishedCurve) {
  double largest = 0;
  for (const double e2 : {1e-3, 0.02, 0.1, 0.5, 1.0, 3.0}) {
    for (const double ratio : {0.25, 1.0, 2.0, 8.0}) {
      for (double order = 1.1; order < 300; order *= 1.3) {
        const double e1 = ratio * e2;
        const double charge = rdp_above_threshold_laplace(e1, e2, order);
        const double published = rdp_laplace(1 / e1, order) + rdp_laplace(0.5 / e2, order);
        EXPECT_LE(charge, rdp_pure(e1 + 2 * e2, order) * (1 + 1e-9));
        largest = std::max(largest, charge / published);
      }
    }
  }
  EXPECT_LE(largest, 1.005);
}

}  // namespace
}  // namespace ration
