// Units of privacy from the command line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/refusal.h"
#include "support/child_process.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

class UnitCommands : public ::testing::Test {
 protected:
  UnitCommands() {
    std::string rows = "patient,age,back\n";
    for (int i = 0; i < 600; ++i)
      rows += fmt::format("p{},{},{}\n", i * i % 127, i % 90, i % 90 > 40 ? "yes" : "no");
    folder_.write("visits.csv", rows);
    folder_.write("schema.toml",
                  "label = 'back'\nunit = 'patient'\nrows_per_unit = 4\ncolumns = [\n"
                  "{ name = 'patient', type = 'ignore' },\n"
                  "{ name = 'age', type = 'number', low = 0, high = 90 },\n"
                  "{ name = 'back', type = 'category', categories = ['no', 'yes'] }]\n");
  }
  Finished run(const std::string& line) const { return run_ration(line, folder_.path()); }

  TemporaryFolder folder_;
};

constexpr const char* kTrain =
    "train visits.csv --schema schema.toml --method dpsgd --units 64 --epsilon 2 --delta 1e-4 ";

TEST_F(UnitCommands, FromTheLedgerToTheCertificate) {
  EXPECT_THAT(run("ledger init budget.db --data visits.csv --unit patient --epsilon 4 --delta 2e-4").out,
              HasSubstr("relation add_remove of patient"));
  EXPECT_THAT(run("ledger show budget.db").out, HasSubstr("add_remove of patient"));
  EXPECT_EQ(ration_json("ledger show budget.db", folder_.path())["data_sets"][0]["unit"], "patient");
  const std::string said = run(kTrain + std::string("--ledger budget.db --out run")).out;
  EXPECT_THAT(said, HasSubstr("protects    one patient, with up to 4 rows"));
  EXPECT_THAT(said, HasSubstr("units       64, declared"));
  EXPECT_THAT(said, HasSubstr(", for one patient, with up to 4 rows"));
  EXPECT_THAT(run("verify run --data visits.csv").out, HasSubstr("verified"));
  EXPECT_EQ(run("predict run --data visits.csv").exit_code, 0);
  expect_refused(run("evaluate run --data visits.csv --epsilon 1"), "the model protects each patient");
}

TEST_F(UnitCommands, ABudgetForRowsIsNotForUnits) {
  run("ledger init rows.db --data visits.csv --epsilon 4 --delta 2e-4");
  expect_refused(run(kTrain + std::string("--ledger rows.db --out never")),
                 "is for each row, the run protects each patient");
}

TEST_F(UnitCommands, FlagsSayItToo) {
  const auto plan = ration_json(
      "plan visits.csv --schema schema.toml --rows-per-unit 2 --units 64 --epsilon 2 "
      "--delta 1e-4 --method dpsgd",
      folder_.path());
  EXPECT_EQ(plan["unit"], "patient");
  EXPECT_EQ(plan["rows_per_unit"], 2);
  EXPECT_EQ(plan["units_declared"], 64);
  expect_refused(
      run("train visits.csv --schema schema.toml --method objpert --units 64 --epsilon 2 --delta 1e-4 "
          "--out never"),
      "use one of auto, dpsgd");
  expect_refused(
      run("train visits.csv --schema schema.toml --model mlp:8 --method dpsgd --units 64 --epsilon 2 "
          "--delta 1e-4 --out never"),
      "use a linear model");
  expect_refused(run("train visits.csv --schema schema.toml --rows 600 --epsilon 2 --delta 1e-4 --out never"),
                 "declare units in place of rows");
}

}  // namespace
}  // namespace ration::testing
