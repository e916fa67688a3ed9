#include "ration/train/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "support/doubles.h"
#include "support/plans.h"
#include "train/runs.h"
#include "train/verify_run.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kEpsilon = 1;
constexpr double kDelta = 1e-4;
constexpr std::int64_t kSteps = 40;

// What is said on refusing; "" if nothing is refused.
template <class Error, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Looks at every step, and does what a test wants at one of them.
class AtStep final : public Observer {
 public:
  explicit AtStep(std::int64_t step, std::function<void()> act = {}) : step_(step), act_(std::move(act)) {}
  void on_step(const Progress& progress) override {
    ++seen;
    last = progress;
    if (seen == step_ && act_) act_();
  }

  std::int64_t seen = 0;
  Progress last{};

 private:
  std::int64_t step_;
  std::function<void()> act_;
};

struct Crash : std::runtime_error {
  Crash() : std::runtime_error("crash") {}
};
void crash() {
  throw Crash();
}

class TrainingRun : public ::testing::Test {
 protected:
  Plan plan() const {
    Plan plan;
    plan.method = "dpsgd";
    plan.data = files_.data();
    plan.schema = files_.schema();
    plan.rows = CensusFiles::kRows;
    plan.epsilon = kEpsilon;
    plan.delta = kDelta;
    plan.steps = kSteps;
    plan.checkpoint_every = 10;
    return plan;
  }
  Plan plan_with_ledger(double total = 1) const {
    files_.make_ledger({total, kDelta * total});
    Plan with = plan();
    with.ledger = files_.ledger();
    return with;
  }

  // Reads as always, and counts.
  TableReader counting_reader() {
    return [this](const std::string& path, const data::Schema& schema) {
      ++reads_;
      return data::read_table(path, schema);
    };
  }
  RunOptions options(const std::string& name = "run") {
    return {.out = files_.run(name), .threads = 1, .read = counting_reader()};
  }

  RunOutcome train_now(const Plan& plan, const RunOptions& with) { return train(plan, with, random_); }
  RunOutcome resume_now(const std::string& name = "run") { return resume_run(options(name), random_); }

  // Takes `steps` steps and dies.
  void crash_after(std::int64_t steps, const Plan& plan, const std::string& name = "run") {
    AtStep observer(steps, crash);
    RunOptions with = options(name);
    with.observers = {&observer};
    EXPECT_THROW(train_now(plan, with), Crash);
  }
  // The same, asked politely.
  RunOutcome stop_after(std::int64_t steps, const Plan& plan, const std::string& name = "run") {
    std::atomic<bool> stop{false};
    AtStep observer(steps, [&] { stop = true; });
    RunOptions with = options(name);
    with.observers = {&observer};
    with.stop = &stop;
    return train_now(plan, with);
  }
  void stop_after_resuming(std::int64_t steps, const std::string& name = "run") {
    std::atomic<bool> stop{false};
    AtStep observer(steps, [&] { stop = true; });
    RunOptions with = options(name);
    with.observers = {&observer};
    with.stop = &stop;
    EXPECT_FALSE(resume_run(with, random_).finished);
  }
  void copy_run(const std::string& from, const std::string& to) const {
    fs::copy(files_.run(from), files_.run(to), fs::copy_options::recursive);
  }

  double charged() const { return Ledger(files_.ledger()).state(files_.hash()).spent.epsilon; }
  RunStatus status() const { return Ledger(files_.ledger()).runs().at(0).status; }

  std::int64_t events_of(const Certificate& certificate) const {
    std::int64_t events = 0;
    for (const CountedEvent& one : certificate.events) events += one.count;
    return events;
  }

  void expect_nothing_left(const std::string& name = "run") const {
    EXPECT_FALSE(exists(files_.run(name))) << "a folder was left";
  }

  CensusFiles files_;
  SecureRandom& random_ = SecureRandom::for_this_thread();
  int reads_ = 0;
};

// --- order

TEST_F(TrainingRun, LeavesAWholeFolderAndACertificateThatHolds) {
  const RunOutcome outcome = train_now(plan_with_ledger(), options());
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.steps, kSteps);
  EXPECT_EQ(reads_, 1);
  expect_finished(files_.run());
  expect_sound(files_.run(), files_);
  EXPECT_EQ(events_of(certificate_in(files_.run())), kSteps);
  EXPECT_EQ(read_model(files_.run()).weights, outcome.model.weights);
  EXPECT_EQ(status(), RunStatus::settled);
  EXPECT_EQ(certificate_in(files_.run()).ledger->run, 1);
}

TEST_F(TrainingRun, APlanThatWouldOverspendIsRefusedBeforeARowIsRead) {
  Plan loud = plan_with_ledger();
  loud.noise = 0.1;
  EXPECT_THAT(message_of<BudgetRefused>([&] { train_now(loud, options()); }),
              HasSubstr("more than its budget of 1"));
  EXPECT_EQ(reads_, 0);
  EXPECT_TRUE(Ledger(files_.ledger()).runs().empty());
  expect_nothing_left();
}

