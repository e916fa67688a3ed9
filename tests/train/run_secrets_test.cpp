// What a run's folder gives away about its rows, and what in it cannot be changed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/data_hash.h"
#include "support/environment.h"
#include "support/small_table.h"
#include "train/runs.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Cut : std::runtime_error {
  Cut() : std::runtime_error("cut") {}
};

// Dies, or stops, after some steps.
class AfterSteps final : public Observer {
 public:
  AfterSteps(std::int64_t steps, std::function<void()> act) : left_(steps), act_(std::move(act)) {}
  void on_step(const Progress&) override {
    if (--left_ == 0) act_();
  }

 private:
  std::int64_t left_;
  std::function<void()> act_;
};

class RunSecrets : public ::testing::TestWithParam<bool> {
 protected:
  bool has_ledger() const { return GetParam(); }

  Plan plan(const std::string& method = "dpsgd") const {
    Plan plan;
    plan.method = method;
    plan.data = files_.data();
    plan.schema = files_.schema();
    plan.rows = CensusFiles::kRows;
    plan.epsilon = 1;
    plan.delta = 1e-4;
    if (method == "dpsgd") plan.steps = 20;
    if (!has_ledger()) return plan;
    if (!exists(files_.ledger())) files_.make_ledger({10, 1e-3});
    plan.ledger = files_.ledger();
    return plan;
  }
  RunOutcome go(const Plan& plan) { return train(plan, {.out = files_.run(), .threads = 1}, random_); }
  RunOutcome resume() { return resume_run({.out = files_.run(), .threads = 1}, random_); }
  void cut_off(const Plan& plan) {
    AfterSteps observer(3, [] { throw Cut(); });
    EXPECT_THROW(train(plan, {.out = files_.run(), .threads = 1, .observers = {&observer}}, random_), Cut);
  }
  void stop(const Plan& plan) {
    std::atomic<bool> now{false};
    AfterSteps observer(3, [&] { now = true; });
    EXPECT_FALSE(
        train(plan, {.out = files_.run(), .threads = 1, .observers = {&observer}, .stop = &now}, random_)
            .finished);
  }
  std::string state_file() const { return files_.run() + "/checkpoint/state.json"; }
  void change_state(const std::function<void(json&)>& change) {
    json state = json::parse(read_whole_file(state_file()));
    change(state);
    files_.write("run/checkpoint/state.json", state.dump() + "\n");
  }
  // All that lies in the run's folder, one after the other.
  std::string everything() const {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(files_.run()))
      if (entry.is_regular_file()) all += read_whole_file(entry.path().string());
    return all;
  }

  CensusFiles files_;
  SecureRandom& random_ = SecureRandom::for_this_thread();
};
INSTANTIATE_TEST_SUITE_P(With, RunSecrets, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "ALedger" : "NoLedger"; });

// --- checkpoints

// A method that chooses as it goes, cut off: what it spent is not known, and no editor makes it known.
TEST_P(RunSecrets, AtWorkCannotBeTakenBackByHand) {
  cut_off(plan("blsgd"));
  change_state([](json& state) { state["at_work"] = false; });
  EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("state.json: was changed since it was written"));
  change_state([](json& state) { state.erase("at_work"); });
  EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("state.json: was changed since it was written"));
  change_state([](json& state) { state.erase("seal"); });
  EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("state.json: was changed since it was written"));
  change_state([](json& state) { state["version"] = 1; });
  EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("expected a ration checkpoint of version 2"));
  EXPECT_FALSE(exists(files_.run() + "/model.json"));
}

TEST_P(RunSecrets, StepsThatArePaidForCannotBeTakenBackByHand) {
  cut_off(plan());
  change_state([](json& state) { state["charged"] = 0; });
  EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("was changed since it was written"));
}

TEST_P(RunSecrets, AnUntouchedCheckpointGoesOn) {
  stop(plan("blsgd"));
  EXPECT_TRUE(resume().finished);
}

// The user's key counts where there is no ledger, and only there.
TEST_P(RunSecrets, ForAnotherUserARunGoesOnByItsLedgerOnly) {
  stop(plan());
  const TemporaryFolder other;
  const Variable state("XDG_STATE_HOME", other.path().c_str());
  if (has_ledger()) {
    EXPECT_TRUE(resume().finished);
  } else {
    EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("without a ledger only for the user who began it"));
  }
}

TEST_P(RunSecrets, WithoutAHomeARunEndsButCannotBeResumed) {
  const Variable state("XDG_STATE_HOME", nullptr);
  const Variable home("HOME", nullptr);
  stop(plan());
  if (has_ledger()) {
    EXPECT_TRUE(resume().finished);
    return;
  }
  EXPECT_THAT(refusal([&] { resume(); }), HasSubstr("there is no key"));
  fs::remove_all(files_.run());
  EXPECT_TRUE(go(plan()).finished);
  EXPECT_FALSE(exists(files_.run() + "/private-rows.json"));
}

// --- which rows they were

TEST_P(RunSecrets, NothingInTheFolderConfirmsAGuessOfTheRows) {
  stop(plan());
  EXPECT_THAT(everything(), Not(HasSubstr(files_.hash())));
  ASSERT_TRUE(resume().finished);
  EXPECT_THAT(everything(), Not(HasSubstr(files_.hash())));
  const Certificate certificate = certificate_in(files_.run());
  EXPECT_THAT(certificate.not_covered, Not(Contains(HasSubstr("data hash"))));
  if (has_ledger()) {
    EXPECT_EQ(certificate.data_hash, "hmac-sha256 " + Ledger(files_.ledger()).fingerprint(files_.hash()));
  } else {
    EXPECT_EQ(certificate.data_hash, "");
  }
}

TEST_P(RunSecrets, TheHashOfTheRowsIsThereIfAskedForAndSaysWhatThatMeans) {
  Plan asked = plan();
  asked.data_hash = true;
  const Certificate certificate = go(asked).certificate;
  EXPECT_EQ(certificate.data_hash, files_.hash());
  EXPECT_THAT(certificate.not_covered,
              Contains(HasSubstr("the data hash: anyone who knows all rows but one")));
}

TEST_P(RunSecrets, ACertificateCanBeHeldAgainstAFile) {
  const std::string stated = go(plan()).certificate.data_hash;
  const std::string other = files_.write("other.csv", "age\n17\n");
  EXPECT_EQ(data::same_data(stated, files_.data(), nullptr), std::nullopt);
  if (!has_ledger()) return;
  const Ledger ledger = Ledger::open_to_read(files_.ledger());
  EXPECT_EQ(data::same_data(stated, files_.data(), &ledger), true);
  EXPECT_EQ(data::same_data(stated, other, &ledger), false);
  const Ledger foreign = Ledger::open_or_create(files_.path() + "/foreign.db");
  EXPECT_EQ(data::same_data(stated, files_.data(), &foreign), false);
  EXPECT_EQ(data::fingerprint_in(stated), ledger.runs().at(0).data_hash);
  EXPECT_EQ(data::same_data(files_.hash(), files_.data(), nullptr), true);
  EXPECT_EQ(data::same_data(files_.hash(), other, nullptr), false);
}

}  // namespace
}  // namespace ration::testing
