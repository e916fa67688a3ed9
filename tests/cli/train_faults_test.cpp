#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/refusal.h"
#include "cli/train_process.h"
#include "privacy/sampler_delta.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

void expect_one_line(const std::string& err) {
  EXPECT_THAT(err, ::testing::StartsWith("ration: "));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
}

class TrainUnderFaults : public TrainProcess {
 protected:
  static constexpr int kLong = 6000;

  Finished interrupt(const std::string& run, int signal, const Words& words) {
    const std::int64_t before = charged_in(files_.run(run));
    RunningProgram program(RATION_BINARY, words);
    wait_for_steps(files_.run(run), program, before);
    program.signal(signal);
    return program.wait();
  }
};

// --- what it certifies

TEST_F(TrainUnderFaults, ItsEpsilonIsWhatAccountSaysOfItsEvents) {
  const std::string common =
      "train census.csv --schema census.toml --rows 300 --epsilon 1 --delta 1e-5 --method dpsgd --steps 50 "
      "--quiet --out ";
  for (const std::string flags :
       {"", "--rate 0.1", "--rate 0.1 --accountant rdp", "--sampling fixed --batch 30", "--noise 40",
        "--relation replace_one", "--accountant zcdp"}) {
    fs::remove_all(files_.run());
    ASSERT_EQ(run_ration(common + "run " + flags, files_.path()).exit_code, 0) << flags;
    const json certificate = json::parse(read_whole_file(files_.run() + "/certificate.json"));
    ASSERT_EQ(certificate["events"].size(), 1u);
    const json& event = certificate["events"][0];
    const json& outer = event["mechanism"];
    const bool sampled = outer.contains("base");
    const std::string sampling = !sampled                              ? "full"
                                 : outer["event"] == "poisson_sampled" ? "poisson"
                                                                       : "fixed";
    const json& noise = sampled ? outer["base"] : outer;
    const json account = ration_json(fmt::format(
        "account --sampling {}{} --noise {} --steps {} --delta {} --accountant {} --relation {}", sampling,
        sampled ? " --rate " + (outer.contains("rate") ? outer["rate"].dump() : "0.1") : "",
        noise["noise_multiplier"].dump(), event["count"].dump(), delta_of_events(1e-5),
        certificate["accountant"].get<std::string>(), certificate["relation"].get<std::string>()));
    EXPECT_EQ(account["epsilon"], certificate["epsilon_of_events"]) << flags;
    EXPECT_NEAR(account["epsilon"].get<double>(), certificate["epsilon"].get<double>(), 1e-11) << flags;
    EXPECT_EQ(run_ration("verify run/certificate.json", files_.path()).exit_code, 0) << flags;
  }
}

TEST_F(TrainUnderFaults, AnOverspendIsExitStatusTwoAndLeavesNothing) {
  allow(1);
  Words loud = train_words("run", 50, 10);
  loud.insert(loud.end(), {"--noise", "0.5"});
  const Finished plan = run_words(loud);
  EXPECT_EQ(plan.exit_code, 2);
  EXPECT_THAT(plan.err, HasSubstr("more than its budget"));
  EXPECT_TRUE(ledger_runs().empty());

  ASSERT_EQ(run_words(train_words("first", 50, 10)).exit_code, 0);
  const Finished ledger = run_words(train_words("run", 50, 10));
  EXPECT_EQ(ledger.exit_code, 2);
  EXPECT_THAT(ledger.err, HasSubstr("left for these rows"));
  EXPECT_FALSE(exists(files_.run()));
  EXPECT_EQ(ledger_runs().size(), 1u);
}

// --- stopped

TEST_F(TrainUnderFaults, CtrlCAndSigtermLeaveARunThatCanBeResumed) {
  allow(2);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string run = "run" + std::to_string(signal);
    const Finished stopped = interrupt(run, signal, train_words(run, kLong, 200));
    ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
    expect_one_line(stopped.err);
    EXPECT_THAT(stopped.err, HasSubstr("ration train --resume " + files_.run(run)));
    EXPECT_FALSE(exists(files_.run(run) + "/model.json"));
    const TrainingState state = checkpoint_in(files_.run(run)).training;
    EXPECT_EQ(state.charged, steps_done(state)) << "nothing is lost";
    EXPECT_EQ(ledger_runs().back().status, RunStatus::open);
    EXPECT_EQ(ledger_runs().back().charged.epsilon, kEpsilon);
    expect_sound(files_.run(run), files_);

    const Finished again = interrupt(run, signal, resume_words(run));
    ASSERT_EQ(again.exit_code, 130) << again.err;
    const Finished resumed = run_words(resume_words(run));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    expect_finished(files_.run(run));
    expect_certified_steps(run, kLong);
    expect_sound(files_.run(run), files_);
  }
}