TEST_F(TrainingRun, ALedgerThatRefusesKeepsTheRowsUnread) {
  EXPECT_THAT(message_of<BudgetRefused>([&] { train_now(plan_with_ledger(0.5), options()); }),
              HasSubstr("epsilon 0.5 and delta"));
  EXPECT_EQ(reads_, 0);
  EXPECT_EQ(charged(), 0);
  expect_nothing_left();
}

TEST_F(TrainingRun, TheBudgetIsReservedInFullWhenTheRowsAreRead) {
  RunOptions with = options();
  double charged_when_read = -1;
  with.read = [&](const std::string& path, const data::Schema& schema) {
    charged_when_read = charged();
    return data::read_table(path, schema);
  };
  train_now(plan_with_ledger(2), with);
  EXPECT_EQ(charged_when_read, kEpsilon);
}

TEST_F(TrainingRun, WhateverCannotBeDoneIsRefusedBeforeARowIsRead) {
  const auto refused = [&](auto&& change, const std::string& message) {
    Plan bad = plan();
    change(bad);
    EXPECT_THAT(message_of<InputError>([&] { train_now(bad, options()); }), HasSubstr(message));
    expect_nothing_left();
  };
  refused([](Plan& bad) { bad.epsilon.reset(); }, "epsilon is needed");
  refused([](Plan& bad) { bad.data = ""; }, "data is needed");
  refused([](Plan& bad) { bad.data = "/no/such/rows.csv"; }, "/no/such/rows.csv");
  refused([&](Plan& bad) { bad.data = files_.write("\xff.csv", "a\n"); }, "plan.toml");
  refused([](Plan& bad) { bad.schema = "/no/such/schema.toml"; }, "/no/such/schema.toml");
  refused([](Plan& bad) { bad.target = "shoe size"; }, "shoe size");
  refused([](Plan& bad) { bad.ledger = "/no/such/ledger.db"; }, "/no/such/ledger.db");
  refused([](Plan& bad) { bad.model = "squared"; }, "squared");
  EXPECT_EQ(reads_, 0);
}

TEST_F(TrainingRun, ALedgerOfAnotherRelationIsRefusedBeforeARowIsRead) {
  files_.make_ledger({1, 1e-3}, Relation::replace_one);
  Plan with = plan();
  with.ledger = files_.ledger();
  EXPECT_THAT(message_of<InputError>([&] { train_now(with, options()); }),
              HasSubstr("for relation replace_one"));
  EXPECT_EQ(reads_, 0);
  expect_nothing_left();
}

// A file whose header does not fit says nothing about a row.
TEST_F(TrainingRun, AFileThatDoesNotFitAsAWholeGivesTheReservationBack) {
  const Plan with = plan_with_ledger();
  RunOptions broken = options();
  broken.read = [&](const std::string&, const data::Schema&) -> data::Table {
    EXPECT_EQ(charged(), kEpsilon);
    throw data::PublicFault("the header is broken");
  };
  EXPECT_EQ(message_of<InputError>([&] { train_now(with, broken); }), "the header is broken");
  EXPECT_EQ(charged(), 0);
  EXPECT_EQ(status(), RunStatus::settled);
  expect_nothing_left();
  EXPECT_TRUE(train_now(with, options()).finished) << "the budget is free again";
}

TEST_F(TrainingRun, ARefusalBecauseOfRowsStaysPaidFor) {
  const Plan with = plan_with_ledger(2);
  RunOptions broken = options();
  broken.read = [&](const std::string&, const data::Schema&) -> data::Table {
    throw InputError("line 7 is broken");
  };
  const std::string said = message_of<data::BadRows>([&] { train_now(with, broken); });
  EXPECT_THAT(said, StartsWith("line 7 is broken\nNOT PRIVATE"));
  EXPECT_THAT(said, HasSubstr("for the keeper of the data alone"));
  EXPECT_THAT(said,
              HasSubstr("use --on-bad-row clamp or drop: rows that break the schema are then lost or bent "
                        "silently; if many do, mend the schema."));
  EXPECT_THAT(said, HasSubstr("the reserved budget stays spent (run 1 of " + files_.ledger() + ")"));
  EXPECT_EQ(charged(), kEpsilon);
  EXPECT_EQ(status(), RunStatus::abandoned);
  expect_nothing_left();
  EXPECT_TRUE(train_now(with, options()).finished) << "the folder is free again";
  EXPECT_NEAR(charged(), 2 * kEpsilon, 1e-3) << "what the second run did not need went back";
}

// Found out only when the release was paid for: an answer about the rows all the same.
TEST_F(TrainingRun, FarMoreRowsThanDeclaredIsARefusalForTheKeeperAndStaysPaidFor) {
  Plan few = plan_with_ledger(2);
  few.method = MethodKind::objpert;
  few.steps.reset();
  few.rows = 100;  // of 300
  const std::string said = message_of<data::BadRows>([&] { train_now(few, options()); });
  EXPECT_THAT(said, HasSubstr("more than twice the 100 rows that were declared"));
  EXPECT_THAT(said, HasSubstr("NOT PRIVATE"));
  EXPECT_THAT(said, HasSubstr("stays spent"));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("on-bad-row"))) << "no row is bad";
  EXPECT_THAT(said, ::testing::Not(HasSubstr("bad rows")));
  EXPECT_EQ(charged(), kEpsilon);
}

