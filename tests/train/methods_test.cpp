// Every method by name: what it is planned as, what it learns, and what is promised for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ration/base/error.h"
#include "ration/data/census.h"
#include "ration/train/fit.h"
#include "support/doubles.h"
#include "support/small_table.h"
#include "train/runs.h"
#include "train/verify_run.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kRows = 8'000;
constexpr double kMajority = 0.757;  // of the made-up census, about

Plan plan_by(const std::string& method) {
  Plan plan;
  plan.method = method;
  plan.rows = kRows;
  plan.epsilon = 4;
  plan.delta = 1e-6;
  return plan;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Recipe& one : recipes()) all.emplace_back(to_string(one.method));
  return all;
}

std::string as_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class EveryMethod : public ::testing::TestWithParam<std::string> {
 protected:
  bool is_private() const { return GetParam() != "nonprivate"; }
  // Those that have no signal to lose: a constant, and one that is only kept for comparison.
  double expected_accuracy() const {
    return GetParam() == "majority" || GetParam() == "privgene" ? kMajority - 0.03 : kMajority + 0.02;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, EveryMethod, ::testing::ValuesIn(names()), as_test_name);

TEST_P(EveryMethod, LearnsTheCensusWithinItsBudget) {
  SeededRandom random(7);
  const Fitted fitted = fit(plan_by(GetParam()), data::census_schema(), data::census_table(kRows, 1), random);
  EXPECT_GT(*evaluate_public(fitted.model, data::census_table(4'000, 2)).accuracy, expected_accuracy());
  if (!is_private()) return;
  EXPECT_LE(fitted.certificate.epsilon, 4);
  EXPECT_LE(fitted.certificate.epsilon_of_events, 4 * (1 + 1e-9));
  EXPECT_FALSE(fitted.certificate.events.empty());
}

// What the certificate lists adds up to what it says, and the promise is the whole budget unless the plan was
// fixed.
TEST_P(EveryMethod, IsCertifiedForWhatItAsked) {
  const Fitted fitted = fit(plan_by(GetParam()), data::census_schema(), data::census_table(kRows, 1));
  const Verification found = verify(fitted.certificate);
  EXPECT_EQ(found.holds(), is_private());
  if (!is_private()) {
    EXPECT_THAT(found.problems.at(0), HasSubstr("NOT PRIVATE"));
    return;
  }
  const bool adaptive = fitted.plan.fixed() == nullptr;
  EXPECT_EQ(fitted.certificate.spending_by, adaptive ? SpendingBy::outputs : SpendingBy::plan);
  if (adaptive) {
    EXPECT_EQ(fitted.certificate.epsilon, 4);
    EXPECT_GT(fitted.certificate.epsilon_of_events, 3);  // little is left unused
  }
}

TEST_P(EveryMethod, ResolvesToAFixedPoint) {
  const ResolvedPlan once = resolve(plan_by(GetParam()));
  const ResolvedPlan twice = resolve(once.plan);
  EXPECT_EQ(to_toml(twice.plan), to_toml(once.plan));
  EXPECT_EQ(twice.event().describe(), once.event().describe());
  EXPECT_EQ(parse_plan(to_toml(once.plan)), once.plan);
}

TEST_P(EveryMethod, CountsTheRowsFirstIfNobodyDeclaresThem) {
  Plan plan = plan_by(GetParam());
  plan.rows.reset();
  const ResolvedPlan resolved = resolve(plan);
  const bool counts = is_private() && resolved.relation == Relation::add_remove;
  EXPECT_EQ(resolved.count_noise.has_value(), counts);
  const Fitted fitted = fit(plan, data::census_schema(), data::census_table(kRows, 1));
  if (!counts) return;
  EXPECT_TRUE(verify(fitted.certificate).holds());
  EXPECT_EQ(fitted.certificate.events.at(0).event.describe(),
            Event::gaussian(*resolved.count_noise).describe());
}

class MethodRun : public ::testing::TestWithParam<std::string> {
 protected:
  Plan plan() const {
    Plan plan = plan_by(GetParam());
    plan.data = files_.data();
    plan.schema = files_.schema();
    plan.rows = CensusFiles::kRows;
    return plan;
  }
  RunOptions options() const { return {.out = files_.run(), .threads = 1}; }

  CensusFiles files_;
  SecureRandom& random_ = SecureRandom::for_this_thread();
};
INSTANTIATE_TEST_SUITE_P(Each, MethodRun, ::testing::ValuesIn(names()), as_test_name);

TEST_P(MethodRun, LeavesAFolderThatHolds) {
  const RunOutcome outcome = train(plan(), options(), random_);
  EXPECT_TRUE(outcome.finished);
  expect_finished(files_.run());
  const Certificate certificate = certificate_in(files_.run());
  EXPECT_EQ(verify(certificate).holds(), GetParam() != "nonprivate");
  if (GetParam() != "nonprivate") {
    EXPECT_THAT(verify_run(files_.run(), {}).problems, ::testing::IsEmpty());
  }
  EXPECT_EQ(to_json(certificate), to_json(outcome.certificate));
}

TEST_P(MethodRun, IsChargedToALedgerInFull) {
  Plan with = plan();
  with.ledger = files_.ledger();
  with.relation = resolve(plan()).relation;
  files_.make_ledger({10, 1e-3}, with.relation.value());
  if (GetParam() == "nonprivate") {
    EXPECT_THAT(refusal([&] { train(with, options(), random_); }), HasSubstr("NOT PRIVATE"));
    return;
  }
  const RunOutcome outcome = train(with, options(), random_);
  EXPECT_GE(Ledger(files_.ledger()).state(files_.hash()).spent.epsilon, outcome.certificate.epsilon);
  const RunVerification found = verify_run(files_.run());
  EXPECT_THAT(found.problems, ::testing::IsEmpty());
  EXPECT_THAT(found.checked, ::testing::Contains("the ledger"));
}

// --- methods that choose as they go

struct Cut : std::runtime_error {
  Cut() : std::runtime_error("cut off") {}
};

class ActAtStep final : public Observer {
 public:
  ActAtStep(std::int64_t step, std::function<void()> act) : step_(step), act_(std::move(act)) {}
  void on_step(const Progress& progress) override {
    last = progress;
    if (progress.step.step == step_) act_();
  }
  Progress last{};

 private:
  std::int64_t step_;
  std::function<void()> act_;
};

class AdaptiveRun : public MethodRun {
 protected:
  RunOutcome stop_after(std::int64_t steps) {
    std::atomic<bool> stop{false};
    ActAtStep observer(steps, [&] { stop = true; });
    RunOptions with = options();
    with.observers = {&observer};
    with.stop = &stop;
    return train(plan(), with, random_);
  }
};
INSTANTIATE_TEST_SUITE_P(Each, AdaptiveRun, ::testing::Values("blsgd", "blsgd-ac", "blgd", "agd"),
                         as_test_name);

TEST_P(AdaptiveRun, StoppedGoesOnWithWhatItHasSpent) {
  const RunOutcome stopped = stop_after(3);
  ASSERT_FALSE(stopped.finished);
  const Checkpoint checkpoint = checkpoint_in(files_.run());
  EXPECT_FALSE(checkpoint.at_work);
  ASSERT_TRUE(checkpoint.training.released);
  std::int64_t before = 0;
  for (const CountedEvent& one : flatten(*checkpoint.training.released)) before += one.count;
  EXPECT_GE(before, 6);  // at least a gradient and a search each

  const RunOutcome resumed = resume_run(options(), random_);
  EXPECT_TRUE(resumed.finished);
  EXPECT_GT(resumed.steps, 3);
  std::int64_t events = 0;
  for (const CountedEvent& one : resumed.certificate.events) events += one.count;
  EXPECT_GT(events, before);
  EXPECT_LE(resumed.certificate.epsilon_of_events, 4 * (1 + 1e-9));
  EXPECT_TRUE(verify(resumed.certificate).holds());
}

TEST_P(AdaptiveRun, KilledCannotGoOnAndStaysCharged) {
  Plan with = plan();
  with.ledger = files_.ledger();
  files_.make_ledger({10, 1e-3});
  ActAtStep observer(3, [] { throw Cut(); });
  RunOptions watched = options();
  watched.observers = {&observer};
  EXPECT_THROW(train(with, watched, random_), Cut);
  EXPECT_THAT(refusal([&] { resume_run(options(), random_); }), HasSubstr("nobody knows what it spent"));
  EXPECT_EQ(Ledger(files_.ledger()).state(files_.hash()).spent.epsilon, 4);
}

TEST_P(AdaptiveRun, HasNoFixedNumberOfStepsAndNoNoiseOfItsOwn) {
  EXPECT_EQ(resolve(plan()).steps(), 0);
  Plan with_noise = plan();
  with_noise.noise = 1;
  EXPECT_THAT(refusal([&] { resolve(with_noise); }),
              HasSubstr("plan: noise: method " + GetParam() + " chooses its own noise; leave it out"));
  for (const std::string accountant : {"pld", "advanced", "moments"}) {
    Plan fixed_only = plan();
    fixed_only.accountant = accountant;
    EXPECT_NE(refusal([&] { resolve(fixed_only); }), "") << accountant;
  }
}

// --- what some of them need

TEST(MethodSettings, PerturbationIsRefusedWhereItsProofFails) {
  const auto refused = [](const std::string& method, auto&& change) {
    Plan plan = plan_by(method);
    change(plan);
    return refusal([&] { resolve(plan); });
  };
  for (const std::string method : {"objpert", "outpert-gd", "outpert-rsgd", "bolton"}) {
    EXPECT_THAT(refused(method,
                        [](Plan& plan) {
                          plan.model = "hinge";
                          plan.rows = 500;
                        }),
                HasSubstr("hinge"))
        << method;
  }
  EXPECT_THAT(refused("bolton", [](Plan& plan) { plan.relation = "add_remove"; }), HasSubstr("replace_one"));
  EXPECT_THAT(refused("objpert", [](Plan& plan) { plan.model = "softmax"; }), HasSubstr("one output"));
  EXPECT_THAT(refused("outpert-gd", [](Plan& plan) { plan.model = "squared"; }), HasSubstr("bounded slopes"));
  EXPECT_THAT(refused("majority", [](Plan& plan) { plan.model = "squared"; }), HasSubstr("classes"));
  EXPECT_THAT(refused("objpert",
                      [](Plan& plan) {
                        plan.rate = 0.1;
                        plan.rows = 500;
                      }),
              HasSubstr("all rows"));
}

TEST(MethodSettings, RowsAreShortenedToTheBoundAndTheModelKnowsIt) {
  const Fitted fitted = fit(plan_by("objpert"), data::census_schema(), data::census_table(kRows, 1));
  EXPECT_EQ(fitted.model.schema.max_row_norm, 1);
  EXPECT_THAT(fitted.certificate.assumed_public,
              ::testing::Contains(HasSubstr("at most twice as many rows")));
}

TEST(MethodSettings, MajorityNeedsTheBias) {
  data::Schema schema = data::census_schema();
  schema.bias = false;
  EXPECT_THAT(refusal([&] { fitted_to(resolve(plan_by("majority")).plan, schema); }), HasSubstr("bias"));
}

TEST(MethodSettings, AnUnknownMethodIsRefusedWithTheList) {
  EXPECT_THAT(
      refusal([] { plan_by("dpsdg"); }),
      AllOf(HasSubstr("method: expected one of auto, dpsgd, sgd-adv"), HasSubstr("did you mean 'dpsgd'?")));
}

}  // namespace
}  // namespace ration::testing
