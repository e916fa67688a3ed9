#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ration/privacy/certificate.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Demo, ShowsAccuracyBudgetAndCertificateAndLeavesNoFile) {
  const TemporaryFolder folder;
  const Finished finished = run_ration("demo", folder.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("always 'no'"));
  EXPECT_THAT(finished.out, HasSubstr("epsilon 1 of 1  [####################] 100 %"));
  EXPECT_THAT(finished.out, HasSubstr("PRIVACY CERTIFICATE"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// A logistic model without noise gets about 85 % right (data/census.h), the majority 76 %.
TEST(Demo, TheModelBeatsTheMajorityAndItsCertificateHolds) {
  const json result = ration_json("demo");
  ASSERT_EQ(result.at("results").size(), 3u);
  const json& last = result.at("results").back();
  EXPECT_GT(last.at("accuracy"), result.at("majority").get<double>() + 0.06);
  EXPECT_LE(last.at("epsilon"), 1.0);
  EXPECT_GT(last.at("epsilon"), 0.99);
  EXPECT_TRUE(verify(certificate_from_json(result.at("certificate").dump())).holds());
}

TEST(Demo, KeepsTheRunIfAsked) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_ration("demo --quiet --out run", folder.path()).exit_code, 0);
  EXPECT_EQ(run_ration("verify run/certificate.json", folder.path()).exit_code, 0);
  EXPECT_EQ(run_ration("demo --out run", folder.path()).exit_code, 1);
}

}  // namespace
}  // namespace ration::testing