TEST_F(TrainingRun, WithoutALedgerARefusalIsMarkedForTheKeeper) {
  RunOptions broken = options();
  broken.read = [&](const std::string&, const data::Schema&) -> data::Table {
    throw data::BadRows("age 212");
  };
  const std::string said = message_of<data::BadRows>([&] { train_now(plan(), broken); });
  EXPECT_THAT(said, StartsWith("age 212\nNOT PRIVATE"));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("stays spent")));
  expect_nothing_left();
}

// Whoever writes schemas asks by them. Before refusals were paid for, halving the bound again and again told
// the largest age to the last digit, for nothing.
TEST_F(TrainingRun, AColumnsMaximumCannotBeSearchedForFree) {
  constexpr int kQuestions = 3;
  Plan asking = plan_with_ledger(kQuestions);
  int answers = 0;
  double low = 17, high = 90;
  for (int i = 0; i < 20; ++i) {
    data::Schema schema = data::census_schema();
    const double guess = (low + high) / 2;
    schema.columns[0].high = guess;
    schema.columns[0].cuts.clear();
    asking.schema = files_.write("asking.toml", to_toml(schema));
    try {
      train(asking, {.out = files_.run("run-" + std::to_string(i)), .threads = 1}, random_);
      ++answers, high = guess;
    } catch (const data::BadRows&) {
      ++answers, low = guess;
    } catch (const BudgetRefused&) {
    }
  }
  EXPECT_EQ(answers, kQuestions);
  EXPECT_NEAR(charged(), kQuestions * kEpsilon, 1e-3);
}

// The census with every tenth row broken, in every way there is.
class RunOnBadRows : public TrainingRun {
 protected:
  static constexpr std::size_t kBad = 30;

  RunOnBadRows() {
    std::istringstream lines(read_whole_file(files_.data()));
    std::string line, text;
    const char* const bad[] = {"200,", "old,", "1e999,"};
    for (std::size_t i = 0; std::getline(lines, line); ++i) {
      if (i % 10 == 1) {
        const std::size_t kind = (i / 10) % 4;
        line = kind < 3 ? bad[kind] + line.substr(line.find(',') + 1) : "1,2,3";
      }
      text += line + '\n';
    }
    files_.write("census.csv", text);
  }

  Plan plan_under(const char* choice) const {
    Plan bad = plan_with_ledger();
    bad.on_bad_row = choice;
    return bad;
  }
  RunOptions plainly() const { return {.out = files_.run(), .threads = 1}; }
};

TEST_F(RunOnBadRows, AreRefusedUnlessThePlanSaysOtherwise) {
  const std::string said = message_of<data::BadRows>([&] { train_now(plan_under("refuse"), plainly()); });
  EXPECT_THAT(said, HasSubstr("census.csv:2: column 'age': value 200 is outside"));
  EXPECT_THAT(said, HasSubstr("and more: these are the first 20"));
  EXPECT_EQ(charged(), kEpsilon);
}

TEST_F(RunOnBadRows, ClampAndDropTrainOnThem) {
  for (const char* const choice : {"clamp", "drop"}) {
    fs::remove(files_.ledger());
    fs::remove_all(files_.run());
    const RunOutcome outcome = train_now(plan_under(choice), plainly());
    EXPECT_TRUE(outcome.finished);
    EXPECT_THAT(certificate_in(files_.run()).assumed_public,
                ::testing::Contains("that the file can be cut into rows, whatever they hold"));
    EXPECT_EQ(read_plan(files_.run() + "/plan.toml").on_bad_row.name(), choice);
    expect_sound(files_.run(), files_);
  }
}

// Where the number of rows is public, rows that are dropped are rows all the same: samples are of the size
// that was planned, and the plan's number of rows is that of the file.
TEST_F(RunOnBadRows, DroppedRowsCountWhereTheNumberOfRowsIsPublic) {
  for (const char* const sampling : {"full", "fixed"}) {
    for (const char* const method : {"dpsgd", "bolton", "majority"}) {
      if (std::string(method) != "dpsgd" && std::string(sampling) == "fixed") continue;
      SCOPED_TRACE(std::string(sampling) + " " + method);
      fs::remove_all(files_.run());
      Plan bad = plan();
      bad.on_bad_row = "drop";
      bad.relation = "replace_one";
      bad.method = method;
      bad.sampling = sampling;
      if (std::string(method) != "dpsgd") bad.steps.reset();
      if (std::string(sampling) == "fixed") bad.rate = 0.1;
      EXPECT_TRUE(train_now(bad, plainly()).finished);
      fs::remove_all(files_.run());
      bad.rows = CensusFiles::kRows - kBad;
      EXPECT_THAT(message_of<data::PublicFault>([&] { train_now(bad, plainly()); }),
                  HasSubstr("expected rows = 300"));
    }
  }
}

TEST_F(RunOnBadRows, AStoppedRunReadsThemTheSameWayAgain) {
  std::atomic<bool> stop{false};
  AtStep observer(17, [&] { stop = true; });
  RunOptions with = plainly();
  with.observers = {&observer};
  with.stop = &stop;
  EXPECT_FALSE(train_now(plan_under("drop"), with).finished);
  EXPECT_TRUE(resume_run(plainly(), random_).finished);
}

