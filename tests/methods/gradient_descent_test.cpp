#include "methods/gradient_descent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "ration/objectives/glm/glm.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kRows = 64;
constexpr std::size_t kColumns = 3;

// A bias and two features; the label follows the first feature.
std::shared_ptr<const Rows> some_rows() {
  std::vector<double> values, labels;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double x = static_cast<double>(i) / kRows;
    values.insert(values.end(), {1, x, std::cos(static_cast<double>(i))});
    labels.push_back(x > 0.4 ? 1 : 0);
  }
  return std::make_shared<const Rows>(Rows::dense(kColumns, std::move(values), std::move(labels)));
}

// Grants the first `most` events and writes them down.
class ListingFilter final : public BudgetFilter {
 public:
  explicit ListingFilter(std::size_t most = 1'000'000) : most_(most) {}
  bool fits(const Event&) const override { return events.size() < most_; }
  bool spend(const Event& event) override {
    if (!fits(event)) return false;
    events.push_back(event.describe());
    return true;
  }
  double spent_epsilon() const override { return 0; }
  double spent_share() const override { return 0; }

  std::vector<std::string> events;

 private:
  std::size_t most_;
};

// Everything a method needs, with the same noise for the same seed.
struct Bench {
  explicit Bench(std::size_t most = 1'000'000, double rate = 1) : filter(most) {
    if (rate < 1) {
      sampler = std::make_unique<PoissonSampler>(TableSize{kRows, kRows}, rate);
    } else {
      sampler = std::make_unique<FullSampler>(TableSize{kRows, kRows}, Relation::add_remove);
    }
    oracle = std::make_unique<PrivateOracle>(*objective, *sampler, filter, random);
  }

  std::vector<double> run(const GradientDescentOptions& options) {
    const auto method = make_gradient_descent(options, kColumns);
    while (method->step(*oracle)) {
    }
    return weights_of(*method);
  }
  static std::vector<double> weights_of(const Method& method) {
    std::vector<double> weights(kColumns, 0.0);
    method.weights(weights);
    return weights;
  }

  std::unique_ptr<Objective> objective = make_glm(some_rows(), {.threads = 1});
  ListingFilter filter;
  SeededRandom random{7};
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<PrivateOracle> oracle;
};

GradientDescentOptions sgd(std::size_t steps, double noise = 0.5) {
  return {.clip = AutoS{}, .noise = std::vector<double>(steps, noise), .learning_rate = {.base = 0.25}};
}

std::vector<double> noisy_gradient(Bench& bench, const std::vector<double>& w, const GradientQuery& query) {
  std::vector<double> gradient(kColumns);
  EXPECT_TRUE(bench.oracle->gradient(w, query, gradient));
  return gradient;
}

TEST(GradientDescent, EachStepIsTheFormula) {
  GradientDescentOptions options = sgd(3);
  options.noise = {0.5, 2, 0.25};
  Bench by_method, by_hand;
  const auto method = make_gradient_descent(options, kColumns);
  std::vector<double> w(kColumns, 0.0);
  for (std::int64_t t = 1; t <= 3; ++t) {
    const GradientQuery query{.clip = AutoS{}, .noise_multiplier = options.noise[std::size_t(t - 1)]};
    const std::vector<double> gradient = noisy_gradient(by_hand, w, query);
    for (std::size_t i = 0; i < kColumns; ++i) w[i] -= 0.25 * gradient[i];
    ASSERT_TRUE(method->step(*by_method.oracle));
    EXPECT_EQ(Bench::weights_of(*method), w);
    EXPECT_EQ(method->report().step, t);
    EXPECT_EQ(method->report().learning_rate, 0.25);
    EXPECT_DOUBLE_EQ(
        method->report().gradient_norm,
        std::sqrt(gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]));
    EXPECT_EQ(method->report().noise_stddev, by_hand.oracle->gradient_stddev(query));
    EXPECT_NEAR(method->report().noise_stddev, query.noise_multiplier / kRows, 1e-6);
  }
  EXPECT_FALSE(method->step(*by_method.oracle));
  EXPECT_EQ(by_method.filter.events, by_hand.filter.events);
}

TEST(GradientDescent, TakesAsManyStepsAsThereIsNoiseFor) {
  Bench bench;
  bench.run(sgd(5));
  EXPECT_EQ(bench.filter.events, std::vector<std::string>(5, Event::gaussian(0.5).describe()));
  Bench none;
  EXPECT_EQ(none.run(sgd(0)), std::vector<double>(kColumns, 0.0));
  EXPECT_TRUE(none.filter.events.empty());
}

