#include "methods/descent_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "methods/auto/curvature.h"
#include "methods/auto/curvature_guess.h"

namespace ration::testing {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr std::size_t kSteps = 16;
constexpr double kNoise = 0.3;

struct Linear {
  NoisyDescent descent;
  Vector average;  // of the second half; without noise it is 0
};

// A descent on a quadratic whose curvature is `part` of what the steps take it to be, from its minimum.
Linear run(std::size_t coordinates, const Matrix& curvature, const Vector& lengths, double part,
           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, kNoise);
  const auto outputs = lengths.size();
  Matrix u = Matrix::Zero(static_cast<Eigen::Index>(coordinates), outputs);
  Linear out{.descent = {.outputs = static_cast<std::size_t>(outputs), .steps = {}, .shares = {}},
             .average = Vector::Zero(u.size())};
  for (std::size_t t = 0; t < kSteps; ++t) {
    Matrix gradient = part * u * curvature;
    for (double& one : gradient.reshaped()) one += normal(random);
    out.descent.steps.push_back({.from = {u.data(), u.data() + u.size()},
                                 .gradient = {gradient.data(), gradient.data() + gradient.size()},
                                 .noise = kNoise,
                                 .lengths = {lengths.data(), lengths.data() + outputs},
                                 .curvature = {curvature.data(), curvature.data() + curvature.size()}});
    out.descent.shares.push_back(t < kSteps / 2 ? 0 : 2.0 / kSteps);
    u -= gradient * lengths.asDiagonal();
    out.average += out.descent.shares.back() * u.reshaped();
  }
  return out;
}

std::vector<CurvatureGuess> white(std::size_t coordinates) {
  const auto side = static_cast<Eigen::Index>(coordinates);
  return {{Vector::Ones(side), Matrix::Identity(side, side)}};
}

// The variance of 1000 coordinates is within 15 % of its mean but for one in a thousand.
TEST(DescentNoise, OfALinearDescentIsFoundWithoutBeingToldHowCurvedItIs) {
  constexpr std::size_t kCoordinates = 1000;
  for (const double part : {0.1, 0.4, 1.0, 1.3}) {
    const Linear one =
        run(kCoordinates, Matrix::Constant(1, 1, 0.2), Vector::Constant(1, 1.4 / 0.2), part, 3);
    const auto variance = covariance_of_average(one.descent, white(kCoordinates));
    const double found = one.average.squaredNorm() / kCoordinates;
    EXPECT_NEAR(variance[0] / found, 1, 0.15) << part;
    EXPECT_EQ(variance.size(), kCoordinates);
  }
}

TEST(DescentNoise, OutputsMoveTogether) {
  constexpr std::size_t kCoordinates = 1000;
  const Matrix curvature{{0.2, -0.1, -0.1}, {-0.1, 0.15, -0.05}, {-0.1, -0.05, 0.15}};
  const Linear one = run(kCoordinates, curvature, Vector{{4, 5, 6}}, 0.8, 5);
  const auto covariance = covariance_of_average(one.descent, white(kCoordinates));
  const Eigen::Map<const Matrix> average(one.average.data(), kCoordinates, 3);
  const Matrix found = average.transpose() * average / kCoordinates;
  std::size_t at = 0;
  for (Eigen::Index a = 0; a < 3; ++a) {
    for (Eigen::Index b = a; b < 3; ++b) EXPECT_NEAR(covariance[at++], found(a, b), 0.15 * found(a, a));
  }
}

TEST(SoftmaxHessian, IsThatOfOutputsThatAreSure) {
  const std::vector<double> means{0.5, -1, 0.2};
  const auto hessian = expected_softmax_hessian(means, std::vector<double>(3, 0.0));
  double sum = 0;
  for (const double mean : means) sum += std::exp(mean);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      const double p = std::exp(means[a]) / sum;
      const double q = std::exp(means[b]) / sum;
      EXPECT_NEAR(hessian[3 * a + b], a == b ? p - p * p : -p * q, 1e-12);
    }
  }
}

TEST(SoftmaxHessian, IsTheMeanOverOutputs) {
  const std::vector<double> means{0.5, -1, 0.2};
  const std::vector<double> stddevs{1, 2, 0.5};
  const auto hessian = expected_softmax_hessian(means, stddevs);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  double first = 0;
  double beside = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    double e[3];
    for (std::size_t k = 0; k < 3; ++k) e[k] = std::exp(means[k] + stddevs[k] * normal(random));
    const double sum = e[0] + e[1] + e[2];
    first += e[0] / sum * (1 - e[0] / sum) / kDraws;
    beside -= e[0] * e[1] / (sum * sum) / kDraws;
  }
  EXPECT_NEAR(hessian[0], first, 0.01);
  EXPECT_NEAR(hessian[1], beside, 0.01);
}

// Not all of the noise can be undone: where many are alike, as here, what is left of their spread is 60 %.
TEST(EigenvaluesWithoutNoise, AreNearerThanThoseWithNoise) {
  constexpr Eigen::Index kSide = 60;
  constexpr double kStddev = 0.05;
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal(0, kStddev);
  Vector real(kSide);
  for (Eigen::Index i = 0; i < kSide; ++i) real[i] = i < 30 ? 0.2 : 1 + 0.1 * static_cast<double>(i - 30);
  Matrix noisy = real.asDiagonal();
  for (Eigen::Index i = 0; i < kSide; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double noise = normal(random);
      noisy(i, j) += noise;
      noisy(j, i) += noise;
    }
    noisy(i, i) += std::sqrt(2.0) * normal(random);
  }
  const Vector released = Eigen::SelfAdjointEigenSolver<Matrix>(noisy).eigenvalues();
  const Vector found = eigenvalues_without_noise(released, kStddev);
  EXPECT_LT((found - real).norm(), 0.65 * (released - real).norm());
}

}  // namespace
}  // namespace ration::testing