TEST_F(TrainingRun, TheCertificateAssumesThatRowsObeyTheSchema) {
  train_now(plan(), options());
  EXPECT_THAT(certificate_in(files_.run()).assumed_public,
              ::testing::Contains(HasSubstr("that every row obeys the schema")));
}

// A public fact that turns out wrong: nothing was released, and no plan could go on with it.
// The number of rows is public, but that all rows obeyed the schema before it was looked at is not: with a
// wrong number and a schema at will, a column's maximum could be searched for free.
TEST_F(TrainingRun, AWrongNumberOfRowsStaysPaidForWhereBadRowsAreRefused) {
  files_.make_ledger({4, 1e-3}, Relation::replace_one);
  Plan wrong = plan();
  wrong.ledger = files_.ledger();
  wrong.relation = "replace_one";
  wrong.rows = CensusFiles::kRows + 1;
  wrong.on_bad_row = "drop";
  EXPECT_THAT(message_of<InputError>([&] { train_now(wrong, options()); }), HasSubstr("expected rows = 300"));
  EXPECT_EQ(charged(), 0);
  wrong.on_bad_row = "refuse";
  EXPECT_THAT(message_of<InputError>([&] { train_now(wrong, options()); }), HasSubstr("expected rows = 300"));
  EXPECT_NEAR(charged(), kEpsilon, 1e-3);
  expect_nothing_left();
}

// --- folders

TEST_F(TrainingRun, AFolderThatHoldsARunIsRefused) {
  train_now(plan(), options());
  EXPECT_THAT(message_of<InputError>([&] { train_now(plan(), options()); }),
              HasSubstr("holds a finished run"));
  EXPECT_THAT(message_of<InputError>([&] { resume_now(); }), HasSubstr("this run is finished"));
  crash_after(15, plan(), "crashed");
  EXPECT_THAT(message_of<InputError>([&] { train_now(plan(), options("crashed")); }),
              HasSubstr("go on with it by --resume"));
  EXPECT_THAT(message_of<InputError>([&] { resume_now("none"); }), HasSubstr("there is no run"));
  expect_finished(files_.run());
}

