#include "ration/privacy/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/instruction_set.h"
#include "privacy/event_json.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Event steps(double noise, std::int64_t count) {
  return Event::repeated(Event::poisson_sampled(0.01, Event::gaussian(noise)), count);
}

Certificate honest(SpendingBy by = SpendingBy::plan) {
  const Event released =
      Event::composed({steps(1.1, 500), steps(1.3, 300), Event::laplace(20), steps(1.1, 200)});
  Certificate certificate = certify(released, Relation::add_remove, Accountant::rdp, {3, 1e-5}, by);
  certificate.secure_random = true;
  certificate.data_hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  certificate.assumed_public = {"feature bounds and categories, from schema.toml",
                                "the number of rows, 48842"};
  certificate.ledger = LedgerEntry{"budget.db", 7, {3, 1e-5}};
  return certificate;
}

ordered_json json_of(const Certificate& certificate) {
  return ordered_json::parse(to_json(certificate));
}

// Events.

std::vector<Event> one_of_each() {
  const Event gaussian = Event::gaussian(0.1 + 0.2);
  return {Event::nothing(),
          gaussian,
          Event::laplace(1 / 3.0),
          Event::pure_dp(0),
          Event::above_threshold_laplace(0.1, 1e-300),
          Event::above_threshold_gaussian(std::sqrt(2.0), 5e300, INT64_MAX),
          Event::above_threshold_gaussian(1, 2, 0),  // as of version 0.2
          Event::discrete_gaussian(std::nextafter(1.0, 2.0)),
          Event::noisy_max(0.7),
          Event::bounded_range(5e-324),
          Event::poisson_sampled(1e-3, gaussian),
          Event::fixed_size_sampled(1, Event::composed({gaussian, Event::laplace(2)})),
          Event::composed({}),
          Event::repeated(gaussian, INT64_MAX),
          Event::repeated(Event::nothing(), 0)};
}

TEST(EventJson, EveryKindComesBackTheSame) {
  for (const Event& event : one_of_each()) {
    const Event back = event_from_json(to_json(event));
    EXPECT_EQ(to_json(back), to_json(event));
    EXPECT_EQ(back, event);
    EXPECT_EQ(back.node().index(), event.node().index());
  }
  const Event back = event_from_json(to_json(Event::gaussian(0.1 + 0.2)));
  EXPECT_EQ(std::get<Event::Gaussian>(back.node()).noise_multiplier, 0.1 + 0.2);
}

TEST(EventJson, ReadsAsDocumented) {
  EXPECT_EQ(to_json(Event::poisson_sampled(0.01, Event::gaussian(1.1))),
            R"({"event":"poisson_sampled","rate":0.01,"base":{"event":"gaussian","noise_multiplier":1.1}})");
  EXPECT_EQ(to_json(Event::nothing()), R"({"event":"nothing"})");
}

TEST(EventJson, WhatIsNoEventIsRefused) {
  for (const char* bad : {
           "",
           "[]",
           "3",
           "null",
           "{",
           "{}",
           R"({"event": 3})",
           R"({"event": "magic"})",
           R"({"event": "gaussian"})",
           R"({"event": "gaussian", "noise_multiplier": "1"})",
           R"({"event": "gaussian", "noise_multiplier": -1})",
           R"({"event": "gaussian", "noise_multiplier": 1e999})",
           R"({"event": "gaussian", "noise_multiplier": null})",
           R"({"event": "gaussian", "noise_multiplier": 1, "rate": 0.1})",
           R"({"event": "nothing", "x": 1})",
           R"({"event": "poisson_sampled", "rate": 0.1})",
           R"({"event": "poisson_sampled", "rate": 2, "base": {}})",
           R"({"event": "composed", "parts": {}})",
           R"({"event": "composed", "parts": [3]})",
           R"({"event": "repeated", "count": 1.5, "base": {"event": "nothing"}})",
           R"({"event": "repeated", "count": -1, "base": {"event": "nothing"}})",
           R"({"event": "repeated", "count": 18446744073709551615, "base": {"event": "nothing"}})",
       }) {
    EXPECT_THROW(event_from_json(bad), InputError) << bad;
  }
}

