#include "privacy/group_privacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/numeric.h"
#include "privacy/gdp.h"
#include "privacy/sampler_delta.h"
#include "privacy/zcdp.h"

namespace ration::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Event sampled_steps(double rate, double noise, std::int64_t count) {
  return Event::repeated(Event::poisson_sampled(rate, Event::gaussian(noise)), count);
}

Certificate certified(const Event& event, Accountant accountant, const Budget& budget,
                      SpendingBy by = SpendingBy::plan, double words = 0) {
  Certificate out = certify(event, Relation::add_remove, accountant, budget, by, words);
  out.secure_random = true;
  return out;
}

// By the definition: the epsilon at which a Gaussian that is k times as far away has this delta.
TEST(GroupPrivacy, OfGaussiansIsExact) {
  const double noise = 40;
  const Certificate certificate =
      certified(Event::repeated(Event::gaussian(noise), 100), Accountant::gdp, {2, 1e-6});
  ASSERT_EQ(certificate.groups.size(), 3u);
  for (const GroupGuarantee& group : certificate.groups) {
    const double mu = group.rows * std::sqrt(100) / noise;
    ASSERT_TRUE(group.epsilon);
    EXPECT_EQ(group.delta, 1e-6);
    EXPECT_LE(gdp_delta(mu, *group.epsilon), 1e-6);
    EXPECT_GT(gdp_delta(mu, *group.epsilon * (1 - 1e-7)), 1e-6);
    EXPECT_THAT(group.by, HasSubstr("k mu"));
  }
}

// A budget that a Gaussian filter keeps is worth a mu, and k of that for k rows.
TEST(GroupPrivacy, OfARunThatChoseByItsOutputsIsThatOfItsFilter) {
  const Event few = Event::repeated(Event::gaussian(100), 3);
  const Certificate by_gdp = certified(few, Accountant::gdp, {1, 1e-6}, SpendingBy::outputs);
  const Certificate by_zcdp = certified(few, Accountant::zcdp, {1, 1e-6}, SpendingBy::outputs);
  const Certificate by_rdp = certified(few, Accountant::rdp, {1, 1e-6}, SpendingBy::outputs);
  for (std::size_t i = 0; i < 3; ++i) {
    const int k = kGroupSizes[i];
    EXPECT_NEAR(*by_gdp.groups[i].epsilon, gdp_epsilon(k * gdp_mu(1, 1e-6), 1e-6), 1e-5);
    EXPECT_GE(*by_gdp.groups[i].epsilon, gdp_epsilon(k * gdp_mu(1, 1e-6), 1e-6));
    EXPECT_NEAR(*by_zcdp.groups[i].epsilon, zcdp_epsilon(k * k * zcdp_rho(1, 1e-6), 1e-6), 1e-5);
    EXPECT_GE(*by_zcdp.groups[i].epsilon, zcdp_epsilon(k * k * zcdp_rho(1, 1e-6), 1e-6));
    // One point of its curve is all that is known: delta (e^{k} - 1) / (e - 1).
    EXPECT_DOUBLE_EQ(*by_rdp.groups[i].epsilon, k);
    const double grown = 1e-6 * std::expm1(k) / std::expm1(1);
    EXPECT_GE(by_rdp.groups[i].delta, grown);
    EXPECT_NEAR(by_rdp.groups[i].delta, grown, 1e-6 * grown);
  }
}

TEST(GroupPrivacy, WhereNoDeltaBelowOneIsProvenThereIsNoEpsilon) {
  const Certificate certificate =
      certified(Event::gaussian(100), Accountant::rdp, {8, 1e-5}, SpendingBy::outputs);
  EXPECT_TRUE(certificate.groups[0].epsilon);
  EXPECT_FALSE(certificate.groups[2].epsilon);
  EXPECT_THAT(to_text(certificate), HasSubstr("10 rows of one person: nothing is proven"));
  EXPECT_EQ(to_json(certificate_from_json(to_json(certificate))), to_json(certificate));
}

