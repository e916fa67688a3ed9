// l2p in a plan: which protector, which sampling, and what a run does with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "methods/protector/protectors.h"
#include "ration/train/fit.h"
#include "support/doubles.h"
#include "support/small_table.h"
#include "train/runs.h"
#include "train/shipped_protectors.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class Learned : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const Protector& protector) const {
    return files_.write(name, to_json(protector));
  }
  Plan plan(const std::string& method = "l2p") const {
    Plan plan;
    plan.data = files_.data();
    plan.schema = files_.schema();
    plan.rows = CensusFiles::kRows;
    plan.epsilon = 1;
    plan.delta = 1e-6;
    plan.method = method;
    plan.protector = path_;
    return plan;
  }

  CensusFiles files_;
  Protector protector_ = untrained_protector(1);
  std::string path_ = write("a.protector", protector_);
};

std::string refused(const Plan& plan) {
  return refusal([&] { resolve(plan); });
}

// --- what a plan becomes

TEST_F(Learned, WhatIsOpenIsTheProtectors) {
  Protector other = protector_;
  other.origin.steps = 17;
  other.origin.clip_bound = 2.5;
  Plan open = plan();
  open.protector = write("b.protector", other);
  const ResolvedPlan resolved = resolve(open);
  EXPECT_EQ(resolved.plan.expected_steps, 17);
  EXPECT_EQ(resolved.plan.clip_bound, 2.5);
  EXPECT_EQ(resolved.plan.sampling, "full");
  EXPECT_EQ(resolved.accountant, Accountant::gdp);
  EXPECT_EQ(resolved.relation, Relation::add_remove);
  ASSERT_NE(resolved.protector(), nullptr);
  EXPECT_EQ(*resolved.protector(), other);
  Plan other_method = plan("dpsgd");
  EXPECT_THAT(refused(other_method), HasSubstr("plan: protector: method dpsgd does not use it"));
  other_method.protector.clear();
  EXPECT_EQ(resolve(other_method).protector(), nullptr);
}

TEST_F(Learned, BatchesAreOfAFixedSize) {
  Plan sampled = plan();
  sampled.rate = 0.1;
  const ResolvedPlan resolved = resolve(sampled);
  EXPECT_EQ(resolved.plan.sampling, "fixed");
  EXPECT_EQ(resolved.fixed_size, 30u);
  EXPECT_EQ(resolved.relation, Relation::replace_one);
  EXPECT_EQ(resolved.accountant, Accountant::rdp);
  sampled.rate.reset();
  sampled.sampling = "fixed";
  EXPECT_EQ(resolve(sampled).rate, 0.1);
  sampled.sampling = "poisson";
  EXPECT_THAT(refused(sampled),
              AllOf(HasSubstr("l2p"), HasSubstr("expected sampling full or fixed, got poisson")));
}

