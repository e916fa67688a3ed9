#include <gtest/gtest.h>

#include <vector>

#include "mechanisms/release_audit.h"
#include "oracle/noisy_accuracy.h"
#include "ration/base/random.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

// The noise on the count of right rows and on that of wrong rows, from what is released; 1000 rows of either
// kind, so that nothing is clamped.
struct Noise {
  std::vector<double> right, wrong;
};

Noise draw_noise(const NoisyAccuracyOptions& options, int runs) {
  const NoisyAccuracyQuery query(options);
  std::vector<double> predictions(2000, 1), labels(2000, 1);
  for (std::size_t i = 0; i < 1000; ++i) labels[i] = 0;
  Noise noise;
  for (int i = 0; i < runs; ++i) {
    const NoisyAccuracy found = query.release(predictions, labels, SecureRandom::for_this_thread());
    noise.right.push_back(*found.accuracy * found.rows - 1000);
    noise.wrong.push_back((1 - *found.accuracy) * found.rows - 1000);
  }
  return noise;
}

// Fails by chance with probability < 4e-9 (four Kolmogorov-Smirnov tests, n = 1e4).
TEST(NoisyAccuracy, BothCountsHaveTheDeclaredNoise) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const double scale = relation == Relation::add_remove ? 4 : 8;
    const Noise noise = draw_noise({.epsilon = 0.25, .relation = relation}, 10'000);
    for (const std::vector<double>& sample : {noise.right, noise.wrong}) {
      EXPECT_TRUE(follows_laplace(sample, scale));
      EXPECT_FALSE(follows_laplace(sample, scale * 2 / 3));
      EXPECT_FALSE(follows_laplace(sample, scale * 3 / 2));
    }
  }
}

// Fails by chance with probability about 1e-9.
TEST(NoisyAccuracy, TheTwoNoisesAreIndependent) {
  Noise noise = draw_noise({.epsilon = 0.25}, 10'000);
  const double stddev = 4 * std::sqrt(2.0);
  for (double& value : noise.right) value /= stddev;
  for (double& value : noise.wrong) value /= stddev;
  EXPECT_TRUE(uncorrelated(noise.right, noise.wrong));
}

// Fails by chance with probability < 2e-9 (release_audit.h, 5e4 runs on each neighbour). One row more, which
// is right: seen through the number of rows. At the claimed epsilon nothing shows; with half the noise, 0.4
// would.
TEST(NoisyAccuracy, NeighboursDifferByNoMoreThanEpsilon) {
  const NoisyAccuracyQuery query({.epsilon = 1});
  const auto release = [&](double rows) {
    const std::vector<double> right(static_cast<std::size_t>(rows), 1);
    const NoisyAccuracy found = query.release(right, right, SecureRandom::for_this_thread());
    return found.accuracy.value_or(0) * found.rows;
  };
  const Audit found = audit(release, 101, 100, 1.0, 50'000);
  EXPECT_LE(found.delta, found.tolerance);
  const Audit below = audit(release, 101, 100, 0.25, 50'000);
  EXPECT_GT(below.delta, below.tolerance);  // it is not just noise: at a quarter of epsilon they differ
}

}  // namespace
}  // namespace ration::testing
