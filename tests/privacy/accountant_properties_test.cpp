#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "privacy/exact.h"
#include "privacy/gdp.h"
#include "privacy/plans.h"
#include "privacy/pld.h"
#include "ration/privacy/accountant.h"

namespace ration {
namespace {

using testing::all_settings;
using testing::event_of;
using testing::for_random_cases;
using testing::full_gaussian;
using testing::log_uniform;
using testing::poisson_gaussian;
using testing::random_count;
using testing::random_plan;
using testing::relation_of;
using testing::Sampler;
using testing::Setting;
using testing::setting_name;

struct Parameters {
  double rate;
  double noise;
  std::int64_t steps;
  double delta;
};

Parameters random_parameters() {
  return {*log_uniform(1e-3, 0.05), *log_uniform(2.5, 20), random_count(2, 3000), *log_uniform(1e-12, 1e-2)};
}

double epsilon(const Setting& setting, const Parameters& p) {
  const Event event = event_of(setting.sampler, p.rate, p.noise, p.steps);
  return account(event, relation_of(setting.sampler), setting.accountant, p.delta).epsilon;
}

// A lattice has its own slack, which may differ between neighbouring plans; its size is
// PldOptions::tolerance.
double slack(const Setting& setting, double value) {
  return setting.accountant == Accountant::pld ? 1e-3 * std::max(1.0, value) : 1e-9 * value;
}

class AnyAccountant : public ::testing::TestWithParam<Setting> {
 protected:
  static int cases() { return GetParam().accountant == Accountant::pld ? 6 : 25; }