TEST(EventJson, TooDeepIsRefusedAndNotACrash) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"event":"repeated","count":1,"base":)";
  deep += R"({"event":"nothing"})" + std::string(100'000, '}');
  EXPECT_THROW(event_from_json(deep), InputError);
}

// Certificates.

TEST(Certificate, CountsEqualEventsTogether) {
  const Certificate certificate = honest();
  ASSERT_EQ(certificate.events.size(), 3u);
  EXPECT_EQ(certificate.events[0].count, 700);
  EXPECT_EQ(certificate.events[1].count, 300);
}

TEST(Certificate, StatesWhatItsEventsCost) {
  const Event released = steps(1.1, 700);
  const double cost = account(released, Relation::add_remove, Accountant::pld, 1e-5).epsilon;
  const Certificate certificate =
      certify(released, Relation::add_remove, Accountant::pld, {3, 1e-5}, SpendingBy::plan);
  EXPECT_EQ(certificate.epsilon, cost);
  EXPECT_EQ(certificate.epsilon_of_events, cost);
  EXPECT_LT(certificate.epsilon_lower.value(), cost);
}

TEST(Certificate, OfARunThatChoseByItsOutputsStatesTheWholeBudget) {
  const Certificate certificate = honest(SpendingBy::outputs);
  EXPECT_EQ(certificate.epsilon, 3);
  EXPECT_LT(certificate.epsilon_of_events, 3);
  EXPECT_TRUE(verify(certificate).holds());
}

TEST(Certificate, IsNotMadeWithoutAProof) {
  const Budget budget{3, 1e-5};
  EXPECT_THROW(certify(steps(1.1, 700), Relation::add_remove, Accountant::gdp, budget, SpendingBy::plan),
               InputError);
  EXPECT_THROW(certify(steps(1.1, 700), Relation::add_remove, Accountant::pld, budget, SpendingBy::outputs),
               InputError);
  EXPECT_THROW(certify(steps(1.1, 700), Relation::replace_one, Accountant::rdp, budget, SpendingBy::plan),
               InputError);
  EXPECT_THROW(certify(steps(0.5, 700), Relation::add_remove, Accountant::rdp, budget, SpendingBy::plan),
               InternalError);
}

TEST(Certificate, OfARunThatReleasedNothingCostsNothing) {
  Certificate certificate =
      certify(Event::nothing(), Relation::add_remove, Accountant::rdp, {1, 1e-5}, SpendingBy::plan);
  certificate.secure_random = true;
  EXPECT_EQ(certificate.epsilon, 0);
  EXPECT_TRUE(verify(certificate).holds());
  EXPECT_THAT(to_text(certificate), HasSubstr("Releases        none\n"));
}

TEST(Certificate, JsonIsLossless) {
  Certificate certificate = honest();
  certificate.epsilon_lower = 0.1 + 0.2;
  certificate.not_covered = {"training accuracy", "a \"quoted\" text\nof two lines"};
  const std::string text = to_json(certificate);
  const Certificate back = certificate_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.epsilon, certificate.epsilon);
  EXPECT_EQ(back.epsilon_lower, certificate.epsilon_lower);
  EXPECT_EQ(back.ledger->run, 7);
  certificate.ledger.reset();
  certificate.epsilon_lower.reset();
  certificate.secure_random = false;
  EXPECT_EQ(to_json(certificate_from_json(to_json(certificate))), to_json(certificate));
}