// `--plan run/plan.toml --out run` must not cost anybody a plan.
TEST_F(TrainingRun, FilesOfTheUserAreNotOverwrittenNorRemoved) {
  fs::create_directory(files_.run());
  const std::string mine = files_.write("run/plan.toml", "# mine\n");
  EXPECT_THAT(message_of<InputError>([&] { train_now(plan(), options()); }),
              HasSubstr("would be overwritten"));
  EXPECT_EQ(read_whole_file(mine), "# mine\n");
  fs::rename(mine, files_.run() + "/my-plan.toml");
  Plan bad = plan();
  bad.data = "/no/such/rows.csv";
  EXPECT_THROW(train_now(bad, options()), InputError);
  EXPECT_EQ(read_whole_file(files_.run() + "/my-plan.toml"), "# mine\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(files_.run()), {}), 1);
  EXPECT_TRUE(train_now(plan(), options()).finished);
}

TEST_F(TrainingRun, AnEmptyFolderOfTheUserStaysWhenTheRunIsRefused) {
  fs::create_directory(files_.run());
  Plan bad = plan();
  bad.data = "/no/such/rows.csv";
  EXPECT_THROW(train_now(bad, options()), InputError);
  EXPECT_TRUE(fs::is_empty(files_.run()));
}

// As a process leaves it that is killed before its first checkpoint, or while it writes.
TEST_F(TrainingRun, WhatAProcessLeftThatDiedBeforeItsFirstCheckpointIsNoHindrance) {
  fs::create_directories(files_.run() + "/checkpoint");
  for (const char* const name : {"checkpoint/lock", "checkpoint/state.json.77.part", "plan.toml",
                                 "schema.toml.77.part", "plan.toml.77.part"}) {
    files_.write(std::string("run/") + name, "half a fi");
  }
  EXPECT_THAT(message_of<InputError>([&] { resume_now(); }), HasSubstr("there is no run"));
  EXPECT_TRUE(train_now(plan(), options()).finished);
  expect_finished(files_.run());
}

// Killed while it removed the checkpoint.
TEST_F(TrainingRun, WhatIsLeftOfTheCheckpointOfAFinishedRunIsRemoved) {
  train_now(plan(), options());
  fs::create_directory(files_.run() + "/checkpoint");
  files_.write("run/checkpoint/lock", "");
  EXPECT_THAT(message_of<InputError>([&] { resume_now(); }), HasSubstr("this run is finished"));
  expect_finished(files_.run());
}

TEST_F(TrainingRun, TwoMayNotWorkOnOneFolder) {
  std::string second_train;
  std::string second_resume;
  AtStep observer(15, [&] {
    second_resume = message_of<InputError>([&] { resume_now(); });
    second_train = message_of<InputError>([&] { train_now(plan(), options()); });
  });
  RunOptions with = options();
  with.observers = {&observer};
  EXPECT_TRUE(train_now(plan_with_ledger(), with).finished);
  EXPECT_THAT(second_resume, HasSubstr("another process is at work"));
  EXPECT_THAT(second_train, HasSubstr("holds a run that is not finished"));
  expect_finished(files_.run());
}

TEST_F(TrainingRun, TwoMayNotBeginInOneFolder) {
  std::string second;
  RunOptions with = options();
  with.read = [&](const std::string& path, const data::Schema& schema) {
    fs::remove(files_.run() + "/checkpoint/state.json");  // as if the other had not come as far
    second = message_of<InputError>([&] { train_now(plan(), options()); });
    return data::read_table(path, schema);
  };
  EXPECT_TRUE(train_now(plan(), with).finished);
  EXPECT_THAT(second, HasSubstr("another process is at work"));
}

// --- stopped

TEST_F(TrainingRun, StoppedItCanBeResumedAndLosesNothing) {
  const RunOutcome stopped = stop_after(17, plan_with_ledger());
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(stopped.steps, 17);
  EXPECT_EQ(checkpoint_in(files_.run()).training.charged, 17);
  EXPECT_EQ(charged(), kEpsilon);
  EXPECT_EQ(status(), RunStatus::open);
  expect_sound(files_.run(), files_);

  const RunOutcome resumed = resume_now();
  EXPECT_TRUE(resumed.finished);
  EXPECT_EQ(resumed.steps, kSteps);
  EXPECT_EQ(events_of(resumed.certificate), kSteps);
  EXPECT_EQ(status(), RunStatus::settled);
  expect_finished(files_.run());
  expect_sound(files_.run(), files_);
  const std::string progress = read_whole_file(files_.run() + "/progress.csv");
  EXPECT_EQ(std::count(progress.begin(), progress.end(), '\n'), kSteps + 1);
}

TEST_F(TrainingRun, StoppedAtItsLastStepItIsFinished) {
  EXPECT_TRUE(stop_after(kSteps, plan_with_ledger()).finished);
  expect_finished(files_.run());
}

TEST_F(TrainingRun, StoppedAgainAndAgainItEndsWithItsPlan) {
  stop_after(1, plan_with_ledger());
  RunOutcome outcome;
  int rounds = 0;
  for (; !outcome.finished; ++rounds) {
    std::atomic<bool> stop{false};
    AtStep observer(7, [&] { stop = true; });
    RunOptions with = options();
    with.observers = {&observer};
    with.stop = &stop;
    outcome = resume_run(with, random_);
    expect_sound(files_.run(), files_);
    EXPECT_GE(charged(), outcome.finished ? outcome.certificate.epsilon : kEpsilon);
  }
  EXPECT_EQ(rounds, 6);  // 1 + 5 * 7 + 4
  EXPECT_EQ(outcome.steps, kSteps);
  EXPECT_EQ(events_of(outcome.certificate), kSteps);
}

// --- crashed

TEST_F(TrainingRun, LostStepsStayPaidForAndAreNotRepeated) {
  crash_after(15, plan_with_ledger());
  EXPECT_EQ(steps_done(checkpoint_in(files_.run()).training), 10);
  EXPECT_EQ(checkpoint_in(files_.run()).training.charged, 20);
  EXPECT_EQ(charged(), kEpsilon);
  EXPECT_EQ(status(), RunStatus::open);

  AtStep observer(0);
  RunOptions with = options();
  with.observers = {&observer};
  const RunOutcome resumed = resume_run(with, random_);
  EXPECT_TRUE(resumed.finished);
  EXPECT_EQ(observer.seen, 20);
  EXPECT_EQ(observer.last.charged, kSteps);
  EXPECT_DOUBLE_EQ(observer.last.budget_share, 1);
  EXPECT_EQ(resumed.steps, 30);
  EXPECT_EQ(events_of(resumed.certificate), kSteps) << "the lost steps are certified too";
  expect_sound(files_.run(), files_);
  expect_finished(files_.run());
}

// What ran was paid for before: at no step is there a checkpoint that could repeat it.
TEST_F(TrainingRun, AtEveryStepTheCheckpointSaysThatItIsPaidFor) {
  struct Watch final : Observer {
    explicit Watch(std::string folder) : run(std::move(folder)) {}
    void on_step(const Progress& progress) override {
      EXPECT_GE(checkpoint_in(run).training.charged, progress.charged);
    }
    std::string run;
  } watch(files_.run());
  Plan uneven = plan_with_ledger();
  uneven.checkpoint_every = 7;
  RunOptions with = options();
  with.observers = {&watch};
  EXPECT_TRUE(train_now(uneven, with).finished);
}

TEST_F(TrainingRun, CrashedAgainAndAgainItEndsWithItsPlan) {
  crash_after(3, plan_with_ledger());
  std::int64_t taken = 0;
  bool finished = false;
  for (int round = 0; !finished; ++round) {
    ASSERT_LT(round, 5);
    AtStep observer(13, crash);
    RunOptions with = options();
    with.observers = {&observer};
    try {
      finished = resume_run(with, random_).finished;
    } catch (const Crash&) {
      EXPECT_EQ(status(), RunStatus::open);
      EXPECT_EQ(charged(), kEpsilon);
    }
    taken += observer.seen;
    expect_sound(files_.run(), files_);
  }
  EXPECT_LE(taken, kSteps - 10);
  EXPECT_EQ(events_of(certificate_in(files_.run())), kSteps);
}

// All steps are paid for and none was saved: what is left is the model it started from.
TEST_F(TrainingRun, ARunThatLostEveryStepCannotGoOn) {
  Plan whole = plan_with_ledger();
  whole.checkpoint_every = 1000;
  crash_after(30, whole);
  EXPECT_EQ(checkpoint_in(files_.run()).training.charged, kSteps);
  EXPECT_THAT(message_of<InputError>([&] { resume_now(); }), HasSubstr("paid for and lost; start another"));
}

TEST_F(TrainingRun, ACountOfTheRowsIsAskedOnceInARunsLife) {
  Plan counted = plan_with_ledger();
  counted.rows.reset();
  crash_after(15, counted);
  const Checkpoint before = checkpoint_in(files_.run());
  ASSERT_TRUE(before.training.noisy_rows.has_value());
  AtStep observer(
      1, [&] { EXPECT_EQ(checkpoint_in(files_.run()).training.noisy_rows, before.training.noisy_rows); });
  RunOptions with = options();
  with.observers = {&observer};
  EXPECT_EQ(events_of(resume_run(with, random_).certificate), kSteps + 1);

  Ledger::open_or_create(files_.path() + "/second.db")
      .add({.hash = files_.hash(), .name = "census", .total = {1, kDelta}});
  counted.ledger = files_.path() + "/second.db";
  crash_after(1, counted, "lost");
  Checkpoint lost = checkpoint_in(files_.run("lost"));
  lost.training = {};  // killed after the question and before the answer was written
  files_.write("lost/checkpoint/state.json", to_json(lost, [&](std::string_view text) {
                 return Ledger(counted.ledger).mark("checkpoint", text);
               }));
  EXPECT_THAT(message_of<InputError>([&] { resume_now("lost"); }), HasSubstr("the answer is spent and lost"));
  EXPECT_EQ(Ledger(counted.ledger).state(files_.hash()).spent.epsilon, kEpsilon);
}

TEST_F(TrainingRun, AMeanOfTheRowsIsAskedOnceInARunsLife) {
  Plan centred = plan_with_ledger();
  centred.center = "yes";
  crash_after(15, centred);
  const Checkpoint before = checkpoint_in(files_.run());
  ASSERT_TRUE(before.training.row_mean.has_value());
  AtStep observer(
      1, [&] { EXPECT_EQ(checkpoint_in(files_.run()).training.row_mean, before.training.row_mean); });
  RunOptions with = options();
  with.observers = {&observer};
  const RunOutcome outcome = resume_run(with, random_);
  EXPECT_EQ(events_of(outcome.certificate), kSteps + 1);
  EXPECT_LE(outcome.certificate.epsilon, kEpsilon);
}

// Killed between the ledger's last entry and the end of the checkpoint, and just before.
TEST_F(TrainingRun, KilledBetweenItsLastTwoActsItIsFinished) {
  const Plan with = plan_with_ledger();
  stop_after(kSteps - 1, with);
  copy_run("run", "before");
  ASSERT_TRUE(resume_now().finished);
  const auto model = read_whole_file(files_.run() + "/model.json");
  fs::copy(files_.run("before") + "/checkpoint", files_.run() + "/checkpoint");
  EXPECT_TRUE(resume_now().finished);
  EXPECT_EQ(read_whole_file(files_.run() + "/model.json"), model);
  expect_finished(files_.run());
  EXPECT_EQ(Ledger(files_.ledger()).runs().size(), 1u);
}

// The outputs are there before the ledger takes anything back.
TEST_F(TrainingRun, ARunThatCannotWriteItsModelStaysChargedAndCanBeResumed) {
  const Plan with = plan_with_ledger();
  AtStep observer(kSteps, [&] { fs::create_directory(files_.run() + "/model.json"); });
  RunOptions blocked = options();
  blocked.observers = {&observer};
  EXPECT_THAT(message_of<InputError>([&] { train_now(with, blocked); }), HasSubstr("model.json"));
  EXPECT_EQ(status(), RunStatus::open);
  EXPECT_EQ(charged(), kEpsilon);
  fs::remove(files_.run() + "/model.json");
  EXPECT_EQ(resume_now().steps, kSteps);
  expect_finished(files_.run());
  expect_sound(files_.run(), files_);
}

// --- changed behind its back

TEST_F(TrainingRun, AChangedPlanSchemaOrDataIsRefused) {
  crash_after(15, plan_with_ledger());
  reads_ = 0;
  const auto refused_with = [&](const std::string& file, const std::string& message) {
    const std::string before = read_whole_file(file);
    std::ofstream(file, std::ios::app) << "\n";
    EXPECT_THAT(message_of<InputError>([&] { resume_now(); }), HasSubstr(message)) << file;
    std::ofstream(file, std::ios::binary) << before;
  };
  refused_with(files_.run() + "/plan.toml", "was changed since the run began");
  refused_with(files_.run() + "/schema.toml", "was changed since the run began");
  refused_with(files_.data(), "not the rows the run began with");
  EXPECT_EQ(reads_, 0);
  EXPECT_TRUE(resume_now().finished) << "all is as it was";
}

// Any byte of a checkpoint: refused as input, or harmless; never a crash of ours.
TEST_F(TrainingRun, ADamagedCheckpointIsRefusedAsInput) {
  crash_after(15, plan());
  const std::string good = read_whole_file(files_.run() + "/checkpoint/state.json");
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"", "{"},
      {R"("charged":20)", R"("charged":-1)"},
      {R"("charged":20)", R"("charged":9)"},
      {R"("charged":20)", R"("charged":41)"},
      {R"("charged":20)", R"("charged":"20")"},
      {R"("step":[10.0])", R"("step":[])"},
      {R"("step":[10.0])", R"("step":[-1])"},
      {R"("step":[10.0])", R"("step":[1e300])"},
      {R"("weights":[)", R"("weights":[1,)"},
      {R"("average":[)", R"("average":[1,)"},
      {R"("version":2)", R"("version":3)"},
      {R"("count_asked":false)", R"("count_asked":0)"},
      {R"("version":2)", R"("version":2,"ledger":{"file":"a","run":1,"epsilon":1,"delta":0,"tokens":[]})"},
  };
  for (const auto& [from, to] : damages) {
    std::string bad = good;
    const auto at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.replace(at, from.size(), to);
    files_.write("run/checkpoint/state.json", bad);
    EXPECT_NE(message_of<InputError>([&] { resume_now(); }), "") << to;
  }
  for (std::size_t end = 0; end + 1 < good.size(); end += 37) {
    files_.write("run/checkpoint/state.json", good.substr(0, end));
    EXPECT_NE(message_of<InputError>([&] { resume_now(); }), "") << end;
  }
  files_.write("run/checkpoint/state.json", good);
  EXPECT_TRUE(resume_now().finished);
}

