#include "steps/step_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "ration/base/error.h"
#include "steps/runs.h"
#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

using History = std::vector<double>;  // one coordinate's gradients, oldest first

// sum_i r^(t-i) g_i^p: every running value of the rules is one of these.
double discounted(const History& g, double r, int power) {
  double sum = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    sum += std::pow(r, static_cast<double>(g.size() - 1 - i)) * std::pow(g[i], power);
  }
  return sum;
}

double adadelta_direction(const History& g, double rho, double e) {
  std::vector<double> moves;
  for (std::size_t t = 1; t <= g.size(); ++t) {
    const History so_far(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(t));
    const double rms_gradient = std::sqrt((1 - rho) * discounted(so_far, rho, 2) + e);
    const double rms_move = std::sqrt((1 - rho) * discounted(moves, rho, 2) + e);
    moves.push_back(rms_move / rms_gradient * g[t - 1]);
  }
  return moves.back();
}

// The formulas of the papers, unrolled over the whole history instead of running values.
double reference_direction(const StepOptions& options, const History& g) {
  const double b = options.momentum, r = options.second_momentum, e = options.stability;
  const double t = static_cast<double>(g.size());
  const double velocity = discounted(g, b, 1);
  const double mean = (1 - b) * velocity / (1 - std::pow(b, t));
  const double size = std::sqrt((1 - r) * discounted(g, r, 2) / (1 - std::pow(r, t))) + e;
  switch (options.kind) {
    case StepKind::sgd:
      return g.back();
    case StepKind::heavy_ball:
      return velocity;
    case StepKind::momentum:
      return mean;
    case StepKind::nesterov:
      return g.back() + b * velocity;
    case StepKind::adam:
    case StepKind::adamw:
      return mean / size;
    case StepKind::nadam:
      return (b * (1 - b) * velocity / (1 - std::pow(b, t + 1)) + (1 - b) * g.back() / (1 - std::pow(b, t))) /
             size;
    case StepKind::adagrad:
      return g.back() / (std::sqrt(discounted(g, 1, 2)) + e);
    case StepKind::rmsprop:
      return g.back() / (std::sqrt((1 - r) * discounted(g, r, 2)) + e);
    case StepKind::adadelta:
      return adadelta_direction(g, r, e);
  }
  return NAN;
}

// One coordinate of a run, with weight decay, from the definition.
std::vector<double> reference_run(const StepOptions& options, const History& gradients, double w,
                                  const std::vector<double>& rates) {
  const bool decoupled = options.kind == StepKind::adamw;
  History seen;
  std::vector<double> iterates;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    seen.push_back(gradients[i] + (decoupled ? 0 : options.weight_decay * w));
    const double shrunk = decoupled ? w * (1 - rates[i] * options.weight_decay) : w;
    w = shrunk - rates[i] * reference_direction(options, seen);
    iterates.push_back(w);
  }
  return iterates;
}

void expect_follows_reference(const StepOptions& options) {
  constexpr std::size_t kSteps = 25, kParameters = 3;
  const Vectors gradients = gaussian_gradients(kSteps, kParameters);
  std::vector<double> rates;
  for (std::size_t t = 1; t <= kSteps; ++t) rates.push_back(0.3 / static_cast<double>(t));
  const std::vector<double> start = {1, -2, 0.5};
  const auto rule = make_step_rule(options, kParameters);
  const Vectors iterates = run(
      *rule, gradients, start, [&](std::size_t t) { return rates[t - 1]; }, [](std::size_t) { return 7.0; });
  for (std::size_t i = 0; i < kParameters; ++i) {
    History history;
    for (const auto& gradient : gradients) history.push_back(gradient[i]);
    const std::vector<double> expected = reference_run(options, history, start[i], rates);
    for (std::size_t t = 0; t < kSteps; ++t) {
      EXPECT_NEAR(iterates[t][i], expected[t], 1e-11) << to_string(options.kind) << " step " << t + 1;
    }
  }
}

TEST(StepRule, EveryKindFollowsItsFormula) {
  for (const StepKind kind : kEveryKind) {
    expect_follows_reference({.kind = kind});
    expect_follows_reference(usual_step_options(kind));
    expect_follows_reference({.kind = kind, .momentum = 0.5, .second_momentum = 0.7, .stability = 0.1});
    expect_follows_reference({.kind = kind, .momentum = 0, .weight_decay = 0.2});
    expect_follows_reference({.kind = kind, .momentum = 0.95, .second_momentum = 0.9, .weight_decay = 0.5});
  }
}

