#include "privacy/rdp_curves.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

#include "ration/base/error.h"
#include "support/generators.h"

namespace ration {
namespace {

using testing::log_uniform;
using Exact = boost::multiprecision::cpp_bin_float_100;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr double kEpsilons[] = {1e-8, 1e-4, 0.03, 0.5, 1.0, 6.0, 29.0, 31.0, 1e3};
constexpr double kOrders[] = {1 + 1e-9, 1.001, 1.5, 2.0, 7.3, 64.0, 1024.0, 1e6};

double exact_laplace(double scale, double alpha) {
  const Exact e = 1 / Exact(scale), a(alpha);
  const Exact moment = a / (2 * a - 1) * exp(e * (a - 1)) + (a - 1) / (2 * a - 1) * exp(-e * a);
  return Exact(log(moment) / (a - 1)).convert_to<double>();
}

double exact_pure(double epsilon, double alpha) {
  const Exact e(epsilon), a(alpha);
  return Exact(log((exp(a * e) + exp((1 - a) * e)) / (1 + exp(e))) / (a - 1)).convert_to<double>();
}

TEST(RdpLaplace, AgreesWithMultiprecision) {
  for (double epsilon : kEpsilons) {
    for (double alpha : kOrders) {
      const double expected = exact_laplace(1 / epsilon, alpha);
      EXPECT_NEAR(rdp_laplace(1 / epsilon, alpha), expected, 3e-14 * expected)
          << epsilon << " at order " << alpha;
    }
    const double limit = std::exp(-epsilon) + epsilon - 1;
    EXPECT_NEAR(rdp_laplace(1 / epsilon, 1), limit, 1e-15) << epsilon;
    EXPECT_NEAR(rdp_laplace(1 / epsilon, kInfinity), epsilon, 1e-15 * epsilon);
  }
}

TEST(RdpPure, AgreesWithMultiprecision) {
  for (double epsilon : kEpsilons) {
    for (double alpha : kOrders) {
      const double expected = exact_pure(epsilon, alpha);
      EXPECT_NEAR(rdp_pure(epsilon, alpha), expected, 1e-14 * expected) << epsilon << " at order " << alpha;
    }
    EXPECT_NEAR(rdp_pure(epsilon, 1), epsilon * std::tanh(epsilon / 2), 1e-15 * epsilon);
    EXPECT_EQ(rdp_pure(epsilon, kInfinity), epsilon);
  }
  EXPECT_EQ(rdp_pure(0, 3), 0);
}

RC_GTEST_PROP(RdpCurves, AreOrderedAndGrowWithTheOrder, ()) {
  const double epsilon = *log_uniform(1e-8, 1e3), alpha = 1 + *log_uniform(1e-6, 1e6);
  const double next = 1 + (alpha - 1) * *log_uniform(1.001, 10);
  const double up = 1 + 1e-13;
  const double laplace = rdp_laplace(1 / epsilon, alpha), pure = rdp_pure(epsilon, alpha);
  RC_ASSERT(laplace > 0);
  RC_ASSERT(laplace <= pure * up);  // Laplace is epsilon-DP, and randomised response the worst of those
  RC_ASSERT(pure <= rdp_pure_quadratic_capped(epsilon, alpha) * up);
  RC_ASSERT(rdp_bounded_range(epsilon, alpha) <= pure);
  RC_ASSERT(rdp_laplace(1 / epsilon, next) >= laplace / up);
  RC_ASSERT(rdp_pure(epsilon, next) >= pure / up);
}

// Report-noisy-max with exponential noise on two candidates: equal scores, or scores epsilon apart (in units
// of the noise's scale). The loser wins with probability e^-gap / 2.
double noisy_max_divergence(double epsilon, double alpha, bool forward) {
  const double loser = std::exp(-epsilon) / 2, winner = 1 - loser;
  const auto term = [&](double q) {
    return forward ? std::pow(0.5, alpha) * std::pow(q, 1 - alpha)
                   : std::pow(q, alpha) * std::pow(0.5, 1 - alpha);
  };
  return std::log(term(loser) + term(winner)) / (alpha - 1);
}

TEST(RdpNoisyMax, IsNotBelowTheTwoCandidateExample) {
  for (double epsilon : {0.01, 0.1, 1.0, 4.0}) {
    for (double alpha : {1.5, 2.0, 8.0, 32.0}) {
      for (bool forward : {true, false}) {
        EXPECT_GE(rdp_noisy_max(epsilon, alpha), noisy_max_divergence(epsilon, alpha, forward))
            << epsilon << " " << alpha;
      }
    }
  }
  // The bounded-range curve is refuted by it: 0.0091 against 0.0025.
  EXPECT_GT(noisy_max_divergence(0.1, 2, true), 3 * rdp_bounded_range(0.1, 2));
}

// The exponential mechanism on two candidates, the family of all epsilon-bounded-range pairs of Bernoulli's:
// p = 1/(1 + e^-t) against 1/(1 + e^-(t - epsilon)). The bound is met at small epsilon.
TEST(RdpBoundedRange, CoversTheExponentialMechanism) {
  double closest = 0;
  for (double epsilon : {0.01, 0.1, 1.0, 4.0}) {
    for (double alpha : {1.5, 2.0, 8.0, 32.0}) {
      for (double t = -8; t <= 12; t += 0.01) {
        const double p = 1 / (1 + std::exp(-t)), q = 1 / (1 + std::exp(epsilon - t));
        const double moment =
            std::pow(p, alpha) * std::pow(q, 1 - alpha) + std::pow(1 - p, alpha) * std::pow(1 - q, 1 - alpha);
        const double divergence = std::log(moment) / (alpha - 1), bound = rdp_bounded_range(epsilon, alpha);
        EXPECT_LE(divergence, bound * (1 + 1e-9));
        closest = std::max(closest, divergence / bound);
      }
    }
  }
  EXPECT_GT(closest, 0.99);
}

// What the curves of AboveThreshold are is checked in above_threshold_curve_test.cpp.
TEST(RdpAboveThreshold, LaplaceEndsAsPureDp) {
  EXPECT_EQ(rdp_above_threshold_laplace(0.5, 0.25, kInfinity), 1);
  for (double alpha : kOrders) EXPECT_LE(rdp_above_threshold_laplace(3, 2, alpha), rdp_pure(7, alpha));
}

TEST(RdpAboveThreshold, GaussianEndsAsTheThresholdsShiftAndTwiceAQuerys) {
  const double many = rdp_above_threshold_gaussian(2, 3, 1'000'000'000, 1e9) / 1e9;
  EXPECT_NEAR(many, (4 * 4.0 + 9) / (2 * 4 * 9), 1e-6);
  EXPECT_EQ(rdp_above_threshold_gaussian(2, 3, 5, kInfinity), kInfinity);
}

TEST(RdpGaussian, IsTheFormula) {
  EXPECT_DOUBLE_EQ(rdp_gaussian(2, 10), 1.25);
  EXPECT_EQ(rdp_gaussian(2, kInfinity), kInfinity);
}

TEST(RdpCurves, RefuseWhatIsOutsideTheirDomain) {
  EXPECT_THROW(rdp_laplace(1, 0.5), InputError);
  EXPECT_THROW(rdp_laplace(0, 2), InputError);
  EXPECT_THROW(rdp_pure(-1, 2), InputError);
  EXPECT_THROW(rdp_pure(1, std::nan("")), InputError);
  EXPECT_THROW(rdp_gaussian(0, 2), InputError);
  EXPECT_THROW(rdp_above_threshold_gaussian(1, 0, 1, 2), InputError);
  EXPECT_THROW(rdp_above_threshold_gaussian(1, 1, 0, 2), InputError);
  EXPECT_THROW(rdp_above_threshold_laplace(0, 1, 2), InputError);
}

}  // namespace
}  // namespace ration
