#include "privacy/sampler_delta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ration/base/error.h"
#include "ration/privacy/certificate.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kWords = 1e9;

Certificate certified(const Budget& budget = {3, 1e-5}, double words = kWords) {
  const Event released = Event::repeated(Event::poisson_sampled(0.01, Event::gaussian(1.1)), 700);
  Certificate certificate =
      certify(released, Relation::add_remove, Accountant::rdp, budget, SpendingBy::plan, words);
  certificate.secure_random = true;
  return certificate;
}

TEST(SamplerDelta, IsTheTotalVariationOfTheBlocksAndItsImageUnderEpsilon) {
  EXPECT_NEAR(sampler_delta(0, 1000) / (2 * 1e6 * 0x1p-129), 1, 1e-11);
  EXPECT_NEAR(sampler_delta(1, 0x1p30) / ((1 + std::exp(1)) * 0x1p48 * 0x1p-129), 1, 1e-11);
  EXPECT_GE(sampler_delta(1, 0x1p30), (1 + std::exp(1)) * 0x1p48 * 0x1p-129);
}

TEST(SamplerDelta, EventsAndSamplerTogetherAreWithinDelta) {
  for (const double delta : {0.1, 1e-5, 1e-10, 1e-300}) {
    EXPECT_LE(delta_of_events(delta) + kSamplerPart * delta, delta);
    EXPECT_GT(delta_of_events(delta), 0.99999 * delta);
  }
}

TEST(SamplerDelta, WhatCannotBeDeliveredIsRefusedWithWhatCan) {
  EXPECT_NO_THROW(require_deliverable({8, 1e-9}, kWords));
  try {
    require_deliverable({8, 1e-30}, kWords);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("delta 1e-30 is less than the random numbers of this run can deliver"));
    const std::string text = error.what();
    const double least = std::stod(text.substr(text.rfind(' ')));
    EXPECT_NO_THROW(require_deliverable({8, least}, kWords));
    EXPECT_THROW(require_deliverable({8, 0.9 * least}, kWords), InputError);
  }
}

TEST(SamplerDelta, NothingIsKeptWhereNoPartWouldDo) {
  EXPECT_FALSE(keeps_sampler_part({1, 0}));
  EXPECT_FALSE(keeps_sampler_part({100, 1e-5}));
  EXPECT_EQ(budget_of_events({100, 1e-5}).delta, 1e-5);
  EXPECT_LT(budget_of_events({1, 1e-5}).delta, 1e-5);
  EXPECT_NO_THROW(require_deliverable({100, 1e-5}, 1e30));
}

// The certificate.

TEST(Certificate, StatesWhatItsRandomNumbersMayTake) {
  const Certificate certificate = certified();
  EXPECT_EQ(certificate.random_words, kWords);
  EXPECT_EQ(certificate.sampler_delta.value(), sampler_delta(certificate.epsilon, kWords));
  EXPECT_LE(*certificate.sampler_delta, kSamplerPart * certificate.delta);
  const Event released = Event::repeated(Event::poisson_sampled(0.01, Event::gaussian(1.1)), 700);
  const double at_the_rest =
      account(released, Relation::add_remove, Accountant::rdp, delta_of_events(1e-5)).epsilon;
  EXPECT_EQ(certificate.epsilon, at_the_rest);
  EXPECT_GT(certificate.epsilon, account(released, Relation::add_remove, Accountant::rdp, 1e-5).epsilon);
  EXPECT_THAT(to_text(certificate), HasSubstr("Sampler"));
  EXPECT_THAT(verify(certificate).problems, IsEmpty());
}

TEST(Certificate, ItsRandomNumbersSurviveItsJson) {
  const Certificate back = certificate_from_json(to_json(certified()));
  EXPECT_EQ(back.random_words, kWords);
  EXPECT_EQ(back.sampler_delta, certified().sampler_delta);
  EXPECT_EQ(to_json(back), to_json(certified()));
  EXPECT_THAT(verify(back).problems, IsEmpty());
}

TEST(Certificate, IsNotMadeForADeltaThatTheRandomNumbersCannotDeliver) {
  EXPECT_THROW(certified({19, 1e-30}), InputError);
  EXPECT_THROW(certified({3, 1e-5}, 1e35), InputError);
}

std::vector<std::string> problems_of(const std::function<void(Certificate&)>& change) {
  Certificate certificate = certified();
  change(certificate);
  return verify(certificate).problems;
}

TEST(Verify, RecomputesWhatTheRandomNumbersMayTake) {
  EXPECT_THAT(problems_of([](Certificate& c) { *c.sampler_delta /= 2; }),
              ElementsAre(HasSubstr("of delta for its random numbers")));
  EXPECT_THAT(problems_of([](Certificate& c) { c.sampler_delta.reset(); }),
              ::testing::Contains(HasSubstr("keeps nothing of delta")));
  EXPECT_THAT(problems_of([](Certificate& c) { c.random_words = 10; }),
              ElementsAre(HasSubstr("fewer than it has events")));
  EXPECT_THAT(problems_of([](Certificate& c) { c.random_words = 1e30; }),
              ::testing::Contains(HasSubstr("of delta for its random numbers")));
  EXPECT_THAT(problems_of([](Certificate& c) {
                c.random_words = 1e35;
                c.sampler_delta = sampler_delta(c.epsilon, 1e35);
              }),
              ::testing::Contains(HasSubstr("more than is kept")));
}

// As ration 0.2 wrote it for --epsilon 8 --delta 1e-30: true of its events, and not of its sampler.
TEST(Verify, AnOldCertificateForATinyDeltaDoesNotHold) {
  Certificate old =
      certify(Event::gaussian(2), Relation::add_remove, Accountant::gdp, {8, 1e-30}, SpendingBy::plan);
  old.secure_random = true;
  EXPECT_THAT(verify(old).problems, ElementsAre(HasSubstr("below what its random numbers could deliver")));
  Certificate usual =
      certify(Event::gaussian(2), Relation::add_remove, Accountant::gdp, {8, 1e-6}, SpendingBy::plan);
  usual.secure_random = true;
  EXPECT_THAT(verify(usual).problems, IsEmpty());
}

}  // namespace
}  // namespace ration::testing