TEST(Certificate, JsonHasTheStableKeys) {
  const ordered_json json = json_of(honest());
  for (const char* key :
       {"epsilon", "delta", "relation", "unit_of_privacy", "accountant", "epsilon_lower", "events",
        "assumed_public", "not_covered", "random_source", "ledger", "version", "data_hash"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  Certificate bare = honest();
  bare.ledger.reset();
  bare.secure_random = false;
  EXPECT_EQ(json_of(bare).at("ledger"), "no ledger");
  EXPECT_EQ(json_of(bare).at("random_source"), "NOT PRIVATE: seeded noise");
}

// A certificate with everything that can be in one.
Certificate full() {
  Certificate certificate = honest();
  certificate.date = "2026-01-31T12:00:00Z";
  certificate.data = "adult.csv";
  certificate.model = "logistic";
  certificate.files = {{"model.json", std::string(64, 'a')}, {"plan.toml", std::string(64, 'b')}};
  certificate.cautions = {"epsilon is large"};
  return certificate;
}

TEST(Certificate, WhatItIsOfSurvivesJson) {
  const std::string text = to_json(full());
  const Certificate back = certificate_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.budget->epsilon, 3);
  EXPECT_EQ(back.budget->delta, 1e-5);
  EXPECT_EQ(back.date, "2026-01-31T12:00:00Z");
  EXPECT_EQ(back.files.at(1).name, "plan.toml");
  EXPECT_EQ(back.files.at(1).sha256, std::string(64, 'b'));
  EXPECT_THAT(back.cautions, ElementsAre("epsilon is large"));
  EXPECT_EQ(to_text(back), to_text(full()));
}

TEST(Certificate, EveryKeyIsNeededAndItsTypeChecked) {
  const ordered_json whole = json_of(full());
  // Those that older certificates do not have.
  const std::set<std::string> can_be_missing = {"instruction_set", "budget", "date",     "data",
                                                "model",           "files",  "cautions", "groups"};
  for (const auto& [key, value] : whole.items()) {
    ordered_json missing = whole;
    missing.erase(key);
    if (!can_be_missing.contains(key)) {
      EXPECT_THROW(certificate_from_json(missing.dump()), InputError) << key;
    }
    ordered_json wrong = whole;
    wrong[key] = ordered_json::object({{"wrong", true}});
    EXPECT_THROW(certificate_from_json(wrong.dump()), InputError) << key;
  }
  for (const char* bad : {"", "[]", "{}", "null", "\xff\xfe"})
    EXPECT_THROW(certificate_from_json(bad), InputError);
  ordered_json newer = whole;
  newer["format_version"] = 2;
  EXPECT_THROW(certificate_from_json(newer.dump()), InputError);
}

TEST(Certificate, NamesTheInstructionSetAndOldOnesNeedNot) {
  const UseInstructionSet use(InstructionSet::portable);
  Certificate certificate = honest();
  EXPECT_EQ(certificate_from_json(to_json(certificate)).instruction_set, "portable");
  EXPECT_THAT(to_text(certificate), HasSubstr(" (portable)\n"));
  ordered_json old = json_of(certificate);
  for (const char* const key : {"instruction_set", "budget", "cautions"}) old.erase(key);
  certificate.instruction_set = "";
  certificate.budget.reset();
  EXPECT_EQ(to_json(certificate_from_json(old.dump())), to_json(certificate));
}

TEST(Certificate, AnInfiniteEpsilonIsNotWritten) {
  Certificate certificate = honest();
  certificate.epsilon = HUGE_VAL;
  EXPECT_THROW(to_json(certificate), InputError);
}

// Verification.

TEST(Verify, AcceptsAnHonestCertificateAlsoAfterATripThroughJson) {
  EXPECT_THAT(verify(honest()).problems, IsEmpty());
  EXPECT_THAT(verify(certificate_from_json(to_json(honest()))).problems, IsEmpty());
  EXPECT_DOUBLE_EQ(verify(honest()).epsilon, honest().epsilon);
}

struct Forgery {
  std::string name;
  std::function<void(ordered_json&)> change;
  std::string found;
};

void PrintTo(const Forgery& forgery, std::ostream* out) {
  *out << forgery.name;
}

class Forged : public ::testing::TestWithParam<Forgery> {};

TEST_P(Forged, IsNotVerified) {
  ordered_json json = json_of(honest());
  GetParam().change(json);
  const Verification found = verify(certificate_from_json(json.dump()));
  EXPECT_FALSE(found.holds());
  EXPECT_THAT(found.problems, ::testing::Contains(HasSubstr(GetParam().found)));
}

double epsilon_in(const ordered_json& json) {
  return json.at("epsilon").get<double>();
}

const Forgery kForgeries[] = {
    {"EpsilonLowered", [](ordered_json& j) { j["epsilon"] = epsilon_in(j) * (1 - 1e-6); },
     "but its events cost"},
    {"EpsilonNegative", [](ordered_json& j) { j["epsilon"] = -1; }, "but its events cost"},
    {"BothLowered", [](ordered_json& j) { j["epsilon"] = j["epsilon_of_events"] = epsilon_in(j) / 2; },
     "but its events cost"},
    {"EventRemoved", [](ordered_json& j) { j["events"].erase(1); }, "one is missing"},
    {"AllEventsRemoved", [](ordered_json& j) { j["events"].clear(); }, "one is missing"},
    {"CountLowered", [](ordered_json& j) { j["events"][0]["count"] = 699; }, "one is missing"},
    {"NoiseRaised", [](ordered_json& j) { j["events"][0]["mechanism"]["base"]["noise_multiplier"] = 1.2; },
     "or changed"},
    {"NoiseLowered", [](ordered_json& j) { j["events"][0]["mechanism"]["base"]["noise_multiplier"] = 1.0; },
     "but its events cost"},
    {"DeltaLowered", [](ordered_json& j) { j["delta"] = 1e-9; }, "but its events cost"},
    {"DeltaZero", [](ordered_json& j) { j["delta"] = 0; }, "expected 0 < delta < 1"},
    {"RelationChanged", [](ordered_json& j) { j["relation"] = "replace_one"; }, "cannot be certified"},
    {"AccountantApproximates",
     [](ordered_json& j) {
       j["accountant"] = "gdp";
       j["events"].erase(2);
     },
     "only approximates"},
    {"AccountantHasNoFilter",
     [](ordered_json& j) {
       j["accountant"] = "pld";
       j["spending_by"] = "outputs";
       j["events"].erase(2);
     },
     "is for plans fixed before"},
    {"SeededNoise", [](ordered_json& j) { j["random_source"] = "NOT PRIVATE: seeded noise"; }, "NOT PRIVATE"},
    {"BudgetLowered", [](ordered_json& j) { j["budget"]["epsilon"] = epsilon_in(j) / 2; },
     "was to stay within its budget"},
    {"UnitChanged", [](ordered_json& j) { j["unit_of_privacy"] = "one person"; },
     "it states that one person is protected"},
    {"ReservedTooLittle", [](ordered_json& j) { j["ledger"]["reserved_epsilon"] = 0.5; },
     "the ledger reserved"},
};

INSTANTIATE_TEST_SUITE_P(Verify, Forged, ::testing::ValuesIn(kForgeries),
                         [](const auto& test) { return test.param.name; });

// Whoever lowers it to what the events cost claims what no filter proves.
TEST(Verify, ARunThatChoseByItsOutputsStatesItsBudgetAndNothingElse) {
  const Certificate certificate = honest(SpendingBy::outputs);
  Certificate lowered = certificate;
  lowered.epsilon = lowered.epsilon_of_events;
  EXPECT_THAT(verify(lowered).problems, ElementsAre(HasSubstr("is certified for its budget of epsilon 3")));
  lowered = certificate;
  lowered.delta = 0.999e-5;
  lowered.epsilon_of_events = verify(lowered).epsilon;
  EXPECT_THAT(verify(lowered).problems, ElementsAre(HasSubstr("is certified for its budget of epsilon 3")));
}

// The text.

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(CertificateText, IsNarrow) {
  Certificate certificate = full();
  expect_narrow(to_text(certificate));
  certificate.secure_random = false;
  certificate.ledger.reset();
  certificate.relation = Relation::replace_one;
  certificate.epsilon_lower = 0.5;
  expect_narrow(to_text(certificate));
}

TEST(CertificateText, SaysLoudlyThatSeededNoiseIsNotPrivate) {
  Certificate certificate = honest();
  certificate.secure_random = false;
  certificate.ledger.reset();
  EXPECT_THAT(to_text(certificate), HasSubstr("\nNOT PRIVATE: the noise came from a seed"));
  EXPECT_THAT(to_text(certificate), HasSubstr("Ledger          no ledger"));
}

TEST(CertificateText, ALongListOfEventsIsCutAndSaysSo) {
  std::vector<Event> many;
  for (int i = 0; i < 100; ++i) many.push_back(Event::gaussian(100 + i));
  const Certificate certificate =
      certify(Event::composed(many), Relation::add_remove, Accountant::rdp, {3, 1e-5}, SpendingBy::plan);
  EXPECT_THAT(to_text(certificate), HasSubstr("... and 60 more kinds; the JSON form lists them all"));
  EXPECT_EQ(json_of(certificate).at("events").size(), 100u);
}

TEST(CertificateText, ReadsLikeThis) {
  Certificate certificate = certify(Event::repeated(Event::gaussian(50), 100), Relation::add_remove,
                                    Accountant::zcdp, {1, 1e-5}, SpendingBy::outputs);
  certificate.secure_random = true;
  certificate.data_hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  certificate.assumed_public = {"feature bounds and categories, from schema.toml",
                                "the number of rows, 48842"};
  certificate.not_covered = {"accuracy on the training rows, asked for with --unsafe-diagnostics"};
  certificate.ledger = LedgerEntry{"budget.db", 7, {1, 1e-5}};
  certificate.version = "1.2.3";
  certificate.instruction_set = "avx2";
  certificate.data = "adult.csv";
  certificate.model = "logistic";
  certificate.date = "2026-01-31T12:00:00Z";
  certificate.files = {{"model.json", std::string(64, 'a')}};
  certificate.cautions = {"rows are few"};
  EXPECT_EQ(to_text(certificate), R"(PRIVACY CERTIFICATE
===================

Guarantee       epsilon 1, delta 1e-05

Meaning         The probability of any conclusion drawn from this run's results
                is at most 2.72 times what it would be if one row had been left
                out of the data or added to it, plus 1e-05.

Limits          This does not mean that nothing can be learned about a person.
                What is true of people in general can be learned whether or not
                a person is in the data. A person with several rows is protected
                less. Other uses of the same data add to what is stated here.

CAUTION         rows are few

Protects        one row, and nothing larger: this is event-level privacy, which
                "protects events (or dataset rows), not individuals" (NIST SP
                800-226)
Neighbours      add_remove: data sets that differ by one added or removed row
Several rows    2 rows of one person: epsilon 2.13896, delta 1e-05
                5 rows of one person: epsilon 6.04297, delta 1e-05
                10 rows of one person: epsilon 13.9336, delta 1e-05
                by zCDP: k^2 rho [BunSteinke16, Prop. 1.9]
Accounting      accountant zcdp: all releases together cost epsilon 0.794315.
                The run chose its releases along the way, so its whole budget is
                guaranteed.

Releases        100 x Gaussian(noise 50)

Assumed public  feature bounds and categories, from schema.toml
                the number of rows, 48842
Not covered     accuracy on the training rows, asked for with
                --unsafe-diagnostics

Random source   secure (cryptographic, keyed by the operating system)
Budget          epsilon 1, delta 1e-05
Ledger          budget.db, run 7, reserved epsilon 1, delta 1e-05
Data            adult.csv
Data hash       ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
Model           logistic
Files, SHA-256  model.json
                aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
Made            2026-01-31T12:00:00Z
Version         ration 1.2.3 (avx2)
)");
}

}  // namespace
}  // namespace ration::testing
