// Whoever looks on at the door sees what was handed out, and changes nothing.
#include "ration/oracle/release_observer.h"

#include <gtest/gtest.h>

#include "oracle/descent.h"
#include "ration/oracle/oracle.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

class Keeper final : public ReleaseObserver {
 public:
  void on_gradient(const ReleasedGradient& gradient) override {
    ++seen;
    at.assign(gradient.at.begin(), gradient.at.end());
    mean.assign(gradient.mean.begin(), gradient.mean.end());
    divisor = gradient.divisor;
    stddev = gradient.stddev;
  }

  int seen = 0;
  Vector at, mean;
  double divisor = 0, stddev = 0;
};

// w -= mean.
class PlainDescent final : public PrivateOracle::Descent {
 public:
  void move(std::size_t, std::span<const double> mean, AnyNumbers w) override {
    std::visit(
        [&](auto block) {
          using Number = typename decltype(block)::value_type;
          for (std::size_t k = 0; k < mean.size(); ++k) block[k] -= static_cast<Number>(mean[k]);
        },
        w);
  }
  void expect(std::size_t, std::size_t, Ahead&) const override {}
};

class WatchedOracle : public ::testing::Test {
 protected:
  static constexpr std::size_t kParameters = 2500;  // several blocks

  RecordingObjective objective_{Vector(10, 1.0), kParameters};
  FullSampler sampler_{{.rows = 10, .declared_rows = 10}, Relation::add_remove};
  GenerousFilter filter_;
  SeededRandom random_{1};
  PrivateOracle oracle_{objective_, sampler_, filter_, random_};
  const GradientQuery query_{.clip = Abadi{1}, .noise_multiplier = 2};
  Keeper keeper_;
};

TEST_F(WatchedOracle, ShowsTheAnswerThatWasGiven) {
  const Vector w(kParameters, 0.25);
  Vector mean(kParameters);
  ASSERT_TRUE(oracle_.gradient(w, query_, mean));
  EXPECT_EQ(keeper_.seen, 0);  // nobody looked on yet
  oracle_.watch(keeper_);
  ASSERT_TRUE(oracle_.gradient(w, query_, mean));
  EXPECT_EQ(keeper_.seen, 1);
  EXPECT_EQ(keeper_.mean, mean);
  EXPECT_EQ(keeper_.at, w);
  EXPECT_EQ(keeper_.divisor, 10);
  EXPECT_EQ(keeper_.stddev, oracle_.gradient_stddev(query_));
}

TEST_F(WatchedOracle, ShowsTheWeightsFromBeforeTheStep) {
  for (const auto kept : {Weights::Kept::in_doubles, Weights::Kept::in_floats}) {
    Weights w(Vector(kParameters, 0.25), kept);
    PlainDescent descent;
    oracle_.watch(keeper_);
    oracle_.one_sample({query_.event()})->descend(w, query_, descent);
    EXPECT_EQ(keeper_.at, Vector(kParameters, 0.25));
    Vector moved(kParameters);
    w.copy_to(moved);
    for (std::size_t k = 0; k < kParameters; ++k) EXPECT_NEAR(moved[k], 0.25 - keeper_.mean[k], 1e-6);
  }
}

TEST_F(WatchedOracle, AnswersAsItDoesUnwatched) {
  const Vector w(kParameters, 0.0);
  SeededRandom same(1);
  PrivateOracle unwatched(objective_, sampler_, filter_, same);
  oracle_.watch(keeper_);
  Vector a(kParameters), b(kParameters);
  ASSERT_TRUE(oracle_.gradient(w, query_, a));
  ASSERT_TRUE(unwatched.gradient(w, query_, b));
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace ration::testing
