#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "cli/refusal.h"
#include "ration/privacy/certificate.h"
#include "ration/privacy/ledger.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kInit =
    "ledger init budget.db --data-hash 0123abcd --name adult --epsilon 2 --delta 1e-6";

TEST(LedgerCommand, InitHashesTheFilesBytes) {
  const TemporaryFolder folder;
  folder.write("adult.csv", "age\n17\n");
  const json made =
      ration_json("ledger init budget.db --data adult.csv --epsilon 2 --delta 1e-6", folder.path());
  EXPECT_TRUE(Ledger(folder.path() + "/budget.db").knows(sha256("age\n17\n")));
  EXPECT_EQ(made.at("data_hash"), Ledger(folder.path() + "/budget.db").fingerprint(sha256("age\n17\n")));
  EXPECT_EQ(made.at("name"), "adult.csv");
  EXPECT_EQ(made.at("relation"), "add_remove");
  EXPECT_EQ(made.at("epsilon"), 2.0);
  EXPECT_EQ(made.at("delta"), 1e-6);
  EXPECT_EQ(made.at("epsilon_remaining"), 2.0);
}

// Nobody knows yet how many rows there are.
TEST(LedgerCommand, InitCautionsOfALargeDelta) {
  const TemporaryFolder folder;
  folder.write("adult.csv", "age\n17\n");
  const std::string init = "ledger init budget.db --data-hash ab --name a --epsilon 2 --delta ";
  const Finished warned = run_ration(init + "0.01", folder.path());
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_THAT(warned.out,
              HasSubstr("\ncaution: delta 0.01 is above 0.0001, and how many rows there are is not "
                        "known: from 100 rows on, even publishing"));
  const json small = ration_json("ledger init b.db --data adult.csv --epsilon 2 --delta 1e-4", folder.path());
  EXPECT_TRUE(small.at("cautions").empty());
}

TEST(LedgerCommand, ShowSaysWhatIsSpentAndWhatIsLeft) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_ration(kInit, folder.path()).exit_code, 0);
  {
    Ledger ledger(folder.path() + "/budget.db");
    auto run = ledger.reserve({.data_hash = "0123abcd", .budget = {0.5, 1e-7}, .what = "dpsgd"});
    run->settle({0.25, 1e-7}, SpendingBy::plan);
  }
  const json shown = ration_json("ledger show budget.db", folder.path()).at("data_sets").at(0);
  EXPECT_EQ(shown.at("epsilon_spent"), 0.25);
  EXPECT_EQ(shown.at("epsilon_remaining"), 1.75);
  EXPECT_EQ(shown.at("delta_remaining"), 9e-7);
  EXPECT_EQ(shown.at("runs"), 1);
  const Finished table = run_ration("ledger show budget.db", folder.path());
  const std::string hash = shown.at("data_hash").get<std::string>().substr(0, 12);
  EXPECT_THAT(table.out,
              HasSubstr("adult     epsilon      2   0.25   1.75     1  add_remove  " + hash + "\n"));
  EXPECT_THAT(table.out, HasSubstr("          delta    1e-06  1e-07  9e-07\n"));
}

TEST(LedgerCommand, RunsListsThemWithTheirStatus) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_ration(kInit, folder.path()).exit_code, 0);
  EXPECT_EQ(run_ration("ledger runs budget.db", folder.path()).out, "no runs yet\n");
  Ledger ledger(folder.path() + "/budget.db");
  const RunRequest request{.data_hash = "0123abcd", .budget = {0.5, 1e-7}, .what = "dpsgd, logistic"};
  { const auto abandoned = ledger.reserve(request); }
  auto settled = ledger.reserve(request);
  settled->settle({0.25, 1e-7}, SpendingBy::outputs);
  const auto open = ledger.reserve(request);
  const json runs = ration_json("ledger runs budget.db", folder.path()).at("runs");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].at("status"), "abandoned");
  EXPECT_EQ(runs[1].at("status"), "settled");
  EXPECT_EQ(runs[1].at("epsilon"), 0.5);
  EXPECT_EQ(runs[1].at("epsilon_stated"), 0.25);
  EXPECT_EQ(runs[2].at("status"), "open");
  EXPECT_TRUE(runs[2].at("ended").is_null());
  const std::string table = run_ration("ledger runs budget.db", folder.path()).out;
  EXPECT_THAT(table, HasSubstr("dpsgd, logistic\n"));
  for (const std::string& shown : {table, runs.dump()}) {
    EXPECT_THAT(shown, Not(HasSubstr(open->holder().substr(0, 8)))) << "who knows the token can take the run";
  }
}