// By hand: gradients 1, then 3.
TEST(StepRule, SecondStepsByHand) {
  const auto second_move = [](const StepOptions& options) {
    const Vectors iterates = run(options, Vectors{{1}, {3}}, {0}, 1);
    return iterates[0][0] - iterates[1][0];
  };
  EXPECT_DOUBLE_EQ(second_move({.kind = StepKind::sgd}), 3);
  EXPECT_DOUBLE_EQ(second_move({.kind = StepKind::heavy_ball, .momentum = 0.5}), 3.5);
  EXPECT_DOUBLE_EQ(second_move({.kind = StepKind::momentum, .momentum = 0.5}), (0.25 + 1.5) / 0.75);
  EXPECT_DOUBLE_EQ(second_move({.kind = StepKind::nesterov, .momentum = 0.5}), 3 + 0.5 * 3.5);
  EXPECT_NEAR(second_move({.kind = StepKind::adam, .momentum = 0.5, .second_momentum = 0.5}),
              (7.0 / 3) / std::sqrt(19.0 / 3), 1e-7);
  EXPECT_NEAR(second_move({.kind = StepKind::adagrad}), 3 / std::sqrt(10.0), 1e-7);
}

TEST(StepRule, NamesGoBothWays) {
  for (const StepKind kind : kEveryKind) EXPECT_EQ(named<StepKind>(to_string(kind)), kind);
  EXPECT_EQ(to_string(StepKind::heavy_ball), "heavy-ball");
  EXPECT_EQ(to_string(StepKind::adadelta), "adadelta");
  try {
    named<StepKind>("lion");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "step: expected one of sgd, heavy-ball, momentum, nesterov, adam, adamw, nadam, adagrad, "
                 "rmsprop, adadelta, got 'lion'");
  }
}

// f(w) = (w_1^2 + 10 w_2^2 + 25 w_3^2)/2 from (1, -1, 2). The rate falls, for at a constant one the
// rescaled kinds do not come to rest.
TEST(StepRule, EveryKindDescendsAQuadratic) {
  const std::vector<double> curvature = {1, 10, 25};
  const auto value = [&](const std::vector<double>& w) {
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += curvature[i] * w[i] * w[i] / 2;
    return sum;
  };
  for (const StepKind kind : kEveryKind) {
    const auto rule = make_step_rule(usual_step_options(kind), 3);
    const double base = kind == StepKind::adadelta ? 1 : kind == StepKind::adagrad ? 0.5 : 0.02;
    std::vector<double> w = {1, -1, 2}, gradient(3);
    const double before = value(w);
    for (int t = 0; t < 3000; ++t) {
      for (std::size_t i = 0; i < 3; ++i) gradient[i] = curvature[i] * w[i];
      rule->step({.value = gradient}, base * (1 - t / 3000.0), w);
    }
    EXPECT_LT(value(w), 1e-4 * before) << to_string(kind);
  }
}

// [Bu23, Thm 2]: the scale of the gradients, and so the clipping bound, is not in AdamW's result.
TEST(StepRule, AdamWForgetsTheScaleOfTheGradient) {
  EXPECT_TRUE(rc::check([] {
    const double R = std::exp(*rc::gen::inRange(-60, 61) / 10.0);
    const StepOptions options{.kind = StepKind::adamw,
                              .stability = 1e-30,
                              .weight_decay = 0.1,
                              .noise_correction = *rc::gen::arbitrary<bool>()};
    const Vectors gradients = gaussian_gradients(30, 2, 1, 0.5, *rc::gen::inRange(0u, 1000u));
    Vectors scaled = gradients;
    for (auto& gradient : scaled) {
      for (double& g : gradient) g *= R;
    }
    // The noise scales with the gradient. It is small, for at the floor the scale would show.
    const Vectors plain = run(options, gradients, {1, -1}, 0.05, 1e-4);
    const Vectors of_scaled = run(options, scaled, {1, -1}, 0.05, 1e-4 * R);
    for (std::size_t i = 0; i < 2; ++i) RC_ASSERT(std::abs(plain.back()[i] - of_scaled.back()[i]) < 1e-9);
  }));
  const Vectors gradients = gaussian_gradients(30, 1);
  const Vectors larger = gaussian_gradients(30, 1, 2);
  EXPECT_GT(std::abs(run({.kind = StepKind::momentum}, gradients, {1}, 0.05).back()[0] -
                     run({.kind = StepKind::momentum}, larger, {1}, 0.05).back()[0]),
            1e-3);
}

std::vector<std::pair<StepKind, bool>> every_kind_in_both_precisions() {
  std::vector<std::pair<StepKind, bool>> out;
  for (const StepKind kind : kEveryKind) out.insert(out.end(), {{kind, false}, {kind, true}});
  return out;
}

