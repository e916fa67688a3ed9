#include "ration/clipping/clip_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "ration/base/error.h"
#include "ration/clipping/any_clip_rule.h"
#include "support/generators.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Every rule runs these; a new rule is one more line.
template <class Rule>
class EveryClipRule : public ::testing::Test {};
using Rules = ::testing::Types<Abadi, AutoV, AutoS>;
TYPED_TEST_SUITE(EveryClipRule, Rules);

TYPED_TEST(EveryClipRule, NoContributionIsLongerThanTheBound) {
  const auto holds = [] {
    TypeParam rule;
    rule.R = *log_uniform(1e-8, 1e8);
    const double norm = *log_uniform(1e-150, 1e150);
    RC_ASSERT(norm * clip_factor(rule, norm) <= rule.bound());
    RC_ASSERT(clip_factor(rule, norm) >= 0);
  };
  EXPECT_TRUE(rc::check(holds));
}

TYPED_TEST(EveryClipRule, WhatIsNoNormContributesNothing) {
  const TypeParam rule;
  for (const double norm : {0.0, 5e-324, -1.0, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_EQ(clip_factor(rule, norm), 0) << norm;
  }
}

TYPED_TEST(EveryClipRule, ExtremeNormsStayWithinTheBound) {
  TypeParam rule;
  for (const double bound : {1e-300, 2.7e-15, 2.7e-14, 3e-12, 1e-6, 1.0, 1e300}) {
    rule.R = bound;
    for (const double norm :
         {std::numeric_limits<double>::min(), 1e-160, 1e160, 1.7e308, std::numeric_limits<double>::max()}) {
      const double factor = clip_factor(rule, norm);
      EXPECT_TRUE(std::isfinite(factor));
      EXPECT_LE(norm * factor, bound) << norm;
      EXPECT_TRUE(factor == 0 || factor > std::numeric_limits<double>::min() / 2) << norm;
    }
  }
}

TYPED_TEST(EveryClipRule, SensitivityDoublesUnderReplaceOne) {
  TypeParam rule;
  rule.R = 3;
  EXPECT_EQ(sensitivity(rule, Relation::add_remove), 3);
  EXPECT_EQ(sensitivity(rule, Relation::replace_one), 6);
}

TEST(ClipRules, TheirFactors) {
  EXPECT_EQ(Abadi{2}.factor(1), 1);
  EXPECT_EQ(Abadi{2}.factor(8), 0.25);
  EXPECT_EQ(AutoV{2}.factor(8), 0.25);
  EXPECT_EQ(AutoV{2}.factor(0.5), 4);
  EXPECT_EQ((AutoS{2, 0.5}.factor(7.5)), 0.25);
  EXPECT_DOUBLE_EQ(AutoS{}.factor(0.99), 1);
}

TEST(AnyClipRule, IsChosenByName) {
  for (const char* name : {"abadi", "auto-v", "auto-s"}) {
    const AnyClipRule rule = AnyClipRule::of(named<ClipKind>(name), 2, 0.5);
    EXPECT_EQ(rule.name(), name);
    EXPECT_EQ(rule.bound(), 2);
    EXPECT_EQ(rule.sensitivity(Relation::add_remove), 2);
    EXPECT_EQ(rule.sensitivity(Relation::replace_one), 4);
    EXPECT_EQ(rule.with_bound(5).bound(), 5);
    EXPECT_EQ(rule.with_bound(5).name(), name);
  }
  const AnyClipRule rule = AnyClipRule::of(named<ClipKind>("auto-s"), 2, 0.5);
  EXPECT_EQ(rule.visit([](const auto& chosen) { return chosen.factor(7.5); }), 0.25);
}

TEST(AnyClipRule, RefusesWhatNoRuleAllows) {
  EXPECT_THAT(
      [] { AnyClipRule::of(named<ClipKind>("auto"), 1, 1); },
      ThrowsMessage<InputError>(HasSubstr("expected one of abadi, auto-v, auto-s, adaptive, got 'auto'")));
  EXPECT_THAT([] { AnyClipRule::of(named<ClipKind>("abadi"), 0, 1); },
              ThrowsMessage<InputError>(HasSubstr("expected R > 0, got R=0")));
  EXPECT_THROW(AnyClipRule::of(named<ClipKind>("auto-v"), -1, 1), InputError);
  EXPECT_THROW(AnyClipRule::of(named<ClipKind>("auto-s"), 1, 0), InputError);
  EXPECT_THROW(AnyClipRule::of(named<ClipKind>("auto-s"), std::nan(""), 1), InputError);
  EXPECT_THROW(AnyClipRule(Abadi{1}).with_bound(kInfinity), InputError);
}

}  // namespace
}  // namespace ration::testing