// --- copies

TEST_F(TrainingRun, TwoCopiesWithoutALedgerDrawTheirOwnNoise) {
  stop_after(20, plan());
  copy_run("run", "copy");
  const RunOutcome one = resume_now();
  const RunOutcome other = resume_now("copy");
  ASSERT_TRUE(one.finished && other.finished);
  EXPECT_NE(one.model.weights, other.model.weights);
  EXPECT_THAT(one.certificate.not_covered, ::testing::Contains(HasSubstr("no ledger counts them")));
}

TEST_F(TrainingRun, OfTwoCopiesWithALedgerOneCanGoOn) {
  stop_after(20, plan_with_ledger());
  copy_run("run", "copy");
  copy_run("run", "late");
  stop_after_resuming(5);
  reads_ = 0;
  EXPECT_THAT(message_of<InputError>([&] { resume_now("copy"); }), HasSubstr("was resumed elsewhere"));
  EXPECT_EQ(reads_, 0) << "a copy that cannot go on need not read the rows";
  EXPECT_TRUE(resume_now().finished);
  EXPECT_THAT(message_of<InputError>([&] { resume_now("late"); }), HasSubstr("older copy"));
  EXPECT_THAT(message_of<InputError>([&] { resume_now("copy"); }), HasSubstr("older copy"));
  EXPECT_FALSE(exists(files_.run("copy") + "/model.json"));
  expect_sound(files_.run(), files_);
}

