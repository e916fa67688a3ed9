// Which sampler goes with which relation and accountant (privacy.md, section 2): what the table allows works,
// everything else is refused with a sentence that names both parts and what would do.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "privacy/event_json.h"
#include "privacy/plans.h"
#include "ration/base/error.h"
#include "ration/privacy/accountant.h"

namespace ration {
namespace {

using testing::complaint;

enum class Sampler { full, poisson, fixed };
enum class Mechanism { gaussian, discrete_gaussian, laplace, mixed };

Event mechanism_event(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::gaussian:
      return Event::gaussian(5);
    case Mechanism::discrete_gaussian:
      return Event::discrete_gaussian(5);
    case Mechanism::laplace:
      return Event::laplace(8);
    default:
      return Event::composed({Event::gaussian(5), Event::above_threshold_laplace(0.1, 0.1)});
  }
}

Event event_of(Sampler sampler, Mechanism mechanism) {
  const Event base = mechanism_event(mechanism);
  if (sampler == Sampler::full) return base;
  return sampler == Sampler::poisson ? Event::poisson_sampled(0.01, base)
                                     : Event::fixed_size_sampled(0.01, base);
}

// The table, as a reader of privacy.md would fill it in.
bool allowed(Sampler sampler, Relation relation, Accountant accountant, Mechanism mechanism) {
  if (sampler == Sampler::poisson && relation != Relation::add_remove) return false;
  if (sampler == Sampler::fixed && relation != Relation::replace_one) return false;
  const bool gaussian = mechanism == Mechanism::gaussian;
  switch (accountant) {
    case Accountant::rdp:
      return true;
    case Accountant::zcdp:
      return sampler == Sampler::full;
    case Accountant::tcdp:
      return sampler != Sampler::poisson;
    case Accountant::pld:
    case Accountant::gdp:
    case Accountant::moments:
      return gaussian && sampler != Sampler::fixed;
    default:
      return gaussian;  // advanced composition needs the exact curve of each step
  }
}

TEST(Refusal, FollowsTheTable) {
  for (const Sampler sampler : {Sampler::full, Sampler::poisson, Sampler::fixed}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      for (const Accountant accountant : kAccountants) {
        for (const Mechanism mechanism :
             {Mechanism::gaussian, Mechanism::discrete_gaussian, Mechanism::laplace, Mechanism::mixed}) {
          const Event event = event_of(sampler, mechanism);
          const std::string reason = refusal(event, relation, accountant);
          const std::string thrown = complaint([&] { account(event, relation, accountant, 1e-5); });
          const std::string where = event.describe() + " " + std::string(to_string(relation)) + " " +
                                    std::string(to_string(accountant));
          EXPECT_EQ(reason.empty(), allowed(sampler, relation, accountant, mechanism))
              << where << ": " << reason;
          EXPECT_EQ(thrown == "accepted", reason.empty()) << where << ": " << thrown;
          if (!reason.empty()) {
            EXPECT_EQ(thrown, reason) << where;
          }
        }
      }
    }
  }
}

bool says(const std::string& sentence, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (sentence.find(word) == std::string::npos) return false;
  }
  return true;
}

TEST(Refusal, OfARelationNamesBothPartsAndWhatWouldWork) {
  for (const Accountant accountant : kAccountants) {
    const std::string poisson =
        refusal(event_of(Sampler::poisson, Mechanism::gaussian), Relation::replace_one, accountant);
    EXPECT_TRUE(says(poisson, {"'poisson'", "'replace_one'", "'add_remove'", "'fixed'", "'full'"}))
        << poisson;
    const std::string fixed =
        refusal(event_of(Sampler::fixed, Mechanism::gaussian), Relation::add_remove, accountant);
    EXPECT_TRUE(says(fixed, {"'fixed'", "'add_remove'", "'replace_one'", "'poisson'", "'full'"})) << fixed;
  }
}

TEST(Refusal, OfAnAccountantNamesBothPartsAndWhatWouldWork) {
  const auto reason = [](Sampler sampler, Mechanism mechanism, Accountant accountant) {
    const Relation relation = sampler == Sampler::fixed ? Relation::replace_one : Relation::add_remove;
    return refusal(event_of(sampler, mechanism), relation, accountant);
  };
  EXPECT_EQ(reason(Sampler::poisson, Mechanism::gaussian, Accountant::zcdp),
            "accountant 'zcdp' cannot certify Gaussian on Poisson samples; use 'rdp', 'pld', 'advanced', "
            "'moments'");
  EXPECT_EQ(reason(Sampler::poisson, Mechanism::gaussian, Accountant::tcdp),
            "accountant 'tcdp' cannot certify Gaussian on Poisson samples; use 'rdp', 'pld', 'advanced', "
            "'moments'");
  EXPECT_EQ(reason(Sampler::fixed, Mechanism::gaussian, Accountant::pld),
            "accountant 'pld' cannot certify Gaussian on fixed size samples; use 'rdp', 'tcdp', 'advanced'");
  EXPECT_EQ(reason(Sampler::full, Mechanism::laplace, Accountant::pld),
            "accountant 'pld' cannot certify Laplace(scale 8) on the full batch; use 'rdp', 'zcdp', 'tcdp'");
  EXPECT_EQ(reason(Sampler::poisson, Mechanism::laplace, Accountant::gdp),
            "accountant 'gdp' cannot certify Laplace(scale 8) on Poisson samples; use 'rdp'");
  EXPECT_EQ(reason(Sampler::full, Mechanism::discrete_gaussian, Accountant::gdp),
            "accountant 'gdp' cannot certify DiscreteGaussian(noise 5) on the full batch; use 'rdp', 'zcdp', "
            "'tcdp'");
}

