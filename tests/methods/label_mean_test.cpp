#include "methods/auto/label_mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "objectives/tables.h"
#include "ration/base/error.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kRows = 400;
constexpr std::size_t kColumns = 3;  // the last is the bias

// Labels in [0, 1] whose mean is .3, and features that do not count.
std::shared_ptr<const Rows> table() {
  Vector values, labels;
  for (std::size_t row = 0; row < kRows; ++row) {
    values.insert(values.end(), {static_cast<double>(row % 3) / 2, 0.7, 1});
    labels.push_back(row % 2 == 0 ? 0.0 : 0.6);
  }
  return store(Storage::dense, kColumns, std::move(values), std::move(labels));
}

struct Bench {
  explicit Bench(std::uint64_t seed = 1) : random(seed) {}

  std::unique_ptr<Objective> objective = glm(GlmLoss::squared, table());
  FullSampler sampler{{.rows = kRows, .declared_rows = kRows}, Relation::add_remove};
  Journal journal;
  RecordingFilter filter{1000, journal};
  SeededRandom random;
  PrivateOracle oracle{*objective, sampler, filter, random};
};

Vector weights_of(const Method& method) {
  Vector weights(kColumns, -7);
  method.weights(weights);
  return weights;
}

TEST(LabelMean, IsTheMeanWhereThereIsNoNoise) {
  Bench bench;
  const auto method = make_label_mean(kColumns, 1e-7);
  EXPECT_EQ(weights_of(*method), (Vector{0, 0, 0.5}));
  EXPECT_TRUE(method->step(bench.oracle));
  const Vector w = weights_of(*method);
  EXPECT_EQ(w[0], 0);
  EXPECT_EQ(w[1], 0);
  EXPECT_NEAR(w[2], 0.3, 1e-6);
}

TEST(LabelMean, AsksOnceAndForWhatItSays) {
  Bench bench;
  const auto method = make_label_mean(kColumns, 3);
  EXPECT_TRUE(method->step(bench.oracle));
  EXPECT_FALSE(method->step(bench.oracle));
  EXPECT_EQ(bench.journal, Journal{Event::gaussian(3).describe()});
  // Half a label's range is what a row can move, and what the noise is for.
  EXPECT_GE(method->report().noise_stddev, 3 * 0.5 / kRows);
  EXPECT_LE(method->report().noise_stddev, 3 * 0.5 / kRows * (1 + 1e-5));  // room for rounding
}

TEST(LabelMean, StaysWithinTheBoundsWhateverTheNoise) {
  double least = 1, most = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Bench bench(seed);
    const auto method = make_label_mean(kColumns, 1e5);
    ASSERT_TRUE(method->step(bench.oracle));
    least = std::min(least, weights_of(*method)[2]);
    most = std::max(most, weights_of(*method)[2]);
  }
  EXPECT_EQ(least, 0);
  EXPECT_EQ(most, 1);
}

TEST(LabelMean, GoesOnFromWhatItSaved) {
  Bench bench;
  const auto method = make_label_mean(kColumns, 1);
  ASSERT_TRUE(method->step(bench.oracle));
  const auto after = make_label_mean(kColumns, 1);
  after->restore(method->save());
  EXPECT_EQ(weights_of(*after), weights_of(*method));
  EXPECT_FALSE(after->step(bench.oracle));
  for (const double mean : {-0.1, 1.1, std::nan("")}) {
    MethodState state = method->save();
    state["mean"] = {mean};
    EXPECT_THROW(make_label_mean(kColumns, 1)->restore(state), InputError);
  }
}

TEST(LabelMean, RefusesWhatIsNoModel) {
  EXPECT_THROW(make_label_mean(0, 1), InputError);
  EXPECT_THROW(make_label_mean(kColumns, 0), InputError);
}

}  // namespace
}  // namespace ration::testing
