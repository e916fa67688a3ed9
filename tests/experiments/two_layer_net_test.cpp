#include "two_layer_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ration/clipping/abadi.h"
#include "ration/clipping/auto_s.h"

namespace ration::testing {
namespace {

constexpr std::size_t kRows = 12;
constexpr std::size_t kColumns = 5;

class Net : public ::testing::Test {
 protected:
  Net() {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<double> values(kRows * kColumns);
    for (double& value : values) value = normal(random);
    std::vector<double> labels;
    for (std::size_t i = 0; i < kRows; ++i) labels.push_back(static_cast<double>(i % 2));
    net_ = e2::make_two_layer_net(std::make_shared<const Rows>(Rows::dense(kColumns, values, labels)),
                                  {.hidden = 7, .start = 3});
    w_.resize(net_->parameters());
    for (double& weight : w_) weight = 0.3 * normal(random);
  }

  std::vector<double> gradient_sum(std::vector<std::uint64_t> rows, const AnyClipRule& rule) {
    std::vector<double> sum(w_.size());
    const auto divisor = static_cast<double>(rows.size());
    net_->clipped_gradient_sum(w_, {.rows = std::move(rows), .divisor = divisor}, rule, sum);
    return sum;
  }
  static double length(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  }
  double loss_of(std::uint64_t row) {
    double sum = 0;
    const Objective::Parameters at = w_;
    net_->clipped_loss_sums(std::span(&at, 1), {.rows = {row}, .divisor = 1}, 1e9, std::span(&sum, 1));
    return sum;
  }

  std::unique_ptr<Objective> net_;
  std::vector<double> w_;
};

TEST_F(Net, GradientsAreDifferencesOfLosses) {
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const std::vector<double> gradient = gradient_sum({row}, Abadi{1e9});
    for (std::size_t i = 0; i < w_.size(); ++i) {
      const double before = w_[i];
      w_[i] = before + 1e-6;
      const double above = loss_of(row);
      w_[i] = before - 1e-6;
      const double below = loss_of(row);
      w_[i] = before;
      EXPECT_NEAR(gradient[i], (above - below) / 2e-6, 1e-7) << row << " " << i;
    }
  }
}

// A row contributes its gradient times the rule's factor of its true norm, and never more than the bound.
TEST_F(Net, EachRowIsClippedByItsOwnNorm) {
  std::vector<double> expected(w_.size(), 0.0);
  std::vector<std::uint64_t> all;
  std::uint64_t small = 0;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    all.push_back(row);
    const std::vector<double> whole = gradient_sum({row}, Abadi{1e9});
    small += length(whole) <= 0.9 ? 1 : 0;
    const double factor = std::min(1.0, 0.9 / length(whole));
    for (std::size_t i = 0; i < w_.size(); ++i) expected[i] += factor * whole[i];
    EXPECT_LE(length(gradient_sum({row}, Abadi{0.9})), 0.9);
    EXPECT_LE(length(gradient_sum({row}, AutoS{.R = 0.1})), 0.1);
  }
  ASSERT_GT(small, 0u);
  ASSERT_LT(small, kRows);
  const std::vector<double> sum = gradient_sum(all, Abadi{0.9});
  for (std::size_t i = 0; i < w_.size(); ++i) EXPECT_NEAR(sum[i], expected[i], 1e-9);
  EXPECT_EQ(net_->count_norms_at_most(w_, {.rows = all, .divisor = kRows}, 0.9), small);
}

TEST_F(Net, AnEmptyBatchGivesZeros) {
  for (const double value : gradient_sum({}, Abadi{1})) EXPECT_EQ(value, 0);
}

TEST_F(Net, MeanLossIsTheMean) {
  double sum = 0;
  for (std::uint64_t row = 0; row < kRows; ++row) sum += loss_of(row);
  EXPECT_NEAR(net_->mean_loss(w_), sum / kRows, 1e-12);
}

}  // namespace
}  // namespace ration::testing