// The part of a mixture that is the obstacle is the one to name.
TEST(Refusal, OfAMixtureNamesThePartThatIsInTheWay) {
  const std::string reason =
      refusal(event_of(Sampler::poisson, Mechanism::mixed), Relation::add_remove, Accountant::pld);
  EXPECT_TRUE(says(reason, {"'pld'", "AboveThreshold", "'rdp'"})) << reason;
}

TEST(Refusal, OneUncoveredPartRefusesTheWhole) {
  const Event whole = Event::composed(
      {Event::gaussian(3), Event::repeated(event_of(Sampler::poisson, Mechanism::gaussian), 5)});
  EXPECT_FALSE(refusal(whole, Relation::add_remove, Accountant::zcdp).empty());
  EXPECT_TRUE(refusal(whole, Relation::add_remove, Accountant::pld).empty());
}

TEST(Refusal, ASampleOfASampleIsNotCertified) {
  const Event inner = Event::poisson_sampled(0.1, Event::gaussian(1));
  const Event hidden = Event::composed({Event::gaussian(2), Event::repeated(inner, 2)});
  for (const Event& nested : {Event::poisson_sampled(0.5, inner), Event::poisson_sampled(0.5, hidden),
                              Event::fixed_size_sampled(0.5, inner), Event::poisson_sampled(1, inner)}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      const std::string reason = refusal(nested, relation, Accountant::rdp);
      EXPECT_TRUE(says(reason, {"a sample of a sample is not certified", "Poisson(0.1) of Gaussian(noise 1)",
                                "draw once, with the product of the rates"}))
          << reason;
    }
  }
}

TEST(Refusal, ASampleOfRateOneIsTheFullBatch) {
  const double full = account(Event::gaussian(5), Relation::replace_one, Accountant::zcdp, 1e-5).epsilon;
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    EXPECT_EQ(
        account(Event::poisson_sampled(1, Event::gaussian(5)), relation, Accountant::zcdp, 1e-5).epsilon,
        full);
    EXPECT_EQ(
        account(Event::fixed_size_sampled(1, Event::gaussian(5)), relation, Accountant::zcdp, 1e-5).epsilon,
        full);
  }
}

TEST(Refusal, OfTcdpNamesTheViolatedCondition) {
  const auto reason = [](double rate, double noise) {
    return refusal(Event::fixed_size_sampled(rate, Event::gaussian(noise)), Relation::replace_one,
                   Accountant::tcdp);
  };
  EXPECT_TRUE(says(reason(0.2, 5), {"'tcdp'", "q_range", "0.1", "0.2"})) << reason(0.2, 5);
  EXPECT_TRUE(says(reason(0.01, 1), {"'tcdp'", "rho_range", "0.1", "0.5"})) << reason(0.01, 1);
  EXPECT_TRUE(reason(0.01, 5).empty());
}

// Version 0.2 charged a Gaussian search the same for any number of queries, which was too little.
TEST(Refusal, OfAGaussianSearchThatDoesNotSayHowManyQueries) {
  const Event old =
      event_from_json(R"({"event": "above_threshold_gaussian", "threshold_noise": 2, "query_noise": 3})");
  for (const Event& event : {old, Event::poisson_sampled(0.1, old), Event::repeated(old, 3)}) {
    for (const Accountant accountant : {Accountant::rdp, Accountant::zcdp}) {
      const std::string reason = refusal(event, Relation::add_remove, accountant);
      EXPECT_TRUE(says(reason, {"AboveThreshold", "unknown number of queries", "version 0.2"})) << reason;
      EXPECT_THROW(account(event, Relation::add_remove, accountant, 1e-6), InputError);
    }
  }
  const Event known = event_from_json(
      R"({"event": "above_threshold_gaussian", "threshold_noise": 2, "query_noise": 3, "queries": 20})");
  EXPECT_EQ(refusal(known, Relation::add_remove, Accountant::rdp), "");
}

TEST(Refusal, OfAnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(complaint([] { named<Accountant>("magic"); }),
            "accountant: expected one of rdp, pld, zcdp, tcdp, gdp, advanced, moments, got 'magic'");
  for (const Accountant accountant : kAccountants)
    EXPECT_EQ(named<Accountant>(to_string(accountant)), accountant);
}

TEST(Refusal, OfASenselessDelta) {
  for (const double delta : {0.0, 1.0, -1e-5, 1.5, std::nan("")}) {
    for (const Accountant accountant : kAccountants) {
      EXPECT_THROW(account(Event::gaussian(1), Relation::add_remove, accountant, delta), InputError);
    }
  }
}

}  // namespace
}  // namespace ration