TEST_F(TrainingRun, AnOldCheckpointPutBackIsRefused) {
  AtStep observer(15, [&] { fs::copy(files_.run() + "/checkpoint", files_.path() + "/old"); });
  RunOptions with = options();
  with.observers = {&observer};
  std::atomic<bool> stop{false};
  AtStep stopper(25, [&] { stop = true; });
  with.observers.push_back(&stopper);
  with.stop = &stop;
  EXPECT_FALSE(train_now(plan_with_ledger(), with).finished);
  fs::remove_all(files_.run() + "/checkpoint");
  fs::copy(files_.path() + "/old", files_.run() + "/checkpoint");
  EXPECT_THAT(message_of<InputError>([&] { resume_now(); }), HasSubstr("was resumed elsewhere"));
  EXPECT_EQ(charged(), kEpsilon);
  EXPECT_FALSE(exists(files_.run() + "/model.json"));
}

// A copy of a living run takes it over: the living one learns of it at its next checkpoint, and what it did
// since the last is removed, because it was paid for once.
TEST_F(TrainingRun, ALivingRunWhoseCopyWentOnShowsNothing) {
  const Plan with_ledger = plan_with_ledger(2);
  const auto overtaken_by = [&](const std::string& run, const std::string& copy, auto go_on) {
    AtStep observer(15, [&] {
      copy_run(run, copy);
      go_on();
    });
    RunOptions with = options(run);
    with.observers = {&observer};
    EXPECT_NE(message_of<InputError>([&] { train_now(with_ledger, with); }), "");
    EXPECT_EQ(observer.seen, 20);
    expect_sound(files_.run(copy), files_);
    expect_nothing_left(run);
  };
  overtaken_by("one", "finished", [&] { EXPECT_TRUE(resume_now("finished").finished); });
  overtaken_by("two", "stopped", [&] { stop_after_resuming(5, "stopped"); });
  EXPECT_TRUE(resume_now("stopped").finished);
}

// --- seeded