// Each step rounds weights and what is remembered once, by 2^-24 of it at most, and a momentum of .9 forgets
// the latter again.
TEST(StepRule, FloatsStayCloseToDoubles) {
  const Vectors gradients = gaussian_gradients(40, 5);
  for (const StepKind kind : kEveryKind) {
    StepOptions options = usual_step_options(kind);
    const auto exact = run(options, gradients, std::vector<double>(5, 1.0), 0.1).back();
    options.in_floats = true;
    const auto rounded = run(options, gradients, std::vector<double>(5, 1.0), 0.1).back();
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(rounded[i], exact[i], 2e-5) << to_string(kind);
    EXPECT_NE(rounded, exact) << to_string(kind);
  }
}

TEST(StepRule, SavedRunsGoOnBitByBit) {
  const Vectors gradients = gaussian_gradients(40, 5);
  const auto rate = [](std::size_t) { return 0.1; };
  const auto noise = [](std::size_t t) { return 1.0 / static_cast<double>(t); };
  for (const auto& [kind, floats] : every_kind_in_both_precisions()) {
    StepOptions options = usual_step_options(kind);
    options.weight_decay = 0.01;
    options.noise_correction = std::ranges::find(kAdamFamily, kind) != kAdamFamily.end();
    options.in_floats = floats;
    const auto whole = make_step_rule(options, 5);
    const auto first = make_step_rule(options, 5);
    const auto second = make_step_rule(options, 5);
    const auto go = [&](StepRule& rule, std::span<const std::vector<double>> along,
                        const std::vector<double>& w) {
      return floats ? run<float>(rule, along, w, rate, noise) : run(rule, along, w, rate, noise);
    };
    go(*whole, std::span(gradients).first(17), std::vector<double>(5, 1.0));
    const auto half_way = go(*first, std::span(gradients).first(17), std::vector<double>(5, 1.0));
    second->restore(first->save());
    EXPECT_EQ(second->save(), first->save());
    EXPECT_EQ(go(*second, std::span(gradients).subspan(17), half_way.back()),
              go(*whole, std::span(gradients).subspan(17), half_way.back()))
        << to_string(kind);
  }
}

TEST(StepRule, RestoresOnlyWhatFits) {
  for (const StepKind kind : kEveryKind) {
    const auto rule = make_step_rule({.kind = kind}, 3);
    std::vector<double> state = rule->save();
    state.push_back(0);
    EXPECT_THROW(rule->restore(state), InputError);
    state.resize(1);
    EXPECT_THROW(rule->restore(state), InputError);
    EXPECT_THROW(rule->restore({}), InputError);
    state = rule->save();
    for (const double count : {-1.0, 0.5, std::nan(""), 1e300}) {
      state[0] = count;
      EXPECT_THROW(rule->restore(state), InputError) << count;
    }
  }
}

void expect_refused(const StepOptions& options, const std::string& message) {
  try {
    make_step_rule(options, 1);
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(StepRule, RefusesOptionsWithTheirInequality) {
  expect_refused({.momentum = 1}, "step: expected 0 <= momentum < 1, got momentum=1");
  expect_refused({.momentum = -0.1}, "step: expected 0 <= momentum < 1, got momentum=-0.1");
  expect_refused({.second_momentum = 0}, "step: expected 0 < second_momentum < 1, got second_momentum=0");
  expect_refused({.second_momentum = 1}, "step: expected 0 < second_momentum < 1, got second_momentum=1");
  expect_refused({.stability = 0}, "step: expected stability > 0, got stability=0");
  expect_refused({.weight_decay = -1}, "step: expected weight_decay >= 0, got weight_decay=-1");
  expect_refused({.weight_decay = std::nan("")}, "step: expected weight_decay >= 0, got weight_decay=nan");
  for (const StepKind kind : kEveryKind) {
    const StepOptions options{.kind = kind, .noise_correction = true};
    if (std::ranges::find(kAdamFamily, kind) != kAdamFamily.end()) {
      EXPECT_NO_THROW(make_step_rule(options, 1));
    } else {
      expect_refused(options, "step: noise_correction needs one of adam, adamw, nadam, got '" +
                                  std::string(to_string(kind)) + "'");
    }
  }
  EXPECT_THROW(make_step_rule({}, 0), InputError);
}

TEST(StepRule, ARefusedStepChangesNothing) {
  const auto rule = make_step_rule({.kind = StepKind::adam, .noise_correction = true}, 2);
  const std::vector<double> before = rule->save();
  const std::vector<double> gradient = {1, 2}, longer = {1, 2, 3};
  std::vector<double> w = {5, 6}, shorter = {5};
  EXPECT_THROW(rule->step({.value = longer}, 0.1, w), InputError);
  EXPECT_THROW(rule->step({.value = gradient}, 0.1, shorter), InputError);
  EXPECT_THROW(rule->step({.value = gradient}, -0.1, w), InputError);
  EXPECT_THROW(rule->step({.value = gradient}, std::numeric_limits<double>::infinity(), w), InputError);
  EXPECT_THROW(rule->step({.value = gradient, .noise_stddev = -1}, 0.1, w), InputError);
  EXPECT_THAT(w, ::testing::ElementsAre(5, 6));
  EXPECT_EQ(rule->save(), before);
  rule->step({.value = gradient}, 0, w);  // a line search may choose not to move
  EXPECT_THAT(w, ::testing::ElementsAre(5, 6));
}

// Blocks of odd sizes, in any order, make the step of the whole, bit by bit.
TEST(StepRule, BlocksMakeUpTheWhole) {
  constexpr std::size_t kSize = 1000;
  const Vectors gradients = gaussian_gradients(5, kSize);
  for (const StepKind kind : kEveryKind) {
    const StepOptions options{.kind = kind, .weight_decay = 0.1};
    const auto whole = make_step_rule(options, kSize), blocks = make_step_rule(options, kSize);
    std::vector<double> expected(kSize, 1.0), w(kSize, 1.0);
    for (const std::vector<double>& gradient : gradients) {
      whole->step({.value = gradient}, 0.1, expected);
      blocks->begin(0, 0.1);
      for (const auto& [first, size] : {std::pair{777, 223}, {0, 1}, {1, 17}, {18, 0}, {18, 759}}) {
        const auto from = static_cast<std::size_t>(first), count = static_cast<std::size_t>(size);
        EXPECT_TRUE(
            blocks->move(from, std::span(gradient).subspan(from, count), std::span(w).subspan(from, count)));
      }
      for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(w[i], expected[i], 1e-13) << i;
    }
  }
}

TEST(StepRule, ABlockSaysWhetherItsWeightsAreFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const StepKind kind : kEveryKind) {
    for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
      const auto rule = make_step_rule({.kind = kind}, 100);
      const std::vector<double> gradient(100, 1.0);
      std::vector<double> w(100, 1.0);
      rule->begin(0, 0.1);
      EXPECT_TRUE(rule->move(0, std::span(gradient).first(50), std::span(w).first(50)));
      w[99] = bad;
      EXPECT_FALSE(rule->move(50, std::span(gradient).first(50), std::span(w).last(50)));
    }
  }
}