// [L2P, Alg. 3] chooses the rate; a rate of one's own that breaks a condition is refused by name.
TEST_F(Learned, UnderTcdpTheRateIsAlgorithm3s) {
  Plan paper = plan();
  paper.sampling = "fixed";
  paper.accountant = "tcdp";
  paper.rows = 20'000;
  paper.epsilon = 0.05;
  paper.delta = 1e-8;
  paper.expected_steps = 100;
  const ResolvedPlan resolved = resolve(paper);
  EXPECT_EQ(resolved.rate, protector_rate(protector_, {0.05, 1e-8}, 100, 20'000));
  EXPECT_EQ(resolved.accountant, Accountant::tcdp);
  paper.rate = 0.2;
  EXPECT_THAT(refused(paper), HasSubstr("q_range: expected 0 < q <= 0.1, got q = 0.2"));
  paper.rate = 0.005;
  paper.expected_steps = 3;
  EXPECT_THAT(refused(paper), HasSubstr("rho_vs_omega: expected rho < ln(1/q)/(4 omega_a) = "));
  paper.rate.reset();
  paper.rows.reset();
  EXPECT_THAT(refused(paper), HasSubstr("sampling fixed needs rows"));
}

TEST_F(Learned, AReleasedNormMakesTheNumberOfRowsPublic) {
  Plan norm = plan();
  norm.protector = write("n.protector", untrained_protector(2, {.norm = NormSource::released}));
  EXPECT_EQ(resolve(norm).relation, Relation::replace_one);
  norm.relation = "add_remove";
  EXPECT_THAT(refused(norm), HasSubstr("asks for the norm of a sum over a public number of rows"));
  norm.method = "l2p-proj";  // does not ask
  EXPECT_EQ(resolve(norm).relation, Relation::add_remove);
}

TEST_F(Learned, AProjectorAloneIsNotL2p) {
  Plan alone = plan();
  alone.protector = write("p.protector", untrained_protector(3, {.scheduler = false}));
  EXPECT_THAT(refused(alone), AllOf(HasSubstr("p.protector has no scheduler"), HasSubstr("l2p-proj")));
  alone.method = "l2p-proj";
  EXPECT_EQ(refused(alone), "");
}

TEST_F(Learned, WhatCannotBeIsRefused) {
  Plan one = plan();
  one.noise = 3;
  EXPECT_THAT(refused(one), HasSubstr("plan: noise: method l2p chooses its own noise"));
  one = plan();
  one.accountant = "pld";
  EXPECT_NE(refused(one), "");
  one = plan();
  one.clip = "adaptive";
  EXPECT_THAT(refused(one), HasSubstr("does not go with clip adaptive"));
  one = plan();
  one.protector = files_.path() + "/none.protector";
  EXPECT_THAT(refused(one), HasSubstr("none.protector"));
  one = plan();
  one.protector = files_.write("bad.protector", to_json(protector_).substr(0, 1000));
  EXPECT_THAT(refused(one), HasSubstr("bad.protector: not a protector"));
  one = plan();
  one.epsilon.reset();
  EXPECT_THAT(refused(one), HasSubstr("epsilon is needed"));
}

TEST_F(Learned, InAPlanFileItIsBesideIt) {
  const Plan read = read_plan(files_.write("plan.toml", "method = \"l2p\"\nprotector = \"a.protector\"\n"));
  EXPECT_EQ(read.protector, path_);
}

// --- a run

TEST_F(Learned, ARunKeepsItsProtectorAndIsCertifiedWithIt) {
  SeededRandom random(1);
  const RunOutcome outcome = train(plan(), {.out = files_.run()}, random);
  ASSERT_TRUE(outcome.finished);
  expect_finished(files_.run());
  EXPECT_EQ(read_protector(files_.run() + "/learned.protector"), protector_);
  EXPECT_EQ(outcome.certificate.epsilon, 1);
  EXPECT_THAT(outcome.certificate.assumed_public,
              Contains(AllOf(HasSubstr("the protector with sha256 " + sha256_of(protector_)),
                             HasSubstr("made without these rows"), HasSubstr("quadratic tasks"))));
  EXPECT_GT(outcome.certificate.epsilon_of_events, 0.98);
}

TEST_F(Learned, AStoppedRunGoesOnWithItsOwnCopy) {
  files_.make_ledger({2, 1e-5});
  Plan with_ledger = plan();
  with_ledger.ledger = files_.ledger();
  std::atomic<bool> stop{true};
  EXPECT_FALSE(
      train(with_ledger, {.out = files_.run(), .stop = &stop}, SecureRandom::for_this_thread()).finished);
  std::filesystem::remove(path_);
  const std::string copy = read_whole_file(files_.run() + "/learned.protector");
  files_.write("run/learned.protector", to_json(untrained_protector(77)));
  EXPECT_THAT(refusal([&] { resume_run({.out = files_.run()}, SecureRandom::for_this_thread()); }),
              HasSubstr("learned.protector was changed since the run began"));
  files_.write("run/learned.protector", copy);
  EXPECT_TRUE(resume_run({.out = files_.run()}, SecureRandom::for_this_thread()).finished);
  expect_finished(files_.run());
  expect_sound(files_.run(), files_);
  EXPECT_NEAR(Ledger(files_.ledger()).state(files_.hash()).spent.epsilon, 1, 1e-9);
}

// [L2P, Thm 4.1] needs them to be independent. No row is read, and the ledger keeps its budget.
TEST_F(Learned, AProtectorThatHasSeenTheRowsIsRefused) {
  files_.make_ledger({2, 1e-5});
  Protector seen = protector_;
  seen.origin.data_hashes = {files_.hash()};
  Plan same = plan();
  same.protector = write("seen.protector", seen);
  same.ledger = files_.ledger();
  for (const char* const method : {"l2p", "l2p-proj"}) {
    same.method = method;
    bool was_read = false;
    const TableReader read = [&](const std::string& path, const data::Schema& schema) {
      was_read = true;
      return data::read_table(path, schema);
    };
    EXPECT_THAT(
        refusal([&] { train(same, {.out = files_.run(), .read = read}, SecureRandom::for_this_thread()); }),
        HasSubstr("trained on these very rows"));
    EXPECT_FALSE(was_read);
  }
  EXPECT_FALSE(exists(files_.run()));
  EXPECT_EQ(Ledger(files_.ledger()).state(files_.hash()).spent.epsilon, 0);
}

// Under every accountant and sampling, the run ends within its budget and its certificate holds.
TEST_F(Learned, EveryWayToAccountIsCertified) {
  struct Way {
    const char* sampling;
    const char* accountant;
    const char* relation;
  };
  for (const Way& way : {Way{"full", "gdp", "add_remove"}, Way{"full", "zcdp", "replace_one"},
                         Way{"full", "rdp", "add_remove"}, Way{"full", "tcdp", "add_remove"},
                         Way{"fixed", "rdp", "replace_one"}}) {
    SCOPED_TRACE(way.accountant);
    Plan one = plan();
    one.sampling = way.sampling;
    one.accountant = way.accountant;
    one.relation = way.relation;
    const Fitted fitted = fit(one, data::census_schema(), data::census_table(CensusFiles::kRows, 1));
    EXPECT_TRUE(verify(fitted.certificate).holds());
    EXPECT_GT(fitted.certificate.epsilon_of_events, 0.9);
  }
}

// --- those that come with the program

class Shipped : public Learned {
 protected:
  void SetUp() override {
    const auto ship = [&](const std::string& name, const std::string& model, double epsilon, double delta) {
      Protector one = untrained_protector(1);
      one.origin.model = model;
      one.origin.epsilon = epsilon;
      one.origin.delta = delta;
      write(name + ".protector", one);
    };
    std::filesystem::remove(path_);
    ship("small", "logistic", 0.05, 1e-8);
    ship("large", "logistic", 0.8, 1e-8);
    ship("hinge", "hinge", 0.2, 1e-8);
    setenv("RATION_PROTECTORS", files_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("RATION_PROTECTORS"); }
};

TEST_F(Shipped, TheNearestBudgetIsTaken) {
  EXPECT_THAT(shipped_protector("logistic", {0.01, 1e-8}), EndsWith("small.protector"));
  EXPECT_THAT(shipped_protector("logistic", {0.1, 1e-8}), EndsWith("small.protector"));
  EXPECT_THAT(shipped_protector("logistic", {0.4, 1e-8}), EndsWith("large.protector"));
  EXPECT_THAT(shipped_protector("logistic", {0.18, 1e-4}), EndsWith("large.protector"));  // worth more noise
  EXPECT_THAT(shipped_protector("hinge", {8, 1e-8}), EndsWith("hinge.protector"));
  EXPECT_THAT(shipped_protector("huber", {8, 1e-8}), EndsWith("hinge.protector"));
  Plan open = plan();
  open.protector.clear();
  EXPECT_THAT(resolve(open).plan.protector, EndsWith("large.protector"));
}

TEST_F(Shipped, AModelWithoutOneIsRefused) {
  Plan open = plan();
  open.protector.clear();
  open.model = "softmax";
  EXPECT_THAT(refused(open), AllOf(HasSubstr("none for model softmax"), HasSubstr("only for hinge, logistic"),
                                   HasSubstr("--protector")));
}

TEST_F(Shipped, NoneAtAllSaysWhereItLooked) {
  const TemporaryFolder empty;
  setenv("RATION_PROTECTORS", empty.path().c_str(), 1);
  EXPECT_THAT(refusal([] {
                shipped_protector("logistic", {1, 1e-6});
              }),
              AllOf(HasSubstr("looked in " + empty.path()), HasSubstr("RATION_PROTECTORS")));
}

// What lies in protectors/ serves both models at any budget, and knows no data.
TEST(ShippedProtectors, KnowNoData) {
  for (const char* const loss : {"logistic", "hinge"}) {
    for (const double epsilon : {0.0125, 0.2, 8.0}) {
      const Protector protector = read_protector(shipped_protector(loss, {epsilon, 1e-8}));
      EXPECT_EQ(protector.origin.model, loss);
      EXPECT_EQ(protector.origin.tasks, "generated tables");
      EXPECT_TRUE(protector.origin.data_hashes.empty());
      EXPECT_LT(protector.origin.validation_loss, protector.origin.untrained_loss);
    }
  }
}

}  // namespace
}  // namespace ration::testing
