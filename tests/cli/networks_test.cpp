// Networks from the command line: trained, evaluated, asked, stopped, refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "support/ration_command.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NetworkCommands : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef RATION_TORCH
    GTEST_SKIP() << "built without networks (RATION_TORCH)";
#endif
    // At the end of a program with libtorch's threads the leak sanitizer's own tracer crashes now and then.
    // The layers are checked for leaks by tests/objectives/neural, in one process.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += "so very good\t1\nquite bad\t0\n";
    folder_.write("reviews.tsv", lines);
    folder_.write("public.tsv", lines + "quite bad\t0\n");
    folder_.write("new.tsv", "very good\nbad\n");
  }

  Finished run(const std::string& line) const {
    return run_ration(line, folder_.path());
  }
  std::string train(const std::string& more) const {
    return "train --data text:reviews.tsv --rows 80 --epsilon 1000 --delta 1e-5 --accountant rdp --threads 1 "
           "--out run "
           "--quiet " +
           more;
  }
  std::string file(const std::string& name) const {
    return read_whole_file(folder_.path() + "/run/" + name);
  }

  TemporaryFolder folder_;
};

TEST_F(NetworkCommands, TrainEvaluateAndPredict) {
  const Finished trained = run(train("--model bag:8 --steps 60 --lr 1"));  // far from where it began
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const nlohmann::json found = ration_json("evaluate run --data text:public.tsv --public", folder_.path());
  EXPECT_EQ(found["accuracy"], 1);
  EXPECT_EQ(found["auc"], 1);
  EXPECT_EQ(found["log_loss"], found["loss"]);
  // Two texts: with probability 1 - q each of its own label, the loss is a mean of -log(1 - q), the score of
  // q^2.
  ASSERT_EQ(found["calibration"].size(), 2u);
  double loss = 0, squares = 0;
  for (int k : {0, 1}) {
    const nlohmann::json& bin = found["calibration"][k];
    const double wrong = k == 0 ? bin["said"].get<double>() : 1 - bin["said"].get<double>();
    loss -= std::log1p(-wrong) * bin["rows"].get<double>() / 81;
    squares += wrong * wrong * bin["rows"].get<double>() / 81;
  }
  EXPECT_NEAR(found["log_loss"], loss, 1e-6);
  EXPECT_NEAR(found["brier"], squares, 1e-6);
  const nlohmann::json noisy =
      ration_json("evaluate run --data text:public.tsv --epsilon 1000 --scores", folder_.path());
  EXPECT_NEAR(noisy["auc"], 1, 0.01);
  EXPECT_EQ(run("predict run --data text:new.tsv").out, "prediction\n1\n0\n");
  EXPECT_THAT(run("verify run").out, HasSubstr("verified"));
  EXPECT_THAT(file("certificate.txt"), HasSubstr("rounding sums within a batch to 32 bits"));
  EXPECT_THAT(file("plan.toml"), AllOf(HasSubstr("model = \"bag:8\""), HasSubstr("clip = \"auto-s\"")));
}

TEST_F(NetworkCommands, DevicesAreRefusedBeforeAnythingIsReadOrWritten) {
  EXPECT_EQ(run(train("--model bag:8 --steps 3 --device cpu")).exit_code, 0);
  const auto refused = [&](const std::string& more, const char* why) {
    const Finished ended =
        run("train --data text:reviews.tsv --epsilon 1 --delta 1e-5 --out other --quiet " + more);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr(why));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/other"));
  };
  refused("--model bag:8 --device gpu", "device: expected cpu, cuda or cuda:NUMBER, got 'gpu'");
  refused("--model bag:8 --device cuda:77", "'cuda:77'");
  refused("--device cuda", "device: 'cuda' is for neural networks");
}

TEST_F(NetworkCommands, EveryMethodForNetworksRuns) {
  for (const char* method : {"dpadam", "blsgd", "sgd-ma", "nonprivate"}) {
    const std::string steps = std::string(method) == "blsgd" ? "--per-layer --expected-steps 3 --rate 0.5"
                              : std::string(method) == "nonprivate" ? ""
                                                                    : "--per-layer --steps 3";
    const Finished trained =
        run("train --data text:reviews.tsv --rows 80 --epsilon 3 --delta 1e-5 --threads 1 --out " +
            std::string(method) + " --quiet --model transformer:1,8,2 --method " + method + " " + steps);
    EXPECT_EQ(trained.exit_code, 0) << method << ": " << trained.err;
  }
}

// A network begins where it is drawn, and keeps its weights in 32 bits: so does the run that is estimated.
// Two runs are few: by luck all estimates may come out below 0, as they did once in two dozen tries, and the
// command says so. Five times in a row that has a probability of about 1e-7.
TEST_F(NetworkCommands, TheInfluenceOfTheirNoiseIsEstimated) {
  for (const char* more : {"--model bag:8", "--model transformer:1,8,2 --per-layer --step adam"}) {
    const std::string line =
        std::string(
            "schedule --shape influence:estimated --data text:reviews.tsv --rows 8000 --steps 4 "
            "--epsilon 3 --delta 1e-5 --runs 2 --lr 1 --out s.csv --json ") +
        more;
    Finished estimated = run(line);
    for (int again = 0;
         again < 4 && estimated.err.find("the runs are too few to see it") != std::string::npos; ++again)
      estimated = run(line);
    ASSERT_EQ(estimated.exit_code, 0) << more << estimated.err;
    const nlohmann::json result = nlohmann::json::parse(estimated.out);
    EXPECT_EQ(result.at("influence").size(), 4u) << more;
    EXPECT_LE(result.at("epsilon"), 3) << more;
    const Finished trained = run(train(std::string("--schedule s.csv --rate 1 ") + more));
    EXPECT_EQ(trained.exit_code, 0) << more << trained.err;
    std::filesystem::remove_all(folder_.path() + "/run");
  }
}

TEST_F(NetworkCommands, RefuseWhatDoesNotFit) {
  EXPECT_THAT(run(train("--model mlp:0")).err,
              AllOf(HasSubstr("--model: expected one of auto, logistic"), HasSubstr("mlp:WIDTH")));
  EXPECT_THAT(run(train("--model cnn:papernot")).err, HasSubstr("cnn:papernot is for images"));
  EXPECT_THAT(run(train("--model bag:8 --method objpert")).err,
              HasSubstr("method objpert is for linear models, and bag:8 is a network"));
}

}  // namespace
}  // namespace ration::testing