  static void expect_not_cheaper(const Parameters& cheaper, const Parameters& dearer) {
    const double less = epsilon(GetParam(), cheaper);
    const double more = epsilon(GetParam(), dearer);
    RC_ASSERT(less >= 0);
    RC_ASSERT(std::isfinite(more));
    RC_ASSERT(less <= more + slack(GetParam(), more));
  }
  // A change this large must be seen, or the accountant ignores the parameter.
  static void expect_dearer(const Parameters& cheaper, const Parameters& dearer) {
    expect_not_cheaper(cheaper, dearer);
    RC_ASSERT(epsilon(GetParam(), cheaper) < epsilon(GetParam(), dearer));
  }
};

TEST_P(AnyAccountant, EpsilonFallsWithNoise) {
  for_random_cases(cases(), [] {
    const Parameters p = random_parameters();
    Parameters noisier = p;
    noisier.noise *= 1 + *log_uniform(1e-3, 3);
    expect_not_cheaper(noisier, p);
    noisier.noise = 3 * p.noise;
    Parameters plain = p;
    plain.delta = 1e-6;
    noisier.delta = 1e-6;
    expect_dearer(noisier, plain);
  });
}

TEST_P(AnyAccountant, EpsilonGrowsWithSteps) {
  for_random_cases(cases(), [] {
    const Parameters p = random_parameters();
    Parameters longer = p;
    longer.steps += random_count(1, static_cast<double>(2 * p.steps));
    expect_not_cheaper(p, longer);
  });
}

TEST_P(AnyAccountant, EpsilonGrowsWithTheRate) {
  if (GetParam().sampler == Sampler::full) GTEST_SKIP() << "the full batch has no rate";
  for_random_cases(cases(), [] {
    const Parameters p = random_parameters();
    Parameters larger = p;
    larger.rate *= 1 + *log_uniform(1e-3, 0.9);
    expect_not_cheaper(p, larger);
  });
}

TEST_P(AnyAccountant, EpsilonGrowsAsDeltaFalls) {
  for_random_cases(cases(), [] {
    const Parameters p = random_parameters();
    Parameters smaller = p;
    smaller.delta /= 1 + *log_uniform(1e-2, 1e3);
    expect_not_cheaper(p, smaller);
  });
}

INSTANTIATE_TEST_SUITE_P(Each, AnyAccountant, ::testing::ValuesIn(all_settings()), setting_name);

// --- Order and nesting.

std::vector<Event> random_events(Accountant accountant) {
  std::vector<Event> events;
  const int count = *rc::gen::inRange(2, 6);
  for (int i = 0; i < count; ++i) {
    const double noise = *log_uniform(2.5, 20), rate = *log_uniform(1e-3, 0.05);
    const bool sampled = accountant != Accountant::zcdp && *rc::gen::arbitrary<bool>();
    const Event base = Event::gaussian(noise);
    const bool fixed = accountant == Accountant::tcdp;
    const Event one = !sampled ? base
                      : fixed  ? Event::fixed_size_sampled(rate, base)
                               : Event::poisson_sampled(rate, base);
    events.push_back(Event::repeated(one, random_count(1, 200)));
  }
  return events;
}

class AnyOrder : public ::testing::TestWithParam<Accountant> {
 protected:
  static Relation relation() {
    return GetParam() == Accountant::tcdp ? Relation::replace_one : Relation::add_remove;
  }
  static double epsilon(const Event& event) { return account(event, relation(), GetParam(), 1e-6).epsilon; }
};

TEST_P(AnyOrder, CostsTheSame) {
  for_random_cases(GetParam() == Accountant::pld ? 6 : 25, [] {
    std::vector<Event> events = random_events(GetParam());
    const double in_order = epsilon(Event::composed(events));
    std::mt19937 shuffler(*rc::gen::arbitrary<unsigned>());
    std::shuffle(events.begin(), events.end(), shuffler);
    const double shuffled = epsilon(Event::composed(events));
    RC_ASSERT(std::abs(shuffled - in_order) <= 1e-9 * in_order);
  });
}

TEST_P(AnyOrder, NestingCostsTheSameAsAFlatList) {
  for_random_cases(GetParam() == Accountant::pld ? 4 : 25, [] {
    const std::vector<Event> events = random_events(GetParam());
    std::vector<Event> flat;
    for (int i = 0; i < 3; ++i) flat.insert(flat.end(), events.begin(), events.end());
    Event nested = Event::nothing();
    for (const Event& event : events) nested = Event::composed({event, nested});
    const double a = epsilon(Event::composed(flat));
    const double b = epsilon(Event::repeated(nested, 3));
    RC_ASSERT(std::abs(a - b) <= 1e-9 * a);
  });
}

INSTANTIATE_TEST_SUITE_P(Each, AnyOrder, ::testing::ValuesIn(kAccountants),
                         [](const auto& info) { return std::string(to_string(info.param)); });

// --- Agreement.

TEST(FullBatch, PldGdpAndTheExactCurveAgree) {
  for_random_cases(30, [] {
    const double noise = *log_uniform(0.5, 200), delta = *log_uniform(1e-100, 0.1);
    const std::int64_t steps = random_count(1, 1e6);
    const Event event = full_gaussian(noise, steps);
    const Guarantee pld = account(event, Relation::add_remove, Accountant::pld, delta);
    const Guarantee gdp = account(event, Relation::add_remove, Accountant::gdp, delta);
    const double truth = gaussian_epsilon(noise / std::sqrt(static_cast<double>(steps)), delta);
    RC_ASSERT(std::abs(gdp.epsilon - truth) <= 1e-9 * truth);
    RC_ASSERT(std::abs(pld.epsilon - truth) <= 1e-8 * truth);
    RC_ASSERT(*pld.epsilon_lower <= truth * (1 + 1e-12));
    RC_ASSERT(*gdp.epsilon_lower <= truth * (1 + 1e-12));
    RC_ASSERT(gdp.certified);
    const auto exact = exact_epsilon(std::vector<SampledGaussian>{{1, noise, steps}}, delta);
    RC_ASSERT(exact.has_value());
    RC_ASSERT(std::abs(*exact - truth) <= 1e-9 * truth);
  });
}

// Gaussians of different noise on all rows are one, whose precision is the sum of theirs.
TEST(FullBatch, DifferentNoisesAddUpUnderEveryAccountant) {
  const Event event = Event::composed({full_gaussian(3, 2), full_gaussian(2, 5), full_gaussian(8, 1)});
  const double noise = 1 / std::sqrt(2 / 9.0 + 5 / 4.0 + 1 / 64.0);
  for (const double delta : {1e-3, 1e-6, 1e-12}) {
    const double truth = gaussian_epsilon(noise, delta);
    for (const Accountant accountant : kAccountants) {
      const double epsilon = account(event, Relation::add_remove, accountant, delta).epsilon;
      EXPECT_GE(epsilon, truth * (1 - 1e-12)) << to_string(accountant);
    }
    EXPECT_NEAR(account(event, Relation::add_remove, Accountant::gdp, delta).epsilon, truth, 1e-9 * truth);
  }
}

// Two halves of full-batch noise and a sampled part: nothing here is closed form, but the contour integral is
// exact.
TEST(Certified, NoAccountantFallsBelowTheExactCurve) {
  int answered = 0;
  for_random_cases(25, [&] {
    const SampledGaussianPlan plan = random_plan();
    const double delta = *log_uniform(1e-12, 1e-2);
    const auto truth = exact_epsilon(plan, delta);
    if (!truth) return;
    ++answered;
    for (const Accountant accountant :
         {Accountant::rdp, Accountant::pld, Accountant::advanced, Accountant::moments}) {
      const Guarantee guarantee = account(event_of(plan), Relation::add_remove, accountant, delta);
      RC_ASSERT(guarantee.certified);
      RC_ASSERT(guarantee.epsilon >= *truth * (1 - 1e-9));
      if (guarantee.epsilon_lower) RC_ASSERT(*guarantee.epsilon_lower <= *truth * (1 + 1e-9));
    }
  });
  EXPECT_GE(answered, 10);
}

TEST(Certified, PldIsTheTightestAndBracketsTheTruth) {
  int answered = 0;
  for_random_cases(20, [&] {
    const SampledGaussianPlan plan = random_plan();
    const double delta = *log_uniform(1e-12, 1e-2);
    const auto truth = exact_epsilon(plan, delta);
    if (!truth) return;
    ++answered;
    const PldBounds bounds = pld_epsilon(plan, delta);
    RC_ASSERT(bounds.lower <= *truth + 1e-9);
    RC_ASSERT(bounds.upper >= *truth - 1e-9);
    RC_ASSERT(bounds.upper - bounds.lower <= 0.01 * std::max(1.0, bounds.upper));
    const double rdp = account(event_of(plan), Relation::add_remove, Accountant::rdp, delta).epsilon;
    RC_ASSERT(bounds.upper <= rdp * (1 + 1e-6));
  });
  EXPECT_GE(answered, 8);
}

TEST(Certified, AnApproximationSaysSo) {
  const Guarantee sampled =
      account(poisson_gaussian(0.01, 1, 1000), Relation::add_remove, Accountant::gdp, 1e-5);
  EXPECT_FALSE(sampled.certified);
  EXPECT_FALSE(sampled.epsilon_lower.has_value());
  const Event mixed =
      Event::composed({full_gaussian(20, 3), poisson_gaussian(0.01, 1, 1000), full_gaussian(20, 3)});
  EXPECT_FALSE(account(mixed, Relation::add_remove, Accountant::gdp, 1e-5).certified);
}

TEST(Certified, NothingCostsNothing) {
  for (const Accountant accountant : kAccountants) {
    for (const Event& event :
         {Event::nothing(), full_gaussian(1, 0), Event::poisson_sampled(0.1, Event::nothing())}) {
      EXPECT_EQ(account(event, Relation::add_remove, accountant, 1e-5).epsilon, 0) << to_string(accountant);
    }
  }
}

}  // namespace
}  // namespace ration
