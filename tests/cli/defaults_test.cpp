// What is not said is the same for every command that plans steps: account, calibrate, schedule and plan
// (which is train without rows).
#include <gtest/gtest.h>

#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;

class SameDefaults : public ::testing::TestWithParam<const char*> {};

TEST_P(SameDefaults, OfSamplingRelationAndAccountant) {
  const std::string rows = GetParam();
  const json account = ration_json("account --noise 5 --steps 20 --delta 1e-6 " + rows);
  const json calibrate = ration_json("calibrate --epsilon 1 --steps 20 --delta 1e-6 " + rows);
  const json schedule = ration_json("schedule --shape uniform --epsilon 1 --steps 20 --delta 1e-6 " + rows);
  const json plan =
      ration_json("plan --method dpsgd --rows 1000 --epsilon 1 --steps 20 --delta 1e-6 " + rows);
  for (const char* key : {"sampling", "relation", "accountant", "rate"}) {
    EXPECT_EQ(account.at(key), plan.at(key)) << key;
    EXPECT_EQ(calibrate.at(key), plan.at(key)) << key;
    EXPECT_EQ(schedule.at(key), plan.at(key)) << key;
  }
  EXPECT_NEAR(calibrate.at("noise_multiplier").get<double>() / plan.at("noise_multiplier").get<double>(), 1,
              1e-3);
}

INSTANTIATE_TEST_SUITE_P(Each, SameDefaults,
                         ::testing::Values("", "--rate 0.1", "--sampling full",
                                           "--sampling poisson --rate 0.1", "--sampling fixed --rate 0.1",
                                           "--relation replace_one",
                                           "--sampling auto --accountant auto --relation auto"));

}  // namespace
}  // namespace ration::testing