TEST(LedgerCommand, BadInputIsOneLineAndExitStatusOne) {
  const TemporaryFolder folder;
  folder.write("notes.txt", "hello");
  const auto expect_message = [&](const std::string& line, const std::string& message) {
    expect_refused(run_ration(line, folder.path()), message);
  };
  expect_message("ledger", "ledger: expected a command: init, show, runs");
  expect_message("ledger shw", "ledger: unknown command 'shw'; did you mean 'show'?");
  expect_message("ledger show", "which ledger? ration ledger show FILE");
  expect_message("ledger show a.db b.db", "ledger show: unexpected word 'b.db'");
  expect_message("ledger show none.db", "none.db: cannot open the ledger: No such file");
  expect_message("ledger show none.db", "; create it with 'ration ledger init'");
  expect_message("ledger runs notes.txt", "notes.txt: not a ledger");
  expect_message("ledger init --epsilon 1 --delta 0", "which ledger?");
  expect_message("ledger init a.db --name a --epsilon 1 --delta 0",
                 "give either --data FILE or --data-hash HASH");
  expect_message("ledger init a.db --data-hash x --epsilon 1 --delta 0", "--name is needed");
  expect_message("ledger init a.db --data-hash x --name a --delta 0", "--epsilon is needed");
  expect_message("ledger init a.db --data-hash x --name a --epsilon 1", "--delta is needed");
  expect_message("ledger init a.db --data-hash x --name a --epsilon 0 --delta 0",
                 "expected epsilon > 0, got '0'");
  expect_message("ledger init a.db --data-hash x --name a --epsilon 1 --delta 1", "expected 0 <= delta < 1");
  expect_message("ledger init a.db --data-hash x --name a --epsilon 1 --delta 0 --relation swap",
                 "--relation: expected one of add_remove, replace_one, got 'swap'");
  expect_message("ledger init a.db --data none.csv --epsilon 1 --delta 0",
                 "none.csv: cannot read: No such file");
  expect_message("ledger init no/a.db --data-hash x --name a --epsilon 1 --delta 0",
                 "no/a.db: cannot open the ledger: No such file or directory\n");
  ASSERT_EQ(run_ration(kInit, folder.path()).exit_code, 0);
  expect_message(kInit, "this data set has a budget already: 'adult', epsilon 2, delta 1e-06");
}

TEST(LedgerCommand, HelpHasExamples) {
  for (const char* command : {"ledger", "ledger init", "ledger show", "ledger runs", "verify"}) {
    const Finished finished = run_ration(std::string(command) + " --help");
    EXPECT_EQ(finished.exit_code, 0) << command;
    EXPECT_THAT(finished.out, HasSubstr("Examples:\n  ration ")) << command;
  }
}

std::string honest_certificate() {
  const Event released = Event::repeated(Event::poisson_sampled(0.01, Event::gaussian(1.1)), 700);
  Certificate certificate =
      certify(released, Relation::add_remove, Accountant::rdp, {3, 1e-5}, SpendingBy::plan);
  certificate.secure_random = true;
  return to_json(certificate);
}

TEST(VerifyCommand, AgreesWithAccount) {
  const TemporaryFolder folder;
  folder.write("certificate.json", honest_certificate());
  const json found = ration_json("verify certificate.json", folder.path());
  EXPECT_EQ(found.at("verified"), true);
  const json accounted =
      ration_json("account --rate 0.01 --noise 1.1 --steps 700 --delta 1e-5 --accountant rdp");
  EXPECT_NEAR(found.at("epsilon"), accounted.at("epsilon"), 1e-12);
  EXPECT_THAT(run_ration("verify certificate.json", folder.path()).out,
              StartsWith("certificate.json: verified: epsilon "));
}

TEST(VerifyCommand, AForgeryIsExitStatusOneAlsoWithJson) {
  const TemporaryFolder folder;
  json forged = json::parse(honest_certificate());
  forged["epsilon"] = 0.5;
  folder.write("certificate.json", forged.dump());
  expect_refused(run_ration("verify certificate.json", folder.path()),
                 "certificate.json: not verified: it states epsilon 0.5, but its events cost ");
  const Finished with_json = run_ration("verify certificate.json --json", folder.path());
  EXPECT_EQ(with_json.exit_code, 1);
  EXPECT_EQ(json::parse(with_json.out).at("verified"), false);
}

TEST(VerifyCommand, WhatIsNoCertificateIsRefused) {
  const TemporaryFolder folder;
  folder.write("a.json", "{\"epsilon\": 1}");
  folder.write("b.json", "PRIVACY CERTIFICATE\n");
  expect_refused(run_ration("verify"), "which certificate?");
  expect_refused(run_ration("verify none.json", folder.path()), "none.json: cannot read");
  expect_refused(run_ration("verify ."), "./certificate.json: cannot read: No such file");
  expect_refused(run_ration("verify a.json", folder.path()),
                 "a.json: certificate: the key 'format' is missing");
  expect_refused(run_ration("verify b.json", folder.path()), "b.json: certificate: not valid JSON");
}

}  // namespace
}  // namespace ration::testing