TEST_F(TrainUnderFaults, ACopyResumedASecondTimeIsRefused) {
  allow(1);
  ASSERT_EQ(interrupt("run", SIGINT, train_words("run", kLong, 200)).exit_code, 130);
  fs::copy(files_.run(), files_.run("copy"), fs::copy_options::recursive);
  ASSERT_EQ(interrupt("run", SIGINT, resume_words("run")).exit_code, 130);
  expect_refused(run_words(resume_words("copy")), "was resumed elsewhere");
  ASSERT_EQ(run_words(resume_words("run")).exit_code, 0);
  expect_refused(run_words(resume_words("copy")), "older copy");
  expect_refused(run_words(resume_words("run")), "this run is finished");
}

TEST_F(TrainUnderFaults, TwoProcessesMayNotWorkOnOneFolder) {
  allow(2);
  RunningProgram first(RATION_BINARY, train_words("run", 1'000'000, 1000));
  wait_for_steps(files_.run(), first);
  expect_refused(run_words(resume_words("run")), "another process is at work");
  expect_refused(run_words(train_words("run", 10, 1)), "holds a run that is not finished");
  first.signal(SIGINT);
  EXPECT_EQ(first.wait().exit_code, 130);
  EXPECT_EQ(ledger_runs().size(), 1u);
}

// --- places

TEST_F(TrainUnderFaults, PathsMayHaveBlanksAndQuotes) {
  const std::string place = files_.path() + "/a \"place\" of 'mine'";
  fs::create_directory(place);
  fs::copy(files_.data(), place + "/my rows.csv");
  fs::copy(files_.schema(), place + "/my schema.toml");
  const Words init{"ledger",    "init", "my ledger.db", "--data", "my rows.csv",
                   "--epsilon", "1",    "--delta",      "1e-5"};
  ASSERT_EQ(run_words(init, place).exit_code, 0);
  const Words words{"train",
                    "my rows.csv",
                    "--schema",
                    "my schema.toml",
                    "--rows",
                    "300",
                    "--epsilon",
                    "1",
                    "--delta",
                    "1e-5",
                    "--method",
                    "dpsgd",
                    "--steps",
                    "6000",
                    "--checkpoint-every",
                    "200",
                    "--ledger",
                    "my ledger.db",
                    "--out",
                    "my run",
                    "--quiet"};
  Finished stopped{};
  {
    RunningProgram program(RATION_BINARY, words, place);
    wait_for_steps(place + "/my run", program);
    program.signal(SIGINT);
    stopped = program.wait();
  }
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, EndsWith("ration train --resume 'my run'\n"));

  // From somewhere else, where neither rows nor ledger have their relative names.
  const Finished resumed = run_words({"train", "--resume", place + "/my run", "--quiet"}, "/");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_finished(place + "/my run");
  const LedgerRun entry = Ledger(place + "/my ledger.db").runs().at(0);
  EXPECT_EQ(entry.status, RunStatus::settled);
  EXPECT_FALSE(exists("/my ledger.db"));
}

TEST_F(TrainUnderFaults, ARunMayBeMovedWhileItIsStopped) {
  allow(1);
  ASSERT_EQ(interrupt("run", SIGTERM, train_words("run", kLong, 200)).exit_code, 130);
  fs::rename(files_.run(), files_.run("moved"));
  ASSERT_EQ(run_words(resume_words("moved")).exit_code, 0);
  expect_finished(files_.run("moved"));
}

TEST_F(TrainUnderFaults, APlaceThatCannotBeWrittenIsAClearErrorAndChargesNothing) {
  allow(1);
  files_.write("file", "");
  for (const std::string place : {"/proc/run", "/dev/null/run"}) {
    Words words = train_words("run", 50, 10);
    words.back() = place;
    expect_refused(run_words(words), place);
  }
  Words below_a_file = train_words("file/run", 50, 10);
  expect_refused(run_words(below_a_file), "file/run");
  EXPECT_TRUE(ledger_runs().empty());
}

// Root may write anywhere, so the program becomes somebody else.
void become_nobody() {
  if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(126);
}

class ReadOnly {
 public:
  explicit ReadOnly(std::string path) : path_(std::move(path)) { chmod(path_.c_str(), 0555); }
  ~ReadOnly() { chmod(path_.c_str(), 0777); }

 private:
  std::string path_;
};

void give_to_everybody(const std::string& path) {
  fs::permissions(path, fs::perms::all);
  for (const auto& entry : fs::recursive_directory_iterator(path))
    fs::permissions(entry.path(), fs::perms::all);
}