// The truth for one sampled step: a group of k adds Binomial(k, rate) to a Gaussian's mean, all its rows
// pulling in one direction. delta(epsilon) of that pair, by summing over a fine grid.
double delta_of_group(double rate, double noise, int k, double epsilon) {
  std::vector<double> weights(static_cast<std::size_t>(k) + 1);
  for (int j = 0; j <= k; ++j) {
    weights[static_cast<std::size_t>(j)] =
        std::exp(std::lgamma(k + 1) - std::lgamma(j + 1) - std::lgamma(k - j + 1)) * std::pow(rate, j) *
        std::pow(1 - rate, k - j);
  }
  double delta = 0;
  constexpr double kStep = 1e-3;
  for (double x = -12 * noise; x < k + 12 * noise; x += kStep) {
    double with = 0;
    for (int j = 0; j <= k; ++j)
      with += weights[static_cast<std::size_t>(j)] * normal_pdf((x - j) / noise) / noise;
    delta += std::max(0.0, with - std::exp(epsilon) * normal_pdf(x / noise) / noise) * kStep;
  }
  return delta;
}

TEST(GroupPrivacy, OfSampledStepsIsAboveTheTruth) {
  for (const double rate : {0.01, 0.3}) {
    const Certificate certificate = certified(sampled_steps(rate, 2, 1), Accountant::rdp, {8, 1e-5});
    for (const GroupGuarantee& group : certificate.groups) {
      ASSERT_TRUE(group.epsilon) << group.rows;
      EXPECT_EQ(group.delta, 1e-5);
      EXPECT_LE(delta_of_group(rate, 2, group.rows, *group.epsilon), 1e-5) << rate << " " << group.rows;
      EXPECT_GT(*group.epsilon, group.rows * certificate.epsilon * (1 - 1e-9));
    }
  }
}

TEST(GroupPrivacy, OfPureReleasesMultiplies) {
  const Certificate certificate = certified(Event::laplace(4), Accountant::rdp, {1, 0});
  for (const GroupGuarantee& group : certificate.groups) {
    EXPECT_EQ(group.delta, 0);
    EXPECT_GE(*group.epsilon, group.rows * 0.25);
    EXPECT_NEAR(*group.epsilon, group.rows * 0.25, 1e-7);
  }
}

TEST(GroupPrivacy, OfNothingIsNothing) {
  for (const GroupGuarantee& group : certified(Event::nothing(), Accountant::rdp, {1, 1e-5}).groups)
    EXPECT_EQ(group.epsilon, 0);
}

// What the random numbers may take grows with the group's epsilon, and then so does its delta.
TEST(GroupPrivacy, KeepsThePartOfTheRandomNumbers) {
  const Event event = Event::repeated(Event::gaussian(10), 4);
  const Certificate few = certified(event, Accountant::gdp, {2, 1e-6}, SpendingBy::plan, 1e6);
  for (const GroupGuarantee& group : few.groups) EXPECT_EQ(group.delta, 1e-6);
  const double words = 1e20;
  Certificate many = few;
  many.random_words = words;
  const std::vector<GroupGuarantee> groups = group_guarantees(many);
  const GroupGuarantee& ten = groups.back();
  ASSERT_LE(*ten.epsilon, 20);
  EXPECT_GE(ten.delta, delta_of_events(1e-6) + sampler_delta(*ten.epsilon, words));
  EXPECT_GT(ten.delta, 1e-6);
}

TEST(GroupPrivacy, IsVerified) {
  for (const SpendingBy by : {SpendingBy::plan, SpendingBy::outputs}) {
    const Certificate honest =
        certified(Event::repeated(Event::gaussian(50), 10), Accountant::zcdp, {1, 1e-5}, by);
    EXPECT_THAT(verify(certificate_from_json(to_json(honest))).problems, IsEmpty());
    Certificate forged = honest;
    *forged.groups[1].epsilon *= 0.999;
    EXPECT_THAT(verify(forged).problems, Contains(HasSubstr("for 5 rows together, but")));
    forged = honest;
    forged.groups[2].delta *= 0.999;
    EXPECT_THAT(verify(forged).problems, Contains(HasSubstr("for 10 rows together, but")));
    forged = honest;
    forged.groups[0].rows = 3;
    EXPECT_THAT(verify(forged).problems, Contains(HasSubstr("for 3 rows")));
    forged = honest;
    forged.groups.clear();
    EXPECT_THAT(verify(forged).problems, IsEmpty()) << "as certificates of ration 0.2";
  }
}

}  // namespace
}  // namespace ration::testing
