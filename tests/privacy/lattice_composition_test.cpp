#include "privacy/lattice_composition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "privacy/exact.h"

namespace ration {
namespace {

const SampledGaussian kStep{0.1, 1, 200};

std::vector<CountedLattice> lattices(Rounding rounding, double width) {
  const auto build = rounding == Rounding::up ? pessimistic_lattice : optimistic_lattice;
  return {{build(kStep, Direction::remove, width, {-90}), kStep.count}};
}

double log_delta(Rounding rounding, double width, double tilt, std::size_t max_points, double epsilon) {
  FourierTransform transform;
  return ComposedLoss(lattices(rounding, width), tilt, rounding, max_points, transform).log_delta(epsilon);
}

double log_truth(double epsilon) {
  return std::log(exact_delta(std::vector{kStep}, Direction::remove, epsilon).value());
}

// Hardly tilted, the transform's rounding (about 1e-17) drowns a delta of 1e-25: only its charge keeps the
// bounds apart.
TEST(ComposedLoss, ChargesTheRoundingOfTheTransform) {
  for (const double epsilon : {30.0, 35.0, 40.0, 45.0}) {
    ASSERT_LT(log_truth(epsilon), -40);
    EXPECT_GE(log_delta(Rounding::up, 0.01, 1e-3, 1 << 16, epsilon), log_truth(epsilon)) << epsilon;
    EXPECT_LE(log_delta(Rounding::down, 0.01, 1e-3, 1 << 16, epsilon), log_truth(epsilon)) << epsilon;
  }
}

// A loss of -1, 0 or 1, twice: no loss is above 2, so delta is 0 there. The window is far wider than the law,
// so that nothing is outside; what the transform leaves up there is rounding, and about half of it is
// positive.
TEST(ComposedLoss, TakesNoRoundingForMass) {
  for (const double share : {0.01, 0.03, 0.3}) {
    const LossLattice step{.width = 1, .first = -1, .mass = {share, 1 - 2 * share, share}, .log_lost = -1e3};
    for (const double tilt : {0.05, 0.2, 0.5, 1.0}) {
      FourierTransform transform;
      const std::vector<CountedLattice> twice{{step, 2}};
      const ComposedLoss below(twice, tilt, Rounding::down, 1 << 16, transform);
      for (int loss = 2; loss < 20; ++loss)
        EXPECT_EQ(below.log_delta(loss), -std::numeric_limits<double>::infinity()) << loss << " " << share;
    }
  }
}

// 1024 points of .002 around the mean: epsilon lies above all of them, where only the charge for what is
// outside is left.
TEST(ComposedLoss, ChargesWhatIsOutsideTheWindow) {
  for (const double epsilon : {8.0, 12.0, 16.0}) {
    EXPECT_GE(log_delta(Rounding::up, 0.002, 0.2, 1024, epsilon), log_truth(epsilon)) << epsilon;
    EXPECT_LE(log_delta(Rounding::down, 0.002, 0.2, 1024, epsilon), log_truth(epsilon)) << epsilon;
  }
}

TEST(ComposedLoss, IsTightAtTheSaddle) {
  for (const double epsilon : {4.0, 10.0, 20.0}) {
    EXPECT_NEAR(log_delta(Rounding::up, 0.002, 1, 1 << 16, epsilon), log_truth(epsilon), 0.01) << epsilon;
    EXPECT_NEAR(log_delta(Rounding::down, 0.002, 1, 1 << 16, epsilon), log_truth(epsilon), 0.01) << epsilon;
  }
}

}  // namespace
}  // namespace ration
