#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "cli/refusal.h"
#include "data/content_hash.h"
#include "methods/protector/protectors.h"
#include "ration/data/census.h"
#include "ration/data/schema.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kQuick = " --epsilon 0.5 --delta 1e-6 --epochs 1 --steps 5 --threads 1";

// The made-up census in two files: one to practise on, one to protect.
class ProtectorCommand : public ::testing::Test {
 protected:
  ProtectorCommand() {
    write_census("public.csv", 1);
    write_census("private.csv", 2);
    folder_.write("census.toml", to_toml(data::census_schema()));
  }
  void write_census(const std::string& name, std::uint64_t seed) {
    std::ofstream out(folder_.path() + "/" + name);
    data::write_census(out, 400, seed);
  }
  std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
  json run(const std::string& line) const { return ration_json(line, folder_.path()); }
  Finished raw(const std::string& line) const { return run_ration(line, folder_.path()); }
  void expect_refusal(const std::string& line, const std::string& message) const {
    SCOPED_TRACE(line);
    expect_refused(raw(line), message);
  }

  TemporaryFolder folder_;
};

TEST_F(ProtectorCommand, TrainsOnQuadraticsAndShowsThem) {
  const json made = run("protector train --tasks quadratic --out q.protector" + kQuick);
  EXPECT_EQ(made.at("finished"), true);
  EXPECT_EQ(made.at("tasks"), "quadratic");
  EXPECT_EQ(made.at("private"), false);
  EXPECT_THAT(made.at("data_sha256"), IsEmpty());
  const json shown = run("protector show q.protector");
  for (const char* const key :
       {"tasks", "model", "epsilon", "delta", "steps", "rate", "clip_bound", "epochs", "scheduler", "norm",
        "units", "validation_loss", "untrained_loss", "sha256", "version"})
    EXPECT_EQ(shown.at(key), made.at(key)) << key;
  EXPECT_EQ(shown.at("steps"), 5);
  EXPECT_EQ(shown.at("epsilon"), 0.5);
  const Finished text = raw("protector show q.protector");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("trained on  quadratic"), HasSubstr("no data: its tasks were made up"),
                    HasSubstr(made.at("sha256").get<std::string>())));
}

TEST_F(ProtectorCommand, TheSameSeedGivesTheSameProtector) {
  const std::string line = "protector train --tasks quadratic" + kQuick;
  const json first = run(line + " --seed 3 --out a.protector");
  EXPECT_EQ(run(line + " --seed 3 --out b.protector").at("sha256"), first.at("sha256"));
  EXPECT_NE(run(line + " --seed 4 --out c.protector").at("sha256"), first.at("sha256"));
}

TEST_F(ProtectorCommand, PractisesOnATableAndRefusesToProtectIt) {
  const std::string train =
      "protector train --tasks table --data public.csv --schema census.toml --out c.protector" + kQuick;
  const Finished made = raw(train);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr("public.csv is read WITHOUT PRIVACY"), HasSubstr("must be PUBLIC")));
  const std::string rest =
      " --schema census.toml --rows 400 --method l2p --protector c.protector --epsilon 0.5 --delta 1e-6";
  const json trained = run("train --data private.csv --out run" + rest);
  EXPECT_EQ(trained.at("method"), "l2p");
  EXPECT_EQ(trained.at("epsilon"), 0.5);
  EXPECT_GT(trained.at("steps"), 0);
  const json certificate = json::parse(read_whole_file(file("run/certificate.json")));
  EXPECT_THAT(certificate.dump(), HasSubstr("the protector with sha256"));
  EXPECT_EQ(raw("verify run").exit_code, 0);
  expect_refusal("train --data public.csv --out run2" + rest, "trained on these very rows");
  EXPECT_FALSE(std::filesystem::exists(file("run2")));
  // The projector alone, from the same file.
  EXPECT_EQ(run("train --data private.csv --out run3 --schema census.toml --rows 400 --method l2p-proj "
                "--protector c.protector "
                "--epsilon 0.5 --delta 1e-6")
                .at("steps"),
            5);
}

TEST_F(ProtectorCommand, DraftsASchemaOfPublicRows) {
  const std::string text = read_whole_file(file("public.csv"));
  const std::string header = text.substr(0, text.find('\n'));
  const std::string last = header.substr(header.rfind(',') + 1);
  const Finished made = raw("protector train --tasks table --data public.csv --out d.protector" + kQuick);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr("without --schema, bounds and categories were drafted from it too"),
                              HasSubstr("the target is column '" + last + "'")));
  EXPECT_EQ(run("protector show d.protector").at("data_sha256").at(0),
            data::content_hash(file("public.csv")));
  // Numbers without a header.
  std::string numbers;
  for (int i = 0; i < 200; ++i) numbers += fmt::format("{} {} {}\n", i % 7, i % 13, i % 2);
  folder_.write("numbers.dat", numbers);
  EXPECT_THAT(raw("protector train --tasks table --data numbers.dat --out n.protector" + kQuick).err,
              HasSubstr("the target is column 'c2'"));
}

