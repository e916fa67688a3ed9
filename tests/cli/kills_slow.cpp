// Every private method as processes with a ledger, killed at random moments, resumed, and killed again.
//
// Three kills for each method; `make kills KILLS=500` sets RATION_KILLS for more (in all, spread evenly), and
// RATION_KILLS_SEED for other moments.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "ration/data/census.h"
#include "support/child_process.h"
#include "support/opens_of.h"
#include "support/places.h"
#include "train/runs.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kEpsilon = 0.5;
constexpr double kDelta = 1e-5;
constexpr int kRoom = 4;  // runs that a ledger has room for

enum class Spends { by_plan, by_outputs, in_an_evaluation };

struct KillCase {
  std::string name;
  std::string method;  // as --method names it
  std::string flags{};
  Spends spends = Spends::by_plan;
  std::string relation = "add_remove";
  bool counts_rows = false;  // none are declared
  bool network = false;
};

void PrintTo(const KillCase& one, std::ostream* out) {
  *out << one.name;
}

std::vector<KillCase> kill_cases() {
  const std::string every = "--steps 200 --checkpoint-every 10";
  std::vector<KillCase> all{
      {"dpsgd", "dpsgd", every},
      {"dpsgd_fixed_batches", "dpsgd", "--sampling fixed --batch 30 " + every, Spends::by_plan,
       "replace_one"},
      {"dpsgd_adaptive_clip", "dpsgd", "--clip adaptive " + every},
      {"dpsgd_auto_v", "dpsgd", "--clip auto-v " + every},
      {"dpsgd_auto_s", "dpsgd", "--clip auto-s --rate 0.1 --accountant rdp " + every},
      {.name = "dpsgd_counted_and_centred",
       .method = "dpsgd",
       .flags = "--center yes " + every,
       .counts_rows = true},
      {"sgd_adv", "sgd-adv", every},
      {"sgd_ma", "sgd-ma", every},
      {"dpadam", "dpadam", every},
      {"auto", "auto", "--checkpoint-every 1"},
      {"blsgd", "blsgd", "--expected-steps 100", Spends::by_outputs},
      {"blsgd_ac", "blsgd-ac", "--expected-steps 100", Spends::by_outputs},
      {"blgd", "blgd", "", Spends::by_outputs},
      {"agd", "agd", "", Spends::by_outputs},
      {"l2p", "l2p", "", Spends::by_outputs},
      {"l2p_proj", "l2p-proj", "", Spends::by_outputs},
      {"objpert", "objpert"},
      {"outpert_gd", "outpert-gd"},
      {"outpert_rsgd", "outpert-rsgd", "", Spends::by_plan, "replace_one"},
      {"bolton", "bolton", "", Spends::by_plan, "replace_one"},
      {"privgene", "privgene", "--checkpoint-every 1"},
      {"majority", "majority"},
      {"evaluate", "", "", Spends::in_an_evaluation},
  };
#ifdef RATION_TORCH
  all.push_back({.name = "network",
                 .method = "dpsgd",
                 .flags = "--model bag:8 --accountant rdp --steps 100 --checkpoint-every 5",
                 .network = true});
#endif
  return all;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

int kills_for_each() {
  const std::uint64_t cases = kill_cases().size();
  return static_cast<int>((number_from("RATION_KILLS", 3 * cases) + cases - 1) / cases);
}

Words split(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// What became of one method.
struct Score {
  int kills = 0;
  int resumed = 0;     // a checkpoint was taken up and the run went on to its end
  int refused = 0;     // a checkpoint, or an evaluation's folder, with the reason
  int finished = 0;    // with a certificate that verifies against the ledger
  int over_total = 0;  // new runs that a ledger had no room for
};

class KilledMethod : public ::testing::TestWithParam<KillCase> {
 protected:
  // --- what is run

  void SetUp() override {
    if (GetParam().network) {
      std::string lines;
      for (int i = 0; i < 150; ++i) lines += "so very good\t1\nquite bad\t0\n";
      folder_.write("rows", lines);
    } else {
      std::ofstream out(file("rows"));
      data::write_census(out, 300, 1);
    }
    folder_.write("schema.toml", to_toml(data::census_schema()));
    if (GetParam().spends == Spends::in_an_evaluation) {
      const Finished made = run_words(split(
          "train rows --schema schema.toml --rows 300 --epsilon 1 --delta 1e-5 --method dpsgd --steps 5 "
          "--quiet --out model"));
      ASSERT_EQ(made.exit_code, 0) << made.err;
    }
    opens_before_reserving();
    new_ledger(kRoom);
    measure_a_whole_life();
  }

  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string data() const { return GetParam().network ? "text:rows" : "rows"; }

  Words start_words(const std::string& run) const {
    const KillCase& one = GetParam();
    if (one.spends == Spends::in_an_evaluation)
      return split(fmt::format("evaluate model --data rows --epsilon {} --ledger {} --out {}", kEpsilon,
                               ledger_, run));
    std::string line = fmt::format(
        "train --data {} --method {} --epsilon {} --delta {} --relation {} --threads 1 --quiet --ledger {} "
        "--out {} {}",
        data(), one.method, kEpsilon, kDelta, one.relation, ledger_, run, one.flags);
    if (!one.network) line += " --schema schema.toml";
    if (!one.counts_rows) line += " --rows 300";
    return split(line);
  }
  Words next_words(const std::string& run) const {
    if (!has_checkpoint(run)) return start_words(run);
    return split("train --resume " + run + " --threads 1 --quiet");
  }
  Finished run_words(const Words& words) const { return run_program(RATION_BINARY, words, folder_.path()); }

  void new_ledger(double room) {
    ledger_ = fmt::format("budget{}.db", ++ledgers_);
    known_.clear();
    const Finished made =
        run_words(split(fmt::format("ledger init {} --data {} --epsilon {} --delta {} --relation {}", ledger_,
                                    data(), kEpsilon * room, kDelta * room, GetParam().relation)));
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  // A run that is refused for want of budget has opened the rows for their hash, and no further.
  void opens_before_reserving() {
    new_ledger(0.5);
    OpensOf rows(file("rows"));
    const Finished refused = run_words(start_words("run"));
    ASSERT_EQ(refused.exit_code, 2) << refused.err;
    opens_unpaid_ = rows.count();
  }

  void measure_a_whole_life() {
    OpensOf rows(file("rows"));
    const auto start = Clock::now();
    const Finished whole = run_words(start_words("whole"));
    life_ = Clock::now() - start;
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    ASSERT_TRUE(opens_unpaid_ == 0 || rows.count() > opens_unpaid_) << "the witness is blind";
    inspect("whole");
    if (GetParam().spends == Spends::by_plan) planned_steps_ = lines_of_progress("whole");
  }

  // --- kills

  Clock::duration share_of_life(double from, double to) {
    const double share = std::uniform_real_distribution<>(from, to)(random_);
    return std::chrono::duration_cast<Clock::duration>(share * std::chrono::duration<double>(life_));
  }

  template <class Condition>
  void wait_until(RunningProgram& program, Condition&& condition) const {
    while (!condition() && !program.has_ended()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  // Soon after the start, at any moment, near the end, when the rows were just opened, or among the first
  // steps.
  void wait_for_a_moment(const std::string& run, RunningProgram& program, OpensOf& rows) {
    const auto kind = random_() % 5;
    if (kind >= 3 && opens_unpaid_ > 0) {
      const std::string steps = file(run) + "/progress.csv";
      wait_until(program, [&] { return rows.count() > opens_unpaid_ && (kind == 3 || exists(steps)); });
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3000));
      return;
    }
    const auto end = Clock::now() + (kind == 0   ? share_of_life(0, 0.2)
                                     : kind == 1 ? share_of_life(0.75, 1.05)
                                                 : share_of_life(0, 1));
    wait_until(program, [&] { return Clock::now() >= end; });
  }

  // Its exit status says whether it was in time.
  Finished kill_at_random(const std::string& run) {
    const bool begins = !has_checkpoint(run);
    const std::size_t entries = Ledger(file(ledger_)).runs().size();
    OpensOf rows(file("rows"));
    RunningProgram program(RATION_BINARY, next_words(run), folder_.path());
    wait_for_a_moment(run, program, rows);
    program.signal(SIGKILL);
    const Finished ended = program.wait();
    if (begins && opens_unpaid_ > 0 && rows.count() > opens_unpaid_) {
      EXPECT_EQ(Ledger(file(ledger_)).runs().size(), entries + 1) << "rows were read and not paid for";
    }
    return ended;
  }

  // --- what has to hold whatever happened

  bool has_checkpoint(const std::string& run) const { return exists(file(run) + "/checkpoint/state.json"); }

  void inspect(const std::string& run) {
    // What died before its first charge may lack files; networks are known to the program, not to this one.
    const bool began = has_checkpoint(run) || exists(file(run) + "/certificate.json");
    if (began && !GetParam().network) expect_sound_files(file(run));
    const Ledger ledger(file(ledger_));
    expect_within_total(ledger);
    expect_nothing_forgotten(ledger);
    expect_charged_for(file(run), ledger);
    if (has_checkpoint(run)) expect_paid_checkpoint(checkpoint_in(file(run)), ledger);
  }

  static void expect_within_total(const Ledger& ledger) {
    const LedgerState state = ledger.states().at(0);
    Budget charged{};
    for (const LedgerRun& one : ledger.runs()) {
      charged.epsilon += one.charged.epsilon;
      charged.delta += one.charged.delta;
    }
    for (const Budget& spent : {charged, state.spent}) {
      EXPECT_LE(spent.epsilon, state.data.total.epsilon * (1 + 1e-12));
      EXPECT_LE(spent.delta, state.data.total.delta * (1 + 1e-12));
    }
    EXPECT_NEAR(charged.epsilon, state.spent.epsilon, 1e-9);
  }

  // What is not settled is charged whole; what is settled stays as it is; no entry goes away.
  void expect_nothing_forgotten(const Ledger& ledger) {
    const std::vector<LedgerRun> runs = ledger.runs();
    ASSERT_GE(runs.size(), known_.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool settled = runs[i].status == RunStatus::settled;
      EXPECT_EQ(runs[i].reserved.epsilon, kEpsilon);
      EXPECT_GE(runs[i].charged.epsilon, settled ? runs[i].stated.epsilon : kEpsilon);
      EXPECT_GT(runs[i].charged.epsilon, 0.5 * kEpsilon) << "given back, though rows were read";
      if (i < known_.size() && known_[i].status == RunStatus::settled) {
        EXPECT_TRUE(settled);
        EXPECT_EQ(runs[i].charged.epsilon, known_[i].charged.epsilon);
      }
    }
    known_ = runs;
  }

  // It names an open entry, and a plan's steps since it was written are paid for in it. They never become
  // fewer, and what was lost stays lost.
  void expect_paid_checkpoint(const Checkpoint& checkpoint, const Ledger& ledger) {
    ASSERT_TRUE(checkpoint.ledger.has_value()) << "a checkpoint that no ledger knows";
    const auto entry = static_cast<std::size_t>(checkpoint.ledger->entry.run);
    ASSERT_LE(entry, ledger.runs().size());
    if (GetParam().spends != Spends::by_plan) return;
    const TrainingState& state = checkpoint.training;
    const std::int64_t lost = state.charged - steps_done(state);
    EXPECT_GE(state.charged, charged_);
    EXPECT_GE(lost, lost_);
    if (steps_done(state) > 0 && state.charged < planned_steps_) {
      EXPECT_GT(lost, 0) << "steps were taken before they were paid for";
    }
    charged_ = state.charged;
    lost_ = lost;
  }

  // --- how a run's life ends

  bool is_finished(const std::string& run) const {
    if (GetParam().spends == Spends::in_an_evaluation) return exists(file(run) + "/evaluation.json");
    return exists(file(run) + "/model.json") && !has_checkpoint(run);
  }

  void expect_finished_run(const std::string& run) {
    ++score_.finished;
    if (GetParam().spends != Spends::in_an_evaluation) {
      expect_finished(file(run));
      const std::int64_t entry = certificate_in(file(run)).ledger->run;
      EXPECT_EQ(Ledger(file(ledger_)).runs().at(static_cast<std::size_t>(entry - 1)).status,
                RunStatus::settled);
    }
    const Finished verified = run_words({"verify", run, "--data", data(), "--ledger", ledger_});
    EXPECT_EQ(verified.exit_code, 0) << verified.err;
    if (GetParam().spends == Spends::by_plan) {
      EXPECT_EQ(lines_of_progress(run), planned_steps_ - lost_);
    }
  }

  // One for each step that was taken and not lost.
  std::int64_t lines_of_progress(const std::string& run) const {
    const std::string progress = read_whole_file(file(run) + "/progress.csv");
    return std::count(progress.begin(), progress.end(), '\n') - 1;
  }

  // One line that names the file and the rule; nothing else is a reason.
  void expect_refused_with_reason(const std::string& run, const Finished& ended) {
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, StartsWith("ration: "));
    if (ended.exit_code == 2) {
      ++score_.over_total;
      EXPECT_THAT(ended.err, HasSubstr(ledger_));
      EXPECT_THAT(ended.err, AnyOf(HasSubstr("left for these rows"), HasSubstr("is left")));
      const LedgerState state = Ledger(file(ledger_)).states().at(0);
      EXPECT_LT(state.remaining.epsilon, kEpsilon) << "refused, though there was room";
      return new_ledger(kRoom);
    }
    ++score_.refused;
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(run));
    EXPECT_THAT(ended.err, HasSubstr(reason_to_refuse()));
    cut_off_ += GetParam().spends == Spends::by_outputs;
  }
  std::string reason_to_refuse() const {
    switch (GetParam().spends) {
      case Spends::by_outputs:
        return "cut off while its method chose by what it saw";
      case Spends::in_an_evaluation:
        return "would be overwritten";
      case Spends::by_plan:
        break;
    }
    return lost_ > 0 && lost_ == planned_steps_ ? "all its releases paid for and lost"
                                                : "the answer is spent and lost";
  }

  // A run, killed up to three times, until it is finished or refused.
  void live(const std::string& run, int kills) {
    charged_ = lost_ = 0;
    for (int attempt = 0;; ++attempt) {
      const bool resumes = has_checkpoint(run);
      const bool to_be_killed = score_.kills < kills && attempt < 3;
      const Finished ended = to_be_killed ? kill_at_random(run) : run_words(next_words(run));
      SCOPED_TRACE(fmt::format("{}, attempt {}: {}", run, attempt, ended.err));
      inspect(run);
      if (HasFatalFailure()) return;
      if (ended.exit_code == 128 + SIGKILL) {
        ++score_.kills;
        if (!is_finished(run)) continue;
        // Nothing is left to do but to tidy up.
        if (GetParam().spends != Spends::in_an_evaluation) {
          EXPECT_THAT(run_words({"train", "--resume", run}).err, HasSubstr("this run is finished"));
        }
        return expect_finished_run(run);
      }
      if (ended.exit_code != 0) return expect_refused_with_reason(run, ended);
      score_.resumed += resumes;
      return expect_finished_run(run);
    }
  }

  void TearDown() override { scores().emplace_back(GetParam().name, score_); }

  static std::vector<std::pair<std::string, Score>>& scores() {
    static std::vector<std::pair<std::string, Score>> all;
    return all;
  }
  static void TearDownTestSuite() {
    const char* const line = "{:<26} {:>6} {:>8} {:>20} {:>9} {:>15}\n";
    fmt::print(fmt::runtime(line), "method", "kills", "resumed", "refused with reason", "finished",
               "ledger was full");
    Score sum;
    for (const auto& [name, one] : scores()) {
      fmt::print(fmt::runtime(line), name, one.kills, one.resumed, one.refused, one.finished, one.over_total);
      sum = {sum.kills + one.kills, sum.resumed + one.resumed, sum.refused + one.refused,
             sum.finished + one.finished, sum.over_total + one.over_total};
    }
    fmt::print(fmt::runtime(line), "all", sum.kills, sum.resumed, sum.refused, sum.finished, sum.over_total);
  }

  TemporaryFolder folder_;
  std::string ledger_;  // of the moment
  int ledgers_ = 0;
  std::vector<LedgerRun> known_;  // what the ledger said last
  std::int64_t planned_steps_ = 0;
  std::int64_t charged_ = 0;  // of the run's steps, at its last checkpoint
  std::int64_t lost_ = 0;
  int opens_unpaid_ = 0;
  int cut_off_ = 0;
  Clock::duration life_{};
  Score score_;
  std::mt19937_64 random_{number_from("RATION_KILLS_SEED", 1) + std::hash<std::string>()(GetParam().name)};
};

TEST_P(KilledMethod, NeverOverspendsAndGoesOnOrSaysWhyNot) {
  const int kills = kills_for_each();
  for (int run = 1; score_.kills < kills; ++run) {
    live("run" + std::to_string(run), kills);
    if (HasFailure()) FAIL() << GetParam().name << ", run " << run;
  }
  // A method that chooses as it goes spends what nobody can know: among many kills some must have cut it off.
  if (GetParam().spends == Spends::by_outputs && kills >= 15) {
    EXPECT_GT(cut_off_, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kills, KilledMethod, ::testing::ValuesIn(kill_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Kills, CoverEveryPrivateMethod) {
  std::set<std::string> covered;
  for (const KillCase& one : kill_cases()) covered.insert(one.method);
  for (const auto& method : name_table(MethodKind{}).values) {
    if (method.value != MethodKind::nonprivate) {
      EXPECT_TRUE(covered.contains(std::string(method.name))) << method.name;
    }
  }
}

}  // namespace
}  // namespace ration::testing