TEST_F(TrainingRun, SeededNoiseIsStampedAndKeptOutOfLedgers) {
  SeededRandom seeded(1);
  const RunOutcome outcome = train(plan(), options(), seeded);
  EXPECT_FALSE(outcome.certificate.secure_random);
  EXPECT_THAT(read_whole_file(files_.run() + "/certificate.txt"), HasSubstr("NOT PRIVATE"));
  EXPECT_FALSE(verify(certificate_in(files_.run())).holds());
  reads_ = 0;
  EXPECT_THAT(message_of<InputError>([&] { train(plan_with_ledger(), options("second"), seeded); }),
              StartsWith("NOT PRIVATE"));
  EXPECT_EQ(reads_, 0);
  EXPECT_TRUE(Ledger(files_.ledger()).runs().empty());
  expect_nothing_left("second");
}

TEST_F(TrainingRun, ARunThatWasEverSeededStaysStamped) {
  SeededRandom seeded(1);
  AtStep observer(15, crash);
  RunOptions with = options();
  with.observers = {&observer};
  EXPECT_THROW(train(plan(), with, seeded), Crash);
  EXPECT_FALSE(resume_now().certificate.secure_random);
  stop_after(20, plan(), "second");
  EXPECT_FALSE(resume_run(options("second"), seeded).certificate.secure_random);
}

TEST_F(TrainingRun, ARunWithALedgerIsNotResumedWithSeededNoise) {
  SeededRandom seeded(1);
  stop_after(20, plan_with_ledger());
  EXPECT_THAT(message_of<InputError>([&] { resume_run(options(), seeded); }), StartsWith("NOT PRIVATE"));
  EXPECT_TRUE(resume_now().finished);
}

// --- what the certificate is of

TEST_F(TrainingRun, HoldsAgainstItsFolderAlsoAfterItWasResumedElsewhere) {
  crash_after(15, plan_with_ledger());
  const fs::path here = fs::current_path();
  fs::current_path("/");  // nothing depends on where the process is
  EXPECT_TRUE(resume_now().finished);
  fs::current_path(here);
  const RunVerification found = verify_run(files_.run(), {.data = files_.data()});
  EXPECT_THAT(found.problems, ::testing::IsEmpty());
  EXPECT_THAT(found.checked, ::testing::IsSupersetOf({"model.json", "plan.toml", "the ledger", "the rows"}));
}

// What was bound would not be what ran.
TEST_F(TrainingRun, APlanThatIsChangedWhileTheRunIsGoingIsNotCertified) {
  const std::string file = files_.run() + "/plan.toml";
  std::string before;
  AtStep observer(kSteps, [&] {
    before = read_whole_file(file);
    std::ofstream(file, std::ios::app) << "\n# later\n";
  });
  RunOptions with = options();
  with.observers = {&observer};
  EXPECT_THAT(message_of<InputError>([&] { train_now(plan(), with); }), HasSubstr("was changed since"));
  EXPECT_FALSE(exists(files_.run() + "/certificate.json"));
  std::ofstream(file, std::ios::binary) << before;
  EXPECT_TRUE(resume_now().finished);
  EXPECT_TRUE(verify_run(files_.run()).holds());
}

// A folder may hold the rows that it is trained on.
TEST_F(TrainingRun, MayLieInTheFolderOfItsRows) {
  RunOptions beside = options();
  beside.out = files_.path();
  EXPECT_TRUE(train_now(plan(), beside).finished);
  EXPECT_TRUE(verify_run(files_.path()).holds());
}

// --- plan.toml

TEST_F(TrainingRun, ThePlanInTheFolderIsTheOneThatRan) {
  const std::vector<std::function<void(Plan&)>> changes = {
      [](Plan&) {},
      [](Plan& plan) { plan.rows.reset(); },
      [](Plan& plan) { plan.batch = 37; },
      [](Plan& plan) {
        plan.rows.reset();
        plan.rate = 0.137;
      },
      [](Plan& plan) {
        plan.sampling = "fixed";
        plan.batch = 37;
      },
      [](Plan& plan) {
        plan.batch = 37;
        plan.steps.reset();
        plan.epochs = 3.3;
        plan.accountant = "rdp";
      },
      [](Plan& plan) {
        plan.clip = "adaptive";
        plan.step = "adam";
        plan.noise_correction = true;
        plan.lr = 0.1;
      },
      [](Plan& plan) {
        plan.relation = "replace_one";
        plan.epsilon = 0.1 + 0.2;
        plan.delta = 1.0 / 3e5;
      },
      [](Plan& plan) { plan.noise = 100.0 / 3; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Plan changed = plan();
    changes[i](changed);
    const std::string name = "run" + std::to_string(i);
    const ResolvedPlan ran = train_now(changed, options(name)).plan;
    const ResolvedPlan read = resolve(read_plan(files_.run(name) + "/plan.toml"));
    EXPECT_EQ(read.noise_multiplier, ran.noise_multiplier) << i;
    EXPECT_EQ(read.count_noise, ran.count_noise) << i;
    EXPECT_EQ(options_of(read).noise, options_of(ran).noise) << i;
    EXPECT_EQ(read.rate, ran.rate) << i;
    EXPECT_EQ(read.fixed_size, ran.fixed_size) << i;
    EXPECT_EQ(read.cost.epsilon, ran.cost.epsilon) << i;
    EXPECT_EQ(read.accountant, ran.accountant) << i;
    EXPECT_EQ(read.relation, ran.relation) << i;
  }
}

}  // namespace
}  // namespace ration::testing
