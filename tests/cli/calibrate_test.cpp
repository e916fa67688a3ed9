#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kTarget = 3;

// The answer spends the target and never more.
void expect_meets_target(const json& result) {
  EXPECT_LE(result.at("epsilon"), kTarget);
  EXPECT_GE(result.at("epsilon"), kTarget * (1 - 1e-3));
  EXPECT_EQ(result.at("epsilon_target"), kTarget);
}

TEST(Calibrate, NoiseByPldMeetsTheTarget) {
  const json result = ration_json(
      "calibrate --sampling poisson --rate 0.01 --steps 1000 --epsilon 3 --delta 1e-5 --accountant pld");
  expect_meets_target(result);
  EXPECT_GT(result.at("noise_multiplier"), 0.5);
  EXPECT_EQ(result.at("solved_for"), "noise");
}

TEST(Calibrate, NoiseFedBackToAccountStaysWithinTheTarget) {
  const json found = ration_json("calibrate --sampling full --steps 100 --epsilon 3 --delta 1e-5");
  const json again = ration_json(fmt::format("account --sampling full --steps 100 --delta 1e-5 --noise {}",
                                             found.at("noise_multiplier").get<double>()));
  EXPECT_LE(again.at("epsilon"), kTarget);
}

TEST(Calibrate, PrintedNoiseIsRoundedUp) {
  const std::string line = "calibrate --sampling poisson --rate 0.01 --steps 1000 --epsilon 3 --delta 1e-5";
  const Finished quiet = run_ration(line + " --quiet");
  EXPECT_GE(std::stod(quiet.out), ration_json(line).at("noise_multiplier").get<double>());
}

TEST(Calibrate, OneMoreStepWouldExceedTheTarget) {
  const json found =
      ration_json("calibrate --for steps --sampling poisson --rate 0.01 --noise 1 --epsilon 3 --delta 1e-5");
  EXPECT_LE(found.at("epsilon"), kTarget);
  const json more =
      ration_json(fmt::format("account --sampling poisson --rate 0.01 --noise 1 --delta 1e-5 --steps {}",
                              found.at("steps").get<std::int64_t>() + 1));
  EXPECT_GT(more.at("epsilon"), kTarget);
}

TEST(Calibrate, RateMeetsTheTarget) {
  const json result =
      ration_json("calibrate --for rate --sampling poisson --noise 1 --steps 1000 --epsilon 3 --delta 1e-5");
  expect_meets_target(result);
  EXPECT_GT(result.at("rate"), 0.0);
  EXPECT_LT(result.at("rate"), 1.0);
}

TEST(Calibrate, AllListsEveryAccountant) {
  const std::string line =
      "calibrate --sampling poisson --rate 0.01 --steps 1000 --epsilon 3 --delta 1e-5 --accountant all";
  const json result = ration_json(line);
  EXPECT_EQ(result.at("results").size(), 7u);
  const Finished table = run_ration(line);
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("smallest noise multiplier within epsilon 3"));
  EXPECT_THAT(table.out, HasSubstr("zcdp"));
}

}  // namespace
}  // namespace ration::testing