TEST(GradientDescent, AStepThatIsRefusedChangesNothing) {
  Bench bench(3);
  const auto method = make_gradient_descent(sgd(5), kColumns);
  for (int t = 0; t < 3; ++t) ASSERT_TRUE(method->step(*bench.oracle));
  const MethodState before = method->save();
  EXPECT_FALSE(method->step(*bench.oracle));
  EXPECT_EQ(method->save(), before);
  EXPECT_EQ(method->report().step, 3);
  EXPECT_EQ(Bench::weights_of(*method), Bench().run(sgd(3)));
}

TEST(GradientDescent, LearningRateAndAverageAreThoseOfTheOptions) {
  GradientDescentOptions options = sgd(4);
  options.learning_rate = {.base = 0.5, .shape = RateShape::step, .drop_every = 2, .drop_factor = 0.25};
  options.average = {.kind = Averaging::half};
  Bench by_method, by_hand;
  const auto method = make_gradient_descent(options, kColumns);
  std::vector<double> w(kColumns, 0.0), sum(kColumns, 0.0);
  for (std::int64_t t = 1; t <= 4; ++t) {
    const double rate = t <= 2 ? 0.5 : 0.125;
    const std::vector<double> gradient =
        noisy_gradient(by_hand, w, {.clip = AutoS{}, .noise_multiplier = 0.5});
    for (std::size_t i = 0; i < kColumns; ++i) {
      w[i] -= rate * gradient[i];
      if (t > 2) sum[i] += w[i];
    }
    ASSERT_TRUE(method->step(*by_method.oracle));
    EXPECT_EQ(method->report().learning_rate, rate);
  }
  for (std::size_t i = 0; i < kColumns; ++i) {
    EXPECT_NEAR(Bench::weights_of(*method)[i], sum[i] / 2, 1e-15);
  }
}

TEST(GradientDescent, TheStepRuleKnowsTheNoise) {
  GradientDescentOptions options = sgd(20, 4);
  options.step = {.kind = StepKind::adam, .stability = 1e-6};
  const std::vector<double> plain = Bench().run(options);
  options.step.noise_correction = true;
  EXPECT_NE(Bench().run(options), plain);
}

TEST(GradientDescent, WeightsThatOverflowAreSaidToDoSo) {
  GradientDescentOptions options = sgd(100);
  options.learning_rate.base = 1e10;
  options.step.weight_decay = 1e10;
  Bench bench;
  EXPECT_THAT(refusal([&] { bench.run(options); }), HasSubstr("the weights overflow in step 1"));
}

// --- checkpoints

TEST(GradientDescent, GoesOnFromItsStateBitByBit) {
  for (const bool adaptive : {false, true}) {
    GradientDescentOptions options = sgd(10);
    options.step = {.kind = StepKind::nadam};
    options.learning_rate.shape = RateShape::cosine;
    options.average = {.kind = Averaging::exponential};
    if (adaptive) {
      options.clip = Abadi{};
      options.follow = FollowQuantile{};
    }
    const std::vector<double> whole = Bench().run(options);
    Bench bench;
    const auto first = make_gradient_descent(options, kColumns);
    for (int t = 0; t < 4; ++t) ASSERT_TRUE(first->step(*bench.oracle));
    const auto second = make_gradient_descent(options, kColumns);
    second->restore(first->save());
    EXPECT_EQ(second->save(), first->save());
    while (second->step(*bench.oracle)) {
    }
    EXPECT_EQ(Bench::weights_of(*second), whole);
    EXPECT_EQ(bench.filter.events.size(), 10u);
  }
}

TEST(GradientDescent, AStateOfAnotherKindIsRefused) {
  const auto method = make_gradient_descent(sgd(3), kColumns);
  const MethodState good = method->save();
  for (const auto& [name, value] : good) {
    MethodState state = good;
    state.erase(name);
    EXPECT_THAT(refusal([&] { method->restore(state); }), HasSubstr("lacks '" + name + "'"));
    state = good;
    state[name].push_back(1);
    EXPECT_NE(refusal([&] { method->restore(state); }), "") << name;
  }
  MethodState state = good;
  state["step"] = {4};
  EXPECT_THAT(refusal([&] { method->restore(state); }), HasSubstr("0 <= step <= 3"));
  state = good;
  state["clip_bound"] = {0};
  EXPECT_NE(refusal([&] { method->restore(state); }), "");
}

// --- following a quantile

GradientDescentOptions adaptive(std::size_t steps, double first_bound) {
  GradientDescentOptions options = sgd(steps, 0.01);
  options.clip = Abadi{.R = first_bound};
  options.follow = FollowQuantile{};
  options.learning_rate.base = 1e-9;  // the gradients stay where they are
  return options;
}

