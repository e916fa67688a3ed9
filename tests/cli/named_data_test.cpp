#include "data/named_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/ration_command.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

TEST(NamedDataCommands, TheSchemaOfAFormatIsKnownWithoutRows) {
  const Finished done = run_ration("schema mnist:nowhere");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(done.out, to_toml(*data::schema_of_data("mnist:nowhere")));
  EXPECT_EQ(ration_json("schema text:nowhere")["target"], "label");
}

TEST(NamedDataCommands, APlanDeclaresTheRowsOfAFormat) {
  const auto plan = ration_json("plan --data fashion-mnist --model scatter+softmax --epsilon 3 --delta 1e-5");
  EXPECT_EQ(plan["rows_declared"], 60000);
  EXPECT_EQ(plan["accountant"], "pld");
  const Finished refused =
      run_ration("plan --data text:a.tsv --model scatter+softmax --epsilon 3 --delta 1e-5");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("scatter+softmax needs images"));
}

TEST(NamedDataCommands, TextsAreTrainedOnEvaluatedAndPredicted) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 8; ++i) lines += "so good\t1\nquite bad\t0\n";
  folder.write("reviews.tsv", lines);
  folder.write("public.tsv", lines + "so good\t1\n");
  folder.write("new.tsv", "good\nbad\n");
  const Finished made =
      run_ration("ledger init budget.db --data text:reviews.tsv --epsilon 20000 --delta 1e-3", folder.path());
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Finished trained = run_ration(
      "train --data text:reviews.tsv --rows 16 --epsilon 10000 --delta 1e-5 --method dpsgd --steps 3 "
      "--ledger budget.db "
      "--out run --quiet",
      folder.path());
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(ration_json("evaluate run --data text:public.tsv --public", folder.path())["accuracy"], 1);
  EXPECT_EQ(ration_json("evaluate run --data text:reviews.tsv --epsilon 100 --ledger budget.db",
                        folder.path())["public"],
            false);
  EXPECT_EQ(run_ration("predict run --data text:new.tsv", folder.path()).out, "prediction\n1\n0\n");
}

}  // namespace
}  // namespace ration::testing
