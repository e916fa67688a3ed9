// The first moments accountant, a row of the comparisons: what the paper says it computes, and never better
// than ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <limits>

#include "privacy/plans.h"
#include "privacy/rdp.h"
#include "ration/base/error.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"
#include "support/generators.h"

namespace ration::testing {
namespace {

// min over lambda of (alpha(lambda) + ln(1/delta)) / lambda [Abadi16, Thm 2], with the moment of a sampled
// Gaussian written out: alpha(lambda) = T ln sum_k C(lambda+1, k) (1-q)^(lambda+1-k) q^k e^(k(k-1)/2s^2).
// Overflows for large lambda, so this is for plans whose best one is within the paper's 32.
double by_the_paper(double rate, double noise, double steps, double delta) {
  double best = std::numeric_limits<double>::infinity();
  for (unsigned lambda = 1; lambda <= 32; ++lambda) {
    const unsigned order = lambda + 1;
    double moment = 0;
    for (unsigned k = 0; k <= order; ++k) {
      moment += boost::math::binomial_coefficient<double>(order, k) * std::pow(1 - rate, order - k) *
                std::pow(rate, k) * std::exp(0.5 * k * (k - 1.0) / (noise * noise));
    }
    best = std::min(best, (steps * std::log(moment) - std::log(delta)) / lambda);
  }
  return best;
}

double moments(const Event& event, double delta) {
  return account(event, Relation::add_remove, Accountant::moments, delta).epsilon;
}

TEST(Moments, AreTheClassicalFormula) {
  for (const double rate : {0.05, 0.2, 0.5}) {
    for (const double noise : {1.0, 2.0, 4.0}) {
      for (const double delta : {1e-3, 1e-5, 1e-8}) {
        const double expected = by_the_paper(rate, noise, 3000, delta);
        EXPECT_NEAR(moments(poisson_gaussian(rate, noise, 3000), delta), expected, 1e-7 * expected);
      }
    }
  }
  // The full batch: alpha(lambda) = lambda (lambda + 1) / 2s^2; at s = 4 and delta = 1e-5, lambda = 19 is
  // best.
  EXPECT_NEAR(moments(Event::gaussian(4), 1e-5), 20 / 32.0 + std::log(1e5) / 19, 1e-9);
}

// [Abadi16, Sec. 4 and Fig. 2]: q = 0.01, noise 4, delta 1e-5, 10,000 steps give 1.26.
TEST(Moments, GiveThePapersOwnFigure) {
  EXPECT_NEAR(moments(poisson_gaussian(0.01, 4, 10'000), 1e-5), 1.26, 0.005);
}

TEST(Moments, StartAtOrder2AndEndSomewhere) {
  // Much noise wants a high order, and there is a last one; little noise wants one below 2, and none is.
  EXPECT_GT(moments(Event::gaussian(1e6), 1e-8), std::log(1e8) / 4600);
  EXPECT_LT(moments(Event::gaussian(1e6), 1e-8), std::log(1e8) / 4000);
  EXPECT_NEAR(moments(Event::gaussian(0.05), 1e-8), 2 / 0.005 + std::log(1e8), 1e-6);
}

TEST(Moments, HaveNoNoiseForASmallBudget) {
  const auto plan = [](double noise) { return Event::gaussian(noise); };
  const double least = std::log(1e8) / 4000;
  EXPECT_THROW(calibrate_noise(plan, Relation::add_remove, Accountant::moments, {0.8 * least, 1e-8}),
               InputError);
  const double noise = calibrate_noise(plan, Relation::add_remove, Accountant::moments, {1.01 * least, 1e-8});
  EXPECT_LE(moments(Event::gaussian(noise), 1e-8), 1.01 * least);
}

TEST(Moments, AreNeverBelowRenyi) {
  for_random_cases(40, [] {
    const double noise = *log_uniform(0.3, 30);
    const double delta = *log_uniform(1e-12, 1e-2);
    const double rate = *log_uniform(1e-3, 1);
    const Event event = rate > 0.9 ? full_gaussian(noise, 10) : poisson_gaussian(rate, noise, 10);
    RC_ASSERT(moments(event, delta) >= account(event, Relation::add_remove, Accountant::rdp, delta).epsilon);
  });
}

}  // namespace
}  // namespace ration::testing