TEST_F(ProtectorCommand, GoesOnFromAnotherAndRemembersItsData) {
  run("protector train --tasks table --data public.csv --schema census.toml --out a.protector" + kQuick);
  const json next = run("protector train --tasks quadratic --from a.protector --out b.protector" + kQuick);
  EXPECT_EQ(next.at("data_sha256").at(0), data::content_hash(file("public.csv")));
}

// The first Ctrl-C: the best so far is written, and it is a whole protector.
TEST_F(ProtectorCommand, CtrlCLeavesTheBestSoFar) {
  run("protector train --tasks quadratic --out first.protector" + kQuick);
  RunningProgram training(RATION_BINARY, {"protector", "train",     "--tasks", "quadratic", "--epsilon",
                                          "0.5",       "--delta",   "1e-6",    "--from",    "first.protector",
                                          "--epochs",  "100000",    "--steps", "50",        "--unrolls",
                                          "24",        "--threads", "1",       "--out",     "q.protector"},
                          folder_.path());
  std::this_thread::sleep_for(std::chrono::seconds(5));
  training.signal(SIGINT);
  const Finished ended = training.wait();
  EXPECT_EQ(ended.exit_code, 130);
  if (ended.err.find("before the first validation") != std::string::npos) return;  // a slow machine
  EXPECT_THAT(ended.err, HasSubstr("q.protector holds the best protector so far"));
  EXPECT_NO_THROW(read_protector(file("q.protector")));
}

TEST_F(ProtectorCommand, BadInputIsRefusedWithWhatWouldDo) {
  const std::string train = "protector train --epsilon 0.5 --delta 1e-6 --out x.protector";
  expect_refusal(train, "--tasks is needed: quadratic, table or images");
  expect_refusal(train + " --tasks squares",
                 "--tasks: expected one of quadratic, table, images, got 'squares'");
  expect_refusal(train + " --tasks quadratic --data public.csv",
                 "--data is not used by tasks quadratic; leave it out");
  expect_refusal(train + " --tasks table --model softmax", "generated tables have two classes");
  expect_refusal(train + " --tasks table --model lasso",
                 "--model: expected one of logistic, softmax, hinge, huber, squared, got 'lasso'");
  expect_refusal(train + " --tasks images", "--data is needed");
  expect_refusal(train + " --tasks images --data public.csv", "expected mnist:DIR or fashion-mnist");
  expect_refusal(train + " --tasks quadratic --scheduler hard",
                 "--scheduler: expected one of none, soft, lagrangian, batch, batch-soft");
  expect_refusal(train + " --tasks quadratic --norm exact", "--norm: expected one of released, previous");
  expect_refusal(train + " --tasks quadratic --rate 0.1", "--rate: tasks quadratic");
  expect_refusal("protector train --tasks quadratic --epsilon 1 --delta 1e-6", "--out is needed");
  expect_refusal("protector train --tasks quadratic --delta 1e-6 --out x.protector", "--epsilon");
  expect_refusal("protector show", "which file?");
  expect_refusal("protector show none.protector", "none.protector");
  expect_refusal("protector show public.csv", "public.csv: not a protector");
  expect_refusal("protector", "expected a command: train, show");
  folder_.write("old.protector", "{\"format\":\"ration protector\",\"version\":0}");
  expect_refusal("protector show old.protector", "expected protector version 1, got 0");
  EXPECT_FALSE(std::filesystem::exists(file("x.protector")));
}

// A method's row in a comparison names its protector beside the file.
TEST_F(ProtectorCommand, CanBeCompared) {
  folder_.write("p.protector", to_json(untrained_protector(1)));
  Protector seen = untrained_protector(2);
  seen.origin.data_hashes = {data::content_hash(file("private.csv"))};
  folder_.write("seen.protector", to_json(seen));
  folder_.write("cmp.toml", R"(
public = true
epsilons = [1]
delta = 1e-6
folds = 2
[data.census]
files = "private.csv"
schema = "census.toml"
[models.logistic]
[methods.learned]
method = "l2p"
protector = "p.protector"
[methods.seen]
method = "l2p"
protector = "seen.protector"
)");
  const Finished compared = raw("compare --plan cmp.toml --out cmp --json --threads 1");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("learned"), HasSubstr("trained on these very rows")));
}

}  // namespace
}  // namespace ration::testing
