// Every mechanism and every query of the oracle: what is proven stays below the claim, and a tenth of the
// noise is found out.
#include <gtest/gtest.h>

#include <algorithm>

#include "audit/mechanisms.h"

namespace ration::audit {
namespace {

constexpr double kDelta = 1e-5;

std::vector<double> claims_of(const std::vector<MechanismGame>& games) {
  std::vector<double> claims;
  for (const MechanismGame& one : games) claims.push_back(certified_epsilon(one.event, one.relation, kDelta));
  return claims;
}

// Fails by chance with probability 1e-4 at most. That the attacks are not too weak to show anything is the
// next test.
TEST(MechanismAudit, NothingContradictsItsClaim) {
  const Report report = audit_mechanisms(1, kDelta, {.trials = 20'000, .confidence = 0.9999});
  EXPECT_EQ(report.findings.size(), mechanism_games(1).size());
  for (const Finding& finding : report.findings) {
    RecordProperty(finding.attack, std::to_string(finding.bound));
    EXPECT_LE(finding.bound, finding.claim) << finding.attack;
  }
}

// With a tenth of the noise a pure epsilon of 1 is one of 10, of which 20,000 runs show some 5. The narrowest
// margin, a decrease found by Gaussian noise, is 1.7 with a standard deviation of .14 (60 repetitions):
// eleven standard deviations.
TEST(MechanismAudit, ATenthOfTheNoiseIsFoundOutEverywhere) {
  const std::vector<MechanismGame> broken = mechanism_games(0.1);
  const Report report =
      audit_mechanisms(broken, claims_of(mechanism_games(1)), kDelta, {.trials = 20'000, .confidence = 0.99});
  for (const Finding& finding : report.findings) {
    RecordProperty(finding.attack, std::to_string(finding.bound - finding.claim));
    EXPECT_TRUE(finding.contradicts()) << finding.attack << ": " << finding.bound << " of " << finding.claim;
  }
}

}  // namespace
}  // namespace ration::audit