TEST_F(TrainUnderFaults, AReadOnlyFolderIsAClearErrorAndLeavesTheLedgerConservative) {
  allow(2);
  fs::create_directory(files_.run());
  give_to_everybody(files_.path());
  {
    const ReadOnly folder(files_.run());
    RunningProgram program(RATION_BINARY, train_words("run", 50, 10), "", become_nobody);
    const Finished refused = program.wait();
    if (refused.exit_code == 126 || refused.exit_code == 127)
      GTEST_SKIP() << "cannot become somebody else here";
    expect_refused(refused, "cannot make this folder: Permission denied");
    EXPECT_TRUE(ledger_runs().empty());
    EXPECT_TRUE(fs::is_empty(files_.run()));
  }
  // Read-only from one moment to the next: in the middle of a run.
  RunningProgram program(RATION_BINARY, train_words("run", 1'000'000, 100), "", become_nobody);
  wait_for_steps(files_.run(), program);
  Finished failed{};
  {
    const ReadOnly folder(files_.run());
    failed = program.wait();
  }
  ASSERT_EQ(ledger_runs().size(), 1u) << failed.err;
  EXPECT_EQ(failed.exit_code, 1);
  expect_one_line(failed.err);
  EXPECT_THAT(failed.err, HasSubstr("progress.csv: cannot write: Permission denied"));
  EXPECT_EQ(ledger_runs().back().status, RunStatus::open);
  EXPECT_EQ(ledger_runs().back().charged.epsilon, kEpsilon);
  expect_sound(files_.run(), files_);
}

// --- no room

// The program may write no file beyond so many bytes: what a full disk looks like to it. Whichever file is
// the one that does not fit, it says so, nothing is half written, and what is charged stays so.
TEST_F(TrainUnderFaults, WithoutRoomForItsFilesItSaysSoAndCanGoOn) {
  constexpr int kSteps = 60;
  allow(100);
  { const Ledger large_enough(files_.ledger()); }
  int failures = 0;
  int resumed = 0;
  for (rlim_t limit = 0; limit < 40'000; limit = limit < 4000 ? limit + 400 : limit + 4000) {
    const std::string run = "run" + std::to_string(limit);
    RunningProgram program(RATION_BINARY, train_words(run, kSteps, 20), "", [limit] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit both{limit, limit};
      setrlimit(RLIMIT_FSIZE, &both);
    });
    const Finished finished = program.wait();
    SCOPED_TRACE(fmt::format("limit {}: {}", limit, finished.err));
    expect_sound(files_.run(run), files_);
    for (const LedgerRun& one : ledger_runs()) {
      EXPECT_TRUE(one.status == RunStatus::settled || one.charged.epsilon == kEpsilon);
    }
    if (finished.exit_code == 0) continue;
    ++failures;
    EXPECT_TRUE(finished.exit_code == 3 || finished.exit_code == 1);
    // The limit counts for stderr too, so a message may be cut, but not silent.
    if (limit >= 400) {
      EXPECT_THAT(finished.err, HasSubstr("ration: "));
      EXPECT_TRUE(finished.err.find("File too large") != std::string::npos ||
                  finished.err.find("disk") != std::string::npos);
    }
    if (exists(files_.run(run) + "/checkpoint/state.json")) {
      ++resumed;
      ASSERT_EQ(run_words(resume_words(run)).exit_code, 0);
      expect_finished(files_.run(run));
      expect_certified_steps(run, kSteps);
    } else {
      EXPECT_FALSE(exists(files_.run(run))) << "it never began";
    }
    expect_sound(files_.run(run), files_);
  }
  EXPECT_GT(failures, 5);
  EXPECT_GT(resumed, 0);
}

TEST_F(TrainUnderFaults, AFullDiskIsAClearErrorAndTheRunGoesOnWhenThereIsRoom) {
  constexpr int kSteps = 400;
  allow(100);
  const std::string disk = files_.path() + "/disk";
  fs::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "may not mount";
  struct Unmount {
    std::string path;
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
  } const at_end{disk};
  int resumed = 0;
  for (int kept = 0; kept < 60; kept += 4) {
    mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64k");
    files_.write("disk/other", std::string(static_cast<std::size_t>(kept) * 1024, 'x'));
    Finished finished = run_words(train_words("disk/run", kSteps, 20));
    SCOPED_TRACE(fmt::format("{} KiB taken: {}", kept, finished.err));
    expect_sound(files_.run("disk/run"), files_);
    if (finished.exit_code != 0) {
      EXPECT_EQ(finished.exit_code,
                finished.err.find("cannot make this folder") == std::string::npos ? 3 : 1);
      EXPECT_THAT(finished.err, HasSubstr("No space left on device"));
      expect_one_line(finished.err);
    }
    mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=1m");
    if (exists(files_.run("disk/run") + "/checkpoint/state.json")) {
      ++resumed;
      finished = run_words(resume_words("disk/run"));
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
    }
    if (finished.exit_code == 0) expect_finished(files_.run("disk/run"));
    expect_sound(files_.run("disk/run"), files_);
    fs::remove_all(files_.run("disk/run"));
  }
  EXPECT_GT(resumed, 0);
}

}  // namespace
}  // namespace ration::testing
