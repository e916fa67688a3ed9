#include "privacy/rdp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "privacy/moment_table.h"
#include "privacy/plans.h"
#include "privacy/rdp_curves.h"
#include "ration/base/error.h"
#include "ration/privacy/accountant.h"

namespace ration {
namespace {

using testing::for_random_cases;
using testing::log_uniform;
using testing::poisson_gaussian;

double epsilon(const Event& event, Relation relation = Relation::add_remove, double delta = 1e-6) {
  return RdpCurve(event, relation).epsilon(delta).epsilon;
}

RdpFunction gaussian_curve(double noise) {
  return [noise](double order) { return rdp_gaussian(noise, order); };
}

// --- Poisson samples, Gaussian noise.

// Two independent ways to the same number: a finite sum and a quadrature.
RC_GTEST_PROP(RdpPoissonGaussian, SumAndQuadratureAgreeAtIntegers, ()) {
  const double rate = *log_uniform(1e-6, 0.95), noise = *log_uniform(0.3, 100);
  const int order = *rc::gen::inRange(2, 200);
  const double sum = rdp_poisson_gaussian(rate, noise, order);
  const double quadrature = MomentTable(rate, noise).log_moment(order) / (order - 1);
  RC_ASSERT(std::abs(quadrature - sum) <= 1e-10 * sum);
}

// The sum as printed, where it neither overflows nor cancels.
TEST(RdpPoissonGaussian, IsThePrintedSum) {
  const double q = 0.2, s = 1.5;
  for (const int order : {2, 3, 7, 20}) {
    double moment = 0, binomial = 1;
    for (int k = 0; k <= order; ++k) {
      moment += binomial * std::pow(1 - q, order - k) * std::pow(q, k) * std::exp(k * (k - 1) / (2 * s * s));
      binomial = binomial * (order - k) / (k + 1);
    }
    EXPECT_NEAR(rdp_poisson_gaussian(q, s, order), std::log(moment) / (order - 1), 1e-12);
  }
}

// (a - 1) rdp(a) is a cumulant, hence convex: between integers it lies below the chord and above the
// neighbours' chords.
RC_GTEST_PROP(RdpPoissonGaussian, FractionalOrdersFitBetweenIntegers, ()) {
  const double rate = *log_uniform(1e-5, 0.9), noise = *log_uniform(0.3, 50);
  const int below = *rc::gen::inRange(3, 60);
  const double part = *rc::gen::inRange(1, 100) / 100.0;
  const auto cumulant = [&](double order) { return (order - 1) * rdp_poisson_gaussian(rate, noise, order); };
  const double at = cumulant(below + part), left = cumulant(below), right = cumulant(below + 1);
  RC_ASSERT(at <= (left + part * (right - left)) * (1 + 1e-10));
  const double extended = left + part * (left - cumulant(below - 1));
  RC_ASSERT(at >= extended * (1 - 1e-10));
}

RC_GTEST_PROP(RdpPoissonGaussian, LiesBetweenNothingAndTheFullBatch, ()) {
  const double rate = *log_uniform(1e-7, 1), noise = *log_uniform(0.05, 1e4),
               order = 1 + *log_uniform(1e-2, 1e3);
  const double sampled = rdp_poisson_gaussian(rate, noise, order);
  RC_ASSERT(sampled >= 0);
  RC_ASSERT(sampled <= rdp_gaussian(noise, order) * (1 + 1e-9));
}

// For small rates the divergence is a rate^2 (e^{1/s^2} - 1) / 2, far below the last digit of 1.
TEST(RdpPoissonGaussian, TinyRatesKeepTheirDigits) {
  for (const double order : {1.5, 2.0, 4.0, 7.3}) {
    const double expected = 0.5 * order * 1e-20 * std::expm1(0.25);
    EXPECT_NEAR(rdp_poisson_gaussian(1e-10, 2, order), expected, 1e-6 * expected) << order;
  }
}

// --- The general bounds.

// Zhu & Wang's bound as printed: the factor 3 from the third term on.
TEST(RdpPoissonGeneral, IsThePrintedBound) {
  const double q = 0.1;
  const RdpFunction base = gaussian_curve(2);
  for (const int a : {2, 3, 5, 12}) {
    double sum = std::pow(1 - q, a - 1) * (a * q - q + 1);
    double binomial = a;
    for (int l = 2; l <= a; ++l) {
      binomial = binomial * (a - l + 1) / l;
      const double factor = l == 2 ? 1 : 3;
      sum += factor * binomial * std::pow(1 - q, a - l) * std::pow(q, l) * std::exp((l - 1) * base(l));
    }
    EXPECT_NEAR(rdp_poisson_general(q, base, a), std::log(sum) / (a - 1), 1e-12) << a;
  }
}

// [Wang19, Thm 9] as printed, for a mechanism without a pure-DP bound.
TEST(RdpFixedSizeGeneral, IsThePrintedBound) {
  const double q = 0.1;
  const RdpFunction base = gaussian_curve(2);
  for (const int a : {2, 3, 5, 12}) {
    const double second = std::min(4 * std::expm1(base(2)), 2 * std::exp(base(2)));
    double binomial = a * (a - 1) / 2.0, sum = 1 + q * q * binomial * second;
    for (int j = 3; j <= a; ++j) {
      binomial = binomial * (a - j + 1) / j;
      sum += std::pow(q, j) * binomial * 2 * std::exp((j - 1) * base(j));
    }
    EXPECT_NEAR(rdp_fixed_size_general(q, base, a), std::log(sum) / (a - 1), 1e-12) << a;
  }
}

RC_GTEST_PROP(RdpGeneralBounds, AreNeverBelowTheGaussianOnes, ()) {
  const double rate = *log_uniform(1e-4, 0.5), noise = *log_uniform(0.5, 20);
  const int order = *rc::gen::inRange(2, 100);
  const RdpFunction base = gaussian_curve(noise);
  RC_ASSERT(rdp_poisson_general(rate, base, order) >= rdp_poisson_gaussian(rate, noise, order) * (1 - 1e-10));
  RC_ASSERT(rdp_fixed_size_general(rate, base, order) >=
            rdp_fixed_size_gaussian(rate, noise, order) * (1 - 1e-10));
}

// Replacing a row is removing one and adding another; a subset of fixed size cannot beat the Poisson sample's
// curve.
RC_GTEST_PROP(RdpFixedSizeGaussian, IsNotBelowThePoissonCurve, ()) {
  const double rate = *log_uniform(1e-4, 0.3), noise = *log_uniform(0.8, 20);
  const int order = *rc::gen::inRange(2, 60);
  RC_ASSERT(rdp_fixed_size_gaussian(rate, noise, order) >=
            rdp_poisson_gaussian(rate, noise, order) * (1 - 1e-10));
}

RC_GTEST_PROP(RdpSampling, NeverCostsMoreThanNoSampling, ()) {
  const double rate = *log_uniform(1e-4, 0.99), noise = *log_uniform(0.3, 20);
  const double order = *rc::gen::inRange(2, 200);
  const Event base = Event::composed({Event::gaussian(noise), Event::laplace(2 * noise)});
  RdpCurve unsampled(base, Relation::add_remove),
      poisson(Event::poisson_sampled(rate, base), Relation::add_remove),
      fixed(Event::fixed_size_sampled(rate, base), Relation::replace_one);
  RC_ASSERT(poisson(order) <= unsampled(order) * (1 + 1e-12));
  RC_ASSERT(fixed(order) <= unsampled(order) * (1 + 1e-12));
}

// --- Pure DP on a sample. [Balle18b]

// The divergence of two distributions on two points.
double two_point_divergence(double p, double q, double order) {
  return std::log(std::pow(p, order) * std::pow(q, 1 - order) +
                  std::pow(1 - p, order) * std::pow(1 - q, 1 - order)) /
         (order - 1);
}

// Randomised response that answers by one row, if it was drawn, and as if it said no otherwise.
RC_GTEST_PROP(RdpPureSampling, CoversSampledRandomisedResponse, ()) {
  const double rate = *log_uniform(1e-3, 0.99), pure = *log_uniform(1e-2, 5);
  const double order = *rc::gen::inRange(2, 60);
  const double yes = std::exp(pure) / (1 + std::exp(pure)), no = 1 / (1 + std::exp(pure));
  const double with = rate * yes + (1 - rate) * no;
  for (const auto& [sampled, relation] :
       {std::pair{Event::poisson_sampled(rate, Event::pure_dp(pure)), Relation::add_remove},
        std::pair{Event::fixed_size_sampled(rate, Event::pure_dp(pure)), Relation::replace_one}}) {
    RdpCurve curve(sampled, relation);
    RC_ASSERT(curve(order) >= two_point_divergence(with, no, order) * (1 - 1e-9) - 1e-13);
    RC_ASSERT(curve(order) >= two_point_divergence(no, with, order) * (1 - 1e-9) - 1e-13);
  }
}

// The divergence of (1 - rate) Laplace(0) + rate Laplace(1) from Laplace(0), by summation.
RC_GTEST_PROP(RdpPureSampling, CoversASampledLaplace, ()) {
  const double rate = *log_uniform(0.01, 0.9), scale = *log_uniform(0.5, 20);
  const double order = *rc::gen::inRange(2, 40);
  RdpCurve curve(Event::poisson_sampled(rate, Event::laplace(scale)), Relation::add_remove);
  const double reach = 40 * scale, step = reach / 20'000;
  double forth = 0, back = 0;
  for (double x = -reach; x <= reach; x += step) {
    const double without = std::exp(-std::abs(x) / scale) / (2 * scale);
    const double with = rate * std::exp(-std::abs(x - 1) / scale) / (2 * scale) + (1 - rate) * without;
    forth += step * without * std::pow(with / without, order);
    back += step * with * std::pow(without / with, order);
  }
  RC_ASSERT(curve(order) >= std::log(forth) / (order - 1) - 1e-5);
  RC_ASSERT(curve(order) >= std::log(back) / (order - 1) - 1e-5);
}

RC_GTEST_PROP(RdpPureSampling, IsTheLeastOfThreeBounds, ()) {
  const double rate = *log_uniform(1e-3, 0.5), e1 = *log_uniform(1e-4, 3), e2 = *log_uniform(1e-4, 3);
  const int order = *rc::gen::inRange(2, 400);
  const Event base = Event::composed({Event::above_threshold_laplace(e1, e2), Event::laplace(1 / e1)});
  const RdpFunction unsampled = [&](double a) {
    return rdp_above_threshold_laplace(e1, e2, a) + rdp_laplace(1 / e1, a);
  };
  const double pure = std::log1p(rate * std::expm1(2 * e1 + 2 * e2));
  const double least =
      std::min({unsampled(order), rdp_poisson_general(rate, unsampled, order), rdp_pure(pure, order)});
  const double curve = RdpCurve(Event::poisson_sampled(rate, base), Relation::add_remove)(order);
  RC_ASSERT(std::abs(curve - least) <= 1e-9 * least);
}

// Where three of `order` rows are likely to be drawn, the general bound does not amplify at all.
TEST(RdpPureSampling, AmplifiesSearchesAtHighOrders) {
  const Event search = Event::above_threshold_laplace(0.001, 0.0005);
  const double unsampled = RdpCurve(search, Relation::add_remove)(200);
  const double sampled = RdpCurve(Event::poisson_sampled(0.1, search), Relation::add_remove)(200);
  EXPECT_LT(sampled, 0.1 * unsampled);
  EXPECT_LT(sampled, 0.0125 * rdp_pure(0.002, 200));
}

// One Gaussian among them, and it is not pure.
TEST(RdpPureSampling, IsOnlyForPureDp) {
  const Event mixed = Event::composed({Event::laplace(1000), Event::gaussian(1000)});
  const double unsampled = RdpCurve(mixed, Relation::add_remove)(200);
  EXPECT_EQ(RdpCurve(Event::poisson_sampled(0.1, mixed), Relation::add_remove)(200), unsampled);
}

// --- Two mechanisms on one sample.

RC_GTEST_PROP(OneSample, TwoGaussiansAreOneWithTheJointNoise, ()) {
  const double rate = *log_uniform(1e-3, 0.5), a = *log_uniform(1, 10), b = *log_uniform(1, 10);
  const Event both = Event::poisson_sampled(rate, Event::composed({Event::gaussian(a), Event::gaussian(b)}));
  const Event joint = Event::poisson_sampled(rate, Event::gaussian(a * b / std::hypot(a, b)));
  RC_ASSERT(std::abs(epsilon(both) - epsilon(joint)) <= 1e-9 * epsilon(joint));
}

TEST(OneSample, ThreeTimesOnOneSampleIsNotThreeSamples) {
  const Event once = Event::poisson_sampled(0.05, Event::repeated(Event::gaussian(4), 3));
  const Event joint = Event::poisson_sampled(0.05, Event::gaussian(4 / std::sqrt(3.0)));
  EXPECT_NEAR(epsilon(once), epsilon(joint), 1e-9);
  // Fresh samples are cheaper: amplifying the parts would under-count.
  EXPECT_GT(epsilon(once), epsilon(poisson_gaussian(0.05, 4, 3)));
}

RC_GTEST_PROP(OneSample, CostsMoreThanEachMechanismAlone, ()) {
  const double rate = *log_uniform(1e-3, 0.3), order = *rc::gen::inRange(2, 64);
  const Event gaussian = Event::gaussian(*log_uniform(1, 10)),
              search = Event::above_threshold_laplace(0.2, 0.3);
  const auto cost = [&](const Event& base) {
    return RdpCurve(Event::poisson_sampled(rate, base), Relation::add_remove)(order);
  };
  const double both = cost(Event::composed({gaussian, search}));
  RC_ASSERT(both > cost(search));
  RC_ASSERT(both > cost(gaussian) * (1 - 1e-12));
}

// --- The minimum over the orders.

TEST(RdpOptimum, IsTheMinimumOverADenseGrid) {
  for_random_cases(25, [] {
    const Event event = Event::composed(
        {poisson_gaussian(*log_uniform(1e-4, 0.5), *log_uniform(0.4, 20), testing::random_count(1, 1e5)),
         Event::laplace(*log_uniform(0.5, 50)), Event::gaussian(*log_uniform(0.5, 50))});
    const double delta = *log_uniform(1e-50, 0.1);
    RdpCurve curve(event, Relation::add_remove);
    const RdpOptimum best = curve.epsilon(delta);
    double least = std::numeric_limits<double>::infinity();
    for (double log_t = std::log(1e-3); log_t < std::log(1e5); log_t += 0.02) {
      const double order = 1 + std::exp(log_t);
      least = std::min(least, rdp_to_epsilon(curve(order), order, delta));
    }
    RC_ASSERT(best.epsilon <= least * (1 + 1e-9));
    if (best.order < 1e5) RC_ASSERT(best.epsilon >= least * (1 - 1e-2));  // else the grid ends before it
    RC_ASSERT(std::abs(rdp_to_epsilon(curve(best.order), best.order, delta) - best.epsilon) <=
              1e-12 + 1e-9 * least);
  });
}

TEST(RdpOptimum, KeepsToIntegersWhereOnlyTheyAreProven) {
  const Event event = Event::repeated(Event::fixed_size_sampled(0.01, Event::gaussian(2)), 100);
  RdpCurve curve(event, Relation::replace_one);
  EXPECT_TRUE(curve.needs_integer_orders());
  const RdpOptimum best = curve.epsilon(1e-6);
  EXPECT_EQ(best.order, std::floor(best.order));
  EXPECT_THROW(curve(1.5), InputError);
  EXPECT_FALSE(RdpCurve(poisson_gaussian(0.01, 2, 100), Relation::add_remove).needs_integer_orders());
}

// --- Conversion.

TEST(RdpConversion, IsThePrintedFormula) {
  const double rdp = 0.3, a = 8, delta = 1e-5;
  EXPECT_NEAR(rdp_to_epsilon(rdp, a, delta, RdpConversion::classic), rdp + std::log(1 / delta) / (a - 1),
              1e-14);
  EXPECT_NEAR(rdp_to_epsilon(rdp, a, delta),
              rdp + std::log((a - 1) / a) - (std::log(delta) + std::log(a)) / (a - 1), 1e-14);
  EXPECT_EQ(rdp_to_epsilon(0, 2, 0.9), 0);
}

RC_GTEST_PROP(RdpConversion, TheImprovedFormIsNeverWorse, ()) {
  const double rdp = *log_uniform(1e-6, 10), order = 1 + *log_uniform(1e-3, 1e4),
               delta = *log_uniform(1e-300, 0.1);
  RC_ASSERT(rdp_to_epsilon(rdp, order, delta) <= rdp_to_epsilon(rdp, order, delta, RdpConversion::classic));
}

TEST(RdpCurve, AddsUp) {
  const std::vector<Event> parts = {Event::repeated(Event::gaussian(3), 4), Event::laplace(2),
                                    Event::noisy_max(0.5), Event::poisson_sampled(0.1, Event::gaussian(1.5))};
  RdpCurve whole(Event::composed(parts), Relation::add_remove);
  for (const double order : {1.5, 2.0, 9.3}) {
    const double expected = 4 * rdp_gaussian(3, order) + rdp_laplace(2, order) + rdp_noisy_max(0.5, order) +
                            rdp_poisson_gaussian(0.1, 1.5, order);
    EXPECT_NEAR(whole(order), expected, 1e-12 * expected);
  }
}

// --- Pure DP: delta 0.

TEST(PureEpsilon, IsTheSumOfThePartsAndAboveEveryOther) {
  const Event event = Event::composed({Event::repeated(Event::laplace(2), 3), Event::noisy_max(0.5),
                                       Event::above_threshold_laplace(0.1, 0.2)});
  const double pure = *pure_epsilon(event, Relation::add_remove);
  EXPECT_NEAR(pure, 3 * 0.5 + 0.5 + 0.5, 1e-12);
  EXPECT_GE(pure, 2.5);
  EXPECT_LE(epsilon(event), pure);
  EXPECT_EQ(account(event, Relation::add_remove, Accountant::rdp, 0).epsilon, pure);
}

// A figure that people chose stays as they chose it, and no other falls below the exact sum.
TEST(PureEpsilon, IsExactWhereTheSumIsADouble) {
  EXPECT_EQ(*pure_epsilon(Event::laplace(2), Relation::add_remove), 0.5);
  EXPECT_EQ(*pure_epsilon(Event::repeated(Event::laplace(2), 3), Relation::add_remove), 1.5);
  EXPECT_EQ(*pure_epsilon(Event::pure_dp(0.1), Relation::add_remove), 0.1);
  const double third = *pure_epsilon(Event::laplace(3), Relation::add_remove);
  EXPECT_GE(std::fma(third, 3, -1), 0);
  EXPECT_LE(third, 1 / 3.0 * (1 + 3e-16));
  EXPECT_GE(*pure_epsilon(Event::repeated(Event::pure_dp(0.1), 3), Relation::add_remove), 0.1 * 3);
}

// ln(1 + rate (e^epsilon - 1)).
TEST(PureEpsilon, IsAmplifiedBySampling) {
  const Event event = Event::repeated(Event::poisson_sampled(0.1, Event::laplace(1)), 2);
  EXPECT_NEAR(*pure_epsilon(event, Relation::add_remove), 2 * std::log1p(0.1 * std::expm1(1)), 1e-12);
}

TEST(PureEpsilon, GaussianNoiseHasNone) {
  const Event event = Event::composed({Event::laplace(2), Event::gaussian(3)});
  EXPECT_EQ(pure_epsilon(event, Relation::add_remove), std::nullopt);
  EXPECT_THROW(account(event, Relation::add_remove, Accountant::rdp, 0), InputError);
  EXPECT_THROW(account(Event::laplace(2), Relation::add_remove, Accountant::zcdp, 0), InputError);
}

}  // namespace
}  // namespace ration