TEST(StepRule, AWeightThatIsTooLargeForAFloatIsNotFinite) {
  for (const bool floats : {false, true}) {
    const auto rule = make_step_rule({.in_floats = floats}, 1);
    std::vector<double> doubles(1), gradient{1e39};
    std::vector<float> narrow(1);
    rule->begin(0, 1);
    EXPECT_EQ(rule->move(0, gradient, floats ? AnyNumbers(narrow) : AnyNumbers(doubles)), !floats);
  }
}

TEST(StepRule, OtherNumbersThanItsOwnAreRefused) {
  std::vector<double> doubles(3), gradient(3, 1.0);
  std::vector<float> floats(3);
  EXPECT_THROW(make_step_rule({}, 3)->step({.value = gradient}, 1, floats), InputError);
  EXPECT_THROW(make_step_rule({.in_floats = true}, 3)->step({.value = gradient}, 1, doubles), InputError);
  EXPECT_EQ(doubles, std::vector<double>(3));
  EXPECT_EQ(floats, std::vector<float>(3));
}

TEST(StepRule, BlocksThatDoNotFitAreRefused) {
  const auto rule = make_step_rule({}, 10);
  const std::vector<double> gradient(11, 1.0);
  std::vector<double> w(11, 1.0);
  rule->begin(0, 0.1);
  EXPECT_THROW(rule->move(0, gradient, w), InputError);
  EXPECT_THROW(rule->move(8, std::span(gradient).first(3), std::span(w).first(3)), InputError);
  EXPECT_THROW(rule->move(11, std::span(gradient).first(0), std::span(w).first(0)), InputError);
  EXPECT_THROW(rule->move(0, std::span(gradient).first(3), std::span(w).first(2)), InputError);
  EXPECT_EQ(w, std::vector<double>(11, 1.0));
}

TEST(StepRule, MovesTheSameUnderEachInstructionSet) {
  constexpr std::size_t kParameters = 37;
  const Vectors gradients = gaussian_gradients(20, kParameters);
  const std::vector<double> start(kParameters, 0.5);
  const auto last = [&](StepOptions options, auto number) {
    const auto rule = make_step_rule(options, kParameters);
    return run<decltype(number)>(
               *rule, gradients, start, [](std::size_t) { return 0.1; }, [](std::size_t) { return 0.2; })
        .back();
  };
  for (const StepKind kind : kEveryKind) {
    StepOptions options = usual_step_options(kind);
    options.weight_decay = 0.01;
    expect_same_under_each_set([&] { return last(options, double{}); }, 1e-12);
    options.in_floats = true;
    expect_same_under_each_set([&] { return last(options, float{}); }, 1e-4);
  }
}

}  // namespace
}  // namespace ration::testing
