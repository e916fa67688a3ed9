// The corners of the supported range: noise .05 to 1e4, rate 1e-7 to 1, steps 1 to 1e8, delta 1e-300 to .1.
// Everything stays finite, in order and monotone along each axis. Slow corners of the PLD are in
// extremes_slow.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "privacy/plans.h"
#include "ration/privacy/accountant.h"

namespace ration {
namespace {

using testing::Corner;
using testing::fixed_gaussian;
using testing::full_gaussian;
using testing::poisson_gaussian;
using testing::words;

const std::vector<double> kNoises = {0.05, 0.3, 1, 100, 1e4};
const std::vector<double> kRates = {1e-7, 1e-4, 0.01, 0.3, 0.999, 1};
const std::vector<std::int64_t> kSteps = {1, 2, 1000, 100'000'000};
const std::vector<double> kDeltas = {1e-300, 1e-30, 1e-5, 0.1};

void for_corners(const std::function<void(const Corner&)>& check) {
  for (const double noise : kNoises) {
    for (const double rate : kRates) {
      for (const std::int64_t steps : kSteps) {
        for (const double delta : kDeltas) check({noise, rate, steps, delta});
      }
    }
  }
}

using Cost = std::function<double(const Corner&)>;

// Finite, not negative, and no cheaper when the corner is a little dearer along any axis.
void expect_sane(const Cost& cost, const Corner& c) {
  const double epsilon = cost(c);
  ASSERT_TRUE(std::isfinite(epsilon)) << words(c);
  ASSERT_GE(epsilon, 0) << words(c);
  // The best order is then a billion, and its moment a sum over millions of nodes: a second per figure.
  if (c.noise > 50 && c.delta < 1e-20) return;
  const double at_most = epsilon * (1 - 1e-8);
  EXPECT_GE(cost({c.noise * 0.9, c.rate, c.steps, c.delta}), at_most) << words(c);
  EXPECT_GE(cost({c.noise, std::min(1.0, c.rate * 1.1), c.steps, c.delta}), at_most) << words(c);
  EXPECT_GE(cost({c.noise, c.rate, c.steps + 1 + c.steps / 10, c.delta}), at_most) << words(c);
  EXPECT_GE(cost({c.noise, c.rate, c.steps, c.delta * 0.9}), at_most) << words(c);
}

double cost_of(const Event& event, Relation relation, Accountant accountant, double delta) {
  return account(event, relation, accountant, delta).epsilon;
}

TEST(Extremes, RenyiOnPoissonSamples) {
  for_corners([](const Corner& corner) {
    expect_sane(
        [](const Corner& c) {
          return cost_of(poisson_gaussian(c.rate, c.noise, c.steps), Relation::add_remove, Accountant::rdp,
                         c.delta);
        },
        corner);
  });
}

TEST(Extremes, RenyiOnFixedSizeSubsets) {
  for (const double noise : kNoises) {
    for (const double rate : {1e-7, 0.01, 0.999}) {
      for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{100'000'000}}) {
        for (const double delta : {1e-300, 1e-5, 0.1}) {
          const double sampled =
              cost_of(fixed_gaussian(rate, noise, steps), Relation::replace_one, Accountant::rdp, delta);
          ASSERT_TRUE(std::isfinite(sampled));
          ASSERT_GE(sampled, 0);
        }
      }
    }
  }
}

class FullBatchExtremes : public ::testing::TestWithParam<Accountant> {};

TEST_P(FullBatchExtremes, AreSane) {
  for_corners([](const Corner& corner) {
    if (corner.rate < 1) return;
    expect_sane(
        [](const Corner& c) {
          return cost_of(full_gaussian(c.noise, c.steps), Relation::add_remove, GetParam(), c.delta);
        },
        corner);
  });
}

INSTANTIATE_TEST_SUITE_P(Each, FullBatchExtremes, ::testing::ValuesIn(kAccountants),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Extremes, AdvancedComposition) {
  for_corners([](const Corner& corner) {
    expect_sane(
        [](const Corner& c) {
          return cost_of(poisson_gaussian(c.rate, c.noise, c.steps), Relation::add_remove,
                         Accountant::advanced, c.delta);
        },
        corner);
  });
}

// Where its conditions hold; elsewhere it says which one does not.
TEST(Extremes, TruncatedConcentrated) {
  int answered = 0;
  for_corners([&](const Corner& c) {
    const Event event = fixed_gaussian(c.rate, c.noise, c.steps);
    if (const std::string reason = refusal(event, Relation::replace_one, Accountant::tcdp); !reason.empty()) {
      EXPECT_NE(reason.find("expected"), std::string::npos) << reason;
      EXPECT_EQ(testing::complaint(
                    [&] { cost_of(event, Relation::replace_one, Accountant::tcdp, c.delta); }) == "accepted",
                false);
      return;
    }
    ++answered;
    const double epsilon = cost_of(event, Relation::replace_one, Accountant::tcdp, c.delta);
    ASSERT_TRUE(std::isfinite(epsilon)) << words(c);
    ASSERT_GE(epsilon, 0) << words(c);
  });
  EXPECT_GT(answered, 100);
}

// On the full batch everything is known exactly: each accountant lies above it, in the known order.
TEST(Extremes, FullBatchAccountantsAreOrdered) {
  for_corners([](const Corner& c) {
    if (c.rate < 1) return;
    const auto cost = [&](Accountant accountant) {
      return cost_of(full_gaussian(c.noise, c.steps), Relation::add_remove, accountant, c.delta);
    };
    const double exact = cost(Accountant::gdp);
    EXPECT_GE(cost(Accountant::zcdp), exact * (1 - 1e-8)) << words(c);
    EXPECT_GE(cost(Accountant::rdp), exact * (1 - 1e-8)) << words(c);
    EXPECT_NEAR(cost(Accountant::pld), exact, 1e-8 * exact) << words(c);
    // The Renyi curve of a Gaussian is its zCDP: both minimise the same bound, RDP over orders above 1
    // + 2.5e-5.
    EXPECT_NEAR(cost(Accountant::rdp), cost(Accountant::zcdp), 1e-4 * cost(Accountant::zcdp)) << words(c);
  });
}

// The PLD where it is quick: no more than a few steps, or a transform that is short.
TEST(Extremes, PldOnFewSteps) {
  for (const double noise : kNoises) {
    for (const double rate : {1e-7, 0.01, 0.999}) {
      for (const double delta : kDeltas) {
        const Corner c{noise, rate, 2, delta};
        const Guarantee pld =
            account(poisson_gaussian(rate, noise, 2), Relation::add_remove, Accountant::pld, delta);
        const double rdp =
            cost_of(poisson_gaussian(rate, noise, 2), Relation::add_remove, Accountant::rdp, delta);
        ASSERT_TRUE(std::isfinite(pld.epsilon)) << words(c);
        EXPECT_LE(*pld.epsilon_lower, pld.epsilon) << words(c);
        EXPECT_LE(pld.epsilon, rdp * (1 + 1e-6) + 1e-9) << words(c);
        const double one =
            cost_of(poisson_gaussian(rate, noise, 1), Relation::add_remove, Accountant::pld, delta);
        EXPECT_GE(pld.epsilon, one * (1 - 1e-6)) << words(c);
      }
    }
  }
}

}  // namespace
}  // namespace ration
