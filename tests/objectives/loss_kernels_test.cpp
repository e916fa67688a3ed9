#include "objectives/glm/loss_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Kinks, tails, and what is no number.
const std::vector<double> kOutputs = {
    0,   0.3,  -0.3,   0.5,   -0.5,      1,          -1,  1.5, -1.5, 2,     -7,     40,          -40,
    350, -350, -1e300, 1e300, kInfinity, -kInfinity, 1.2, 0.9, 1e-9, -1e-9, 1e-310, std::nan("")};

template <class Loss>
class LossKernels : public ::testing::Test {};

using Losses = ::testing::Types<LogisticLoss, HingeLoss, HuberHingeLoss, SquaredLoss>;
TYPED_TEST_SUITE(LossKernels, Losses);

// Of every length, so that whole vectors and what is left over are both there.
TYPED_TEST(LossKernels, SlopesAreThoseOfTheLoss) {
  const TypeParam loss{};
  for (std::size_t count = 0; count <= kOutputs.size(); ++count) {
    for (const double label : {0.0, 1.0}) {
      std::vector<double> slopes(kOutputs.begin(), kOutputs.begin() + static_cast<std::ptrdiff_t>(count));
      to_slopes(loss, slopes, std::vector(count, label).data());
      for (std::size_t i = 0; i < count; ++i) {
        const double expected = loss.slope(kOutputs[i], label);
        if (!std::isfinite(expected)) continue;  // counts for nothing, in either form
        EXPECT_NEAR(slopes[i], expected, 1e-15 * std::abs(expected) + 1e-147) << kOutputs[i];
      }
    }
  }
}

TYPED_TEST(LossKernels, SumsAreThoseOfTheClippedLosses) {
  const TypeParam loss{};
  for (const double bound : {0.1, 1.0, 3.0, 1e6}) {
    for (std::size_t count = 0; count <= kOutputs.size(); ++count) {
      std::vector<double> outputs(kOutputs.begin(), kOutputs.begin() + static_cast<std::ptrdiff_t>(count));
      std::vector<double> labels(count);
      double expected = 0;
      for (std::size_t i = 0; i < count; ++i) {
        labels[i] = static_cast<double>(i % 2);
        const double one = loss.loss(outputs[i], labels[i]);
        if (std::isfinite(one)) expected += std::clamp(one, 0.0, bound);
      }
      EXPECT_NEAR(clipped_loss_sum(loss, outputs, labels.data(), bound), expected, 1e-14 * (1 + expected));
    }
  }
}

TYPED_TEST(LossKernels, NoRowCountsMoreThanTheBoundOrLessThanNothing) {
  const TypeParam loss{};
  for (const double output : kOutputs) {
    for (const double label : {0.0, 1.0}) {
      std::vector<double> one{output};
      const double sum = clipped_loss_sum(loss, one, &label, 0.7);
      EXPECT_GE(sum, 0) << output;
      EXPECT_LE(sum, 0.7) << output;
    }
  }
}

// One row at a time, so that none can hide behind the others.
TYPED_TEST(LossKernels, AlongALineNoRowCountsMoreThanTheBoundEither) {
  const TypeParam loss{};
  const std::vector<double> steps = {0, 1, -1, 1e-12, 1e200, kInfinity};
  for (const double start : kOutputs) {
    for (const double slope : kOutputs) {
      for (const double label : {0.0, 1.0}) {
        double scratch = 0;
        std::vector<double> sums(steps.size(), 0.0);
        add_clipped_losses(loss, {&start, &slope, &label, 1, &scratch}, steps, 0.7, sums.data());
        for (const double sum : sums) EXPECT_TRUE(sum >= 0 && sum <= 0.7) << start << ' ' << slope;
      }
    }
  }
}

// What is there already stays.
TYPED_TEST(LossKernels, AlongALineTheSumsAreThoseAtItsPoints) {
  const TypeParam loss{};
  const std::vector<double> starts(kOutputs.begin(), kOutputs.begin() + 15), steps = {0, 0.5, -2};
  const std::vector<double> slopes(starts.rbegin(), starts.rend());
  for (std::size_t count = 0; count <= starts.size(); ++count) {
    const std::vector<double> labels(count, 1.0);
    std::vector<double> sums(steps.size(), 5.0), scratch(count), points(count);
    add_clipped_losses(loss, {starts.data(), slopes.data(), labels.data(), count, scratch.data()}, steps, 2,
                       sums.data());
    for (std::size_t k = 0; k < steps.size(); ++k) {
      for (std::size_t i = 0; i < count; ++i) points[i] = starts[i] - steps[k] * slopes[i];
      EXPECT_NEAR(sums[k], 5 + clipped_loss_sum(loss, points, labels.data(), 2), 1e-12);
    }
  }
}

TYPED_TEST(LossKernels, AreTheSameUnderEachInstructionSet) {
  const TypeParam loss{};
  std::vector<double> labels;
  for (std::size_t i = 0; i < kOutputs.size(); ++i) labels.push_back(static_cast<double>(i % 2));
  expect_same_under_each_set(
      [&] {
        std::vector<double> slopes = kOutputs;
        to_slopes(loss, slopes, labels.data());
        std::vector<double> outputs = kOutputs;
        slopes.push_back(clipped_loss_sum(loss, outputs, labels.data(), 3));
        std::vector<double> along(2, 0.0);
        const std::vector<double> steps = {0.3, 2};
        std::vector<double> scratch(kOutputs.size());
        add_clipped_losses(loss,
                           {kOutputs.data(), labels.data(), labels.data(), kOutputs.size(), scratch.data()},
                           steps, 3, along.data());
        slopes.insert(slopes.end(), along.begin(), along.end());
        return slopes;
      },
      1e-14);
}

}  // namespace
}  // namespace ration::testing
