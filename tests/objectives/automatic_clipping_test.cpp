// What the bound R means to automatic clipping: with the same noise draws, nothing that the learning rate and
// the weight decay could not say. [Bu23, Thm 1, Thm 2]
#include <gtest/gtest.h>

#include "base/distributions.h"
#include "objectives/tables.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;
constexpr std::size_t kRows = 60;
constexpr std::size_t kSteps = 50;
constexpr double kNoise = 0.8;

struct Settings {
  AnyClipRule rule;
  double rate;
  double decay;
};

// Noisy clipped gradients of one logistic model: the sum of the clipped gradients plus R noise N(0, 1).
class NoisyGradients {
 public:
  explicit NoisyGradients(GlmLoss loss) : loss_(loss) {
    std::mt19937_64 data(3);
    objective_ = glm(loss_, random_table(loss_, Storage::dense, kRows, 5, false, data));
  }
  std::size_t parameters() const { return objective_->parameters(); }
  Vector at(const Vector& w, const AnyClipRule& rule) {
    Vector sum = gradient_sum(*objective_, w, all(kRows), rule);
    for (double& value : sum)
      value += rule.sensitivity(Relation::add_remove) * kNoise * standard_gaussian(random_);
    return sum;
  }

 private:
  GlmLoss loss_;
  std::unique_ptr<Objective> objective_;
  SeededRandom random_{99};  // the same noise in every run
};

Vector sgd(GlmLoss loss, const Settings& run) {
  NoisyGradients gradients(loss);
  Vector w(gradients.parameters(), 0.1);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const Vector g = gradients.at(w, run.rule);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= run.rate * (g[i] / kRows + run.decay * w[i]);
  }
  return w;
}

// Decay as in the theorem: part of the gradient, before the moments.
Vector adam(GlmLoss loss, const Settings& run) {
  constexpr double kFirst = 0.9, kSecond = 0.999;
  NoisyGradients gradients(loss);
  Vector w(gradients.parameters(), 0.1), mean(w.size()), square(w.size());
  for (std::size_t step = 1; step <= kSteps; ++step) {
    const Vector g = gradients.at(w, run.rule);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double slope = g[i] / kRows + run.decay * w[i];
      mean[i] = kFirst * mean[i] + (1 - kFirst) * slope;
      square[i] = kSecond * square[i] + (1 - kSecond) * slope * slope;
      const double corrected = mean[i] / (1 - std::pow(kFirst, step));
      w[i] -= run.rate * corrected / std::sqrt(square[i] / (1 - std::pow(kSecond, step)));
    }
  }
  return w;
}

// Decay outside the moments (AdamW): a pull of decay * w that no adaptive scale touches.
Vector adam_with_decoupled_decay(GlmLoss loss, const Settings& run) {
  constexpr double kFirst = 0.9, kSecond = 0.999;
  NoisyGradients gradients(loss);
  Vector w(gradients.parameters(), 0.1), mean(w.size()), square(w.size());
  for (std::size_t step = 1; step <= kSteps; ++step) {
    const Vector g = gradients.at(w, run.rule);
    for (std::size_t i = 0; i < w.size(); ++i) {
      mean[i] = kFirst * mean[i] + (1 - kFirst) * g[i] / kRows;
      square[i] = kSecond * square[i] + (1 - kSecond) * (g[i] / kRows) * (g[i] / kRows);
      const double corrected = mean[i] / (1 - std::pow(kFirst, step));
      const double scale = std::sqrt(square[i] / (1 - std::pow(kSecond, step)));
      w[i] -= run.rate * (corrected / scale + run.decay * w[i]);
    }
  }
  return w;
}

void expect_same(const Vector& a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9 * (1 + std::abs(a[i])));
}

bool differ(const Vector& a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > 1e-3) return true;
  }
  return false;
}

class AutomaticClipping : public ::testing::TestWithParam<std::tuple<GlmLoss, std::string>> {
 protected:
  Vector with(Vector (*optimiser)(GlmLoss, const Settings&), double R, double rate, double decay) const {
    return optimiser(std::get<0>(GetParam()),
                     {AnyClipRule::of(named<ClipKind>(std::get<1>(GetParam())), R, 0.01), rate, decay});
  }
};

TEST_P(AutomaticClipping, SgdKnowsTheBoundOnlyTimesTheRate) {
  for (const double R : {0.1, 3.0}) {
    // w - lr (R g + d w) = w - lr R (g + d / R w)
    expect_same(with(sgd, R, 0.5, 0.02), with(sgd, 1, 0.5 * R, 0.02 / R));
    EXPECT_TRUE(differ(with(sgd, R, 0.5, 0.02), with(sgd, 1, 0.5, 0.02)));
  }
}

TEST_P(AutomaticClipping, AdamDoesNotKnowTheBound) {
  for (const double R : {0.1, 3.0}) {
    expect_same(with(adam, R, 0.05, 0.02), with(adam, 1, 0.05, 0.02 / R));
    EXPECT_TRUE(differ(with(adam, R, 0.05, 0.02), with(adam, 1, 0.05, 0.02)));
    expect_same(with(adam_with_decoupled_decay, R, 0.05, 0.02),
                with(adam_with_decoupled_decay, 1, 0.05, 0.02));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, AutomaticClipping,
                         ::testing::Combine(::testing::Values(GlmLoss::logistic, GlmLoss::softmax),
                                            ::testing::Values("auto-v", "auto-s")));

// Abadi's rule is not automatic: the bound decides which rows are shortened.
TEST(AbadiClipping, TheBoundMatters) {
  const Vector with_bound = sgd(GlmLoss::squared, {Abadi{3}, 0.5, 0});
  EXPECT_TRUE(differ(with_bound, sgd(GlmLoss::squared, {Abadi{1}, 1.5, 0})));
}

}  // namespace
}  // namespace ration::testing