TEST(AdaptiveClipping, TheBoundFindsTheMedianFromBothSides) {
  // At w = 0 every slope is 1/2: the norms of the gradients are half those of the rows.
  const auto rows = some_rows();
  std::vector<double> norms(rows->norms().begin(), rows->norms().end());
  std::sort(norms.begin(), norms.end());
  const double median = norms[kRows / 2] / 2;
  for (const double start : {100.0, 0.01}) {
    Bench bench;
    const auto method = make_gradient_descent(adaptive(150, start), kColumns);
    while (method->step(*bench.oracle)) {
    }
    EXPECT_NEAR(method->save().at("clip_bound").at(0), median, 0.05 * median);
  }
}

TEST(AdaptiveClipping, ClipsWithTheBoundOfTheStepBefore) {
  Bench bench;
  const auto method = make_gradient_descent(adaptive(1, 100), kColumns);
  ASSERT_TRUE(method->step(*bench.oracle));
  EXPECT_NEAR(method->report().noise_stddev, 0.01 * 100 / kRows, 1e-6);
  EXPECT_LT(method->save().at("clip_bound").at(0), 100);
}

TEST(AdaptiveClipping, IsChargedOnceForBothQuestionsOnOneSample) {
  Bench bench(1'000'000, 0.25);
  bench.run(adaptive(2, 1));
  const Event both = gradient_descent_event(0.01, FollowQuantile{});
  EXPECT_EQ(both.describe(), Event::composed({Event::gaussian(0.01), Event::gaussian(0.1)}).describe());
  EXPECT_EQ(bench.filter.events, std::vector<std::string>(2, Event::poisson_sampled(0.25, both).describe()));
  EXPECT_EQ(gradient_descent_event(3, std::nullopt).describe(), Event::gaussian(3).describe());
}

TEST(AdaptiveClipping, IsForAbadiOnly) {
  GradientDescentOptions options = adaptive(1, 1);
  options.clip = AutoS{};
  EXPECT_THAT(refusal([&] { make_gradient_descent(options, kColumns); }),
              HasSubstr("expected the rule 'abadi', got 'auto-s'"));
}

// A bound that noise could push to 0 or infinity would end a run that is paid for.
TEST(AdaptiveClipping, TheBoundStaysANumber) {
  for (const double target : {0.0, 1.0}) {
    GradientDescentOptions options = adaptive(60, 1);
    options.follow->follower = {.target = target, .rate = 1000};
    options.noise.assign(60, 10);
    Bench bench;
    const std::vector<double> weights = bench.run(options);
    EXPECT_EQ(bench.filter.events.size(), 60u);
    for (const double weight : weights) EXPECT_TRUE(std::isfinite(weight));
  }
}

// --- [Bu23, Thm 1 and 2], with the same noise

void expect_close(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6 * (1 + std::abs(b[i])));
}

std::vector<double> auto_clipped(StepKind kind, double R, double rate, double decay) {
  GradientDescentOptions options = sgd(40, 1);
  options.clip = AutoS{.R = R};
  options.step = {.kind = kind, .stability = 1e-12, .weight_decay = decay};
  options.learning_rate.base = rate;
  return Bench(1'000'000, 0.5).run(options);
}

TEST(AutomaticClipping, ForSgdTheBoundIsALearningRate) {
  for (const double R : {0.25, 3.0, 8.0}) {
    const double rate = 0.2, decay = 0.125;
    const auto with_bound = auto_clipped(StepKind::sgd, R, rate, decay);
    expect_close(with_bound, auto_clipped(StepKind::sgd, 1, rate * R, decay / R));
    EXPECT_GT(std::abs(with_bound[0] - auto_clipped(StepKind::sgd, 1, rate, decay)[0]), 1e-3);
    EXPECT_GT(std::abs(with_bound[0] - auto_clipped(StepKind::sgd, 1, rate * R, decay)[0]), 1e-5);
  }
}

TEST(AutomaticClipping, ForAdamTheBoundOnlyScalesTheDecay) {
  for (const double R : {0.25, 3.0, 8.0}) {
    const double rate = 0.05, decay = 0.125;
    expect_close(auto_clipped(StepKind::adam, R, rate, decay),
                 auto_clipped(StepKind::adam, 1, rate, decay / R));
    // Decay outside of the moments is not divided by them, so it does not scale either.
    expect_close(auto_clipped(StepKind::adamw, R, rate, decay),
                 auto_clipped(StepKind::adamw, 1, rate, decay));
  }
}

}  // namespace
}  // namespace ration::testing
