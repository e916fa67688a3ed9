#include "methods/auto/auto_linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/squared_length.h"
#include "methods/auto/curvature.h"
#include "methods/auto/design.h"
#include "methods/auto/newton_steps.h"
#include "objectives/tables.h"
#include "ration/base/error.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;
using Stages = std::vector<AutoStage>;

constexpr std::size_t kRows = 4000;
constexpr std::size_t kFeatures = 7;
constexpr std::size_t kColumns = kFeatures + 1;  // the last is the bias
constexpr double kNoNoise = 1e-7;

std::size_t outputs_of(GlmLoss loss) {
  return loss == GlmLoss::softmax ? kClasses : 1;
}

// Weights of the best model of the table below, or nearly so.
Vector true_weights(GlmLoss loss) {
  Vector one = {2, -3, 1, 4, -2, 0, 1, -0.5};
  if (loss != GlmLoss::softmax) return one;
  Vector all = one;
  for (const double w : {-2.0, 1.0, 3.0, -1.0, 2.0, 1.0, 0.0, 0.5}) all.push_back(w);
  for (std::size_t j = 0; j < kColumns; ++j) all.push_back(-all[j] - all[kColumns + j]);
  return all;
}

double dot(const double* w, const double* x) {
  return std::inner_product(w, w + kColumns, x, 0.0);
}

double drawn_label(GlmLoss loss, const Vector& w, const double* x, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform;
  if (loss == GlmLoss::squared) return 0.2 * dot(w.data(), x) + 0.1 * (uniform(random) - 0.5);
  if (loss != GlmLoss::softmax) return uniform(random) < 1 / (1 + std::exp(-2 * dot(w.data(), x))) ? 1 : 0;
  Vector weights;
  for (std::size_t k = 0; k < kClasses; ++k) weights.push_back(std::exp(2 * dot(&w[k * kColumns], x)));
  return static_cast<double>(std::discrete_distribution<int>(weights.begin(), weights.end())(random));
}

// Zeros and ones, frequent and rare, two of them related; two features in between; a bias.
std::shared_ptr<const Rows> made_up(GlmLoss loss, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  const auto either = [&](double rate) { return uniform(random) < rate ? 1.0 : 0.0; };
  Vector values, labels;
  const Vector w = true_weights(loss);
  for (std::size_t row = 0; row < kRows; ++row) {
    const double first = either(0.5);
    values.insert(values.end(), {first, either(first > 0 ? 0.8 : 0.1), either(0.2), either(0.05),
                                 uniform(random), 0.3 * uniform(random), either(0.9), 1});
    labels.push_back(drawn_label(loss, w, &values[row * kColumns], random));
  }
  return store(Storage::dense, kColumns, std::move(values), std::move(labels));
}

AutoLinearOptions options_for(GlmLoss loss, double noise) {
  return {.loss = loss, .columns = kColumns, .outputs = outputs_of(loss), .noise = noise};
}

struct Bench {
  explicit Bench(GlmLoss loss, std::size_t grants = 1000, std::uint64_t seed = 1)
      : objective(glm(loss, made_up(loss))), filter(grants, journal), random(seed) {
    open();
  }

  // Another oracle, as after a stop.
  void open() { oracle = std::make_unique<PrivateOracle>(*objective, sampler, filter, random); }
  int run(Method& method, int most = 1000) {
    int steps = 0;
    while (steps < most && method.step(*oracle)) ++steps;
    return steps;
  }
  Vector weights_of(const Method& method) const {
    Vector weights(objective->parameters(), -7);
    method.weights(weights);
    return weights;
  }

  std::unique_ptr<Objective> objective;
  FullSampler sampler{{.rows = kRows, .declared_rows = kRows}, Relation::add_remove};
  Journal journal;
  RecordingFilter filter;
  SeededRandom random;
  std::unique_ptr<PrivateOracle> oracle;
};

bool all_finite(const Vector& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

double accuracy(Objective& objective, const Rows& rows, const Vector& w) {
  Vector predictions(rows.count());
  objective.predict(w, predictions);
  double right = 0;
  for (std::size_t row = 0; row < rows.count(); ++row)
    right += predictions[row] == rows.labels()[row] ? 1 : 0;
  return right / static_cast<double>(rows.count());
}

// Two classes that most rows are of, and eight rare ones: the outputs of the two pull on each other twice as
// hard as each of them says alone.
TEST(AutoLinear, StepsOfManyClassesDoNotOvershoot) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  Vector values, labels;
  for (std::size_t row = 0; row < kRows; ++row) {
    const double x = uniform(random) < 0.5 ? 1 : 0;
    values.insert(values.end(), {x, uniform(random), 1});
    const double rare = std::floor(2 + 8 * uniform(random));
    labels.push_back(uniform(random) < 0.1 ? rare : uniform(random) < 0.45 + 0.1 * x ? 1 : 0);
  }
  const auto rows = store(Storage::dense, 3, std::move(values), std::move(labels));
  const auto objective = make_glm(rows, {.loss = GlmLoss::softmax, .classes = 10});
  const FullSampler sampler({.rows = kRows, .declared_rows = kRows}, Relation::add_remove);
  GenerousFilter filter;
  SeededRandom secure(1);
  PrivateOracle oracle(*objective, sampler, filter, secure);
  const auto method =
      make_auto_linear({.loss = GlmLoss::softmax, .columns = 3, .outputs = 10, .noise = kNoNoise});
  while (method->step(oracle)) {
  }
  EXPECT_LT(method->report().gradient_norm, 0.02);  // of the last step: it stands still
}

class EveryLoss : public ::testing::TestWithParam<GlmLoss> {};
INSTANTIATE_TEST_SUITE_P(AutoLinear, EveryLoss, ::testing::ValuesIn(kAllLosses),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST_P(EveryLoss, WithoutNoiseItIsAsGoodAsTheModelThatMadeTheTable) {
  Bench bench(GetParam());
  const auto method = make_auto_linear(options_for(GetParam(), kNoNoise));
  EXPECT_EQ(bench.run(*method), 18);
  const Vector w = bench.weights_of(*method);
  if (GetParam() == GlmLoss::squared) {
    Vector best = true_weights(GetParam());
    for (double& weight : best) weight *= 0.2;
    EXPECT_LT(bench.objective->mean_loss(w), 1.05 * bench.objective->mean_loss(best));
    return;
  }
  const auto rows = made_up(GetParam());
  EXPECT_GT(accuracy(*bench.objective, *rows, w),
            accuracy(*bench.objective, *rows, true_weights(GetParam())) - 0.01);
}

TEST_P(EveryLoss, WithALittleNoiseItIsNearlyAsGood) {
  Bench bench(GetParam());
  const auto method = make_auto_linear(options_for(GetParam(), 1));
  EXPECT_EQ(bench.run(*method), 18);
  const Vector w = bench.weights_of(*method);
  if (GetParam() == GlmLoss::squared) {
    EXPECT_LT(bench.objective->mean_loss(w), 0.5 * bench.objective->mean_loss(Vector(kColumns, 0.0)));
    return;
  }
  const auto rows = made_up(GetParam());
  EXPECT_GT(accuracy(*bench.objective, *rows, w),
            accuracy(*bench.objective, *rows, true_weights(GetParam())) - 0.05);
}

TEST_P(EveryLoss, GoesOnFromEveryStageAsIfNothingHadHappened) {
  Bench whole(GetParam());
  const AutoLinearOptions options = options_for(GetParam(), 2);
  const auto uninterrupted = make_auto_linear(options);
  whole.run(*uninterrupted);
  for (int stop = 0; stop <= 18; ++stop) {
    Bench bench(GetParam());
    const auto before = make_auto_linear(options);
    EXPECT_EQ(bench.run(*before, stop), stop);
    bench.open();
    const auto after = make_auto_linear(options);
    after->restore(before->save());
    EXPECT_EQ(after->save(), before->save());
    EXPECT_EQ(bench.weights_of(*after), bench.weights_of(*before));
    EXPECT_EQ(bench.run(*after), 18 - stop);
    EXPECT_EQ(bench.weights_of(*after), whole.weights_of(*uninterrupted)) << stop;
  }
}

// The stages that are left after those in [done, charged) were paid for and lost, as the plan has it.
Stages without(std::size_t done, std::size_t charged) {
  Stages stages = AutoLinearOptions::usual_stages();
  stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(done),
               stages.begin() + static_cast<std::ptrdiff_t>(charged));
  return stages;
}

TEST_P(EveryLoss, LostStagesAreNotAskedForAgainAndTheRestGoesOn) {
  for (const auto& [done, charged] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 1}, {0, 2}, {1, 2}, {1, 5}, {0, 9}, {2, 4}, {6, 11}, {12, 15}, {17, 18}, {2, 18}, {0, 18}}) {
    Bench bench(GetParam());
    const auto first = make_auto_linear(options_for(GetParam(), kNoNoise));
    bench.run(*first, static_cast<int>(done));
    bench.open();
    AutoLinearOptions options = options_for(GetParam(), kNoNoise);
    options.stages = without(done, charged);
    const auto second = make_auto_linear(options);
    if (done > 0) second->restore(first->save());
    EXPECT_EQ(bench.run(*second), static_cast<int>(18 - charged));
    EXPECT_EQ(bench.journal.size(), done + 18 - charged);
    const Vector w = bench.weights_of(*second);
    EXPECT_TRUE(all_finite(w)) << done << " " << charged;
    if (charged - done > 6 || GetParam() == GlmLoss::squared) continue;
    const auto rows = made_up(GetParam());
    EXPECT_GT(accuracy(*bench.objective, *rows, w),
              accuracy(*bench.objective, *rows, true_weights(GetParam())) - 0.1)
        << done << " " << charged;
  }
}

// Steps that are lost in the half that is averaged leave an average of those that are there.
TEST(AutoLinear, AnAverageWithLostStepsIsStillOne) {
  Bench whole(GlmLoss::logistic);
  const auto uninterrupted = make_auto_linear(options_for(GlmLoss::logistic, kNoNoise));
  whole.run(*uninterrupted);
  const Vector expected = whole.weights_of(*uninterrupted);
  Bench bench(GlmLoss::logistic);
  const auto first = make_auto_linear(options_for(GlmLoss::logistic, kNoNoise));
  bench.run(*first, 12);
  AutoLinearOptions options = options_for(GlmLoss::logistic, kNoNoise);
  options.stages = without(12, 15);
  const auto second = make_auto_linear(options);
  second->restore(first->save());
  bench.open();
  bench.run(*second);
  const Vector w = bench.weights_of(*second);
  for (std::size_t j = 0; j < kColumns; ++j)
    EXPECT_NEAR(w[j], expected[j], 0.1 * std::abs(expected[j]) + 0.05);
}

// After a second stop, the number of steps does not tell which stages were lost at the first.
TEST(AutoLinear, CanBeStoppedTwice) {
  Bench bench(GlmLoss::logistic);
  AutoLinearOptions options = options_for(GlmLoss::logistic, 1);
  const auto first = make_auto_linear(options);
  bench.run(*first, 1);
  options.stages = without(1, 2);  // the second moment is lost
  const auto second = make_auto_linear(options);
  second->restore(first->save());
  bench.open();
  EXPECT_EQ(bench.run(*second, 3), 3);
  options.stages = without(4, 6);  // a gradient more
  for (int stops = 0; stops < 15; ++stops) {
    const auto last = make_auto_linear(options);
    last->restore(stops == 0 ? second->save() : first->save());
    EXPECT_TRUE(all_finite(bench.weights_of(*last)));
    bench.open();
    if (stops == 0) {
      EXPECT_EQ(bench.run(*last), 12);
      const auto again = make_auto_linear(options);
      again->restore(last->save());
      EXPECT_EQ(bench.weights_of(*again), bench.weights_of(*last));
      EXPECT_FALSE(again->step(*bench.oracle));
      break;
    }
  }
}

TEST(AutoLinear, AsksWhatIsPlannedAndNothingElse) {
  for (const double noise : {0.5, 3.0}) {
    Bench bench(GlmLoss::logistic);
    const auto method = make_auto_linear(options_for(GlmLoss::logistic, noise));
    while (method->step(*bench.oracle)) {
    }
    Journal planned;
    double squares = 0;
    for (const CountedEvent& one : auto_linear_events(AutoLinearOptions::usual_stages(), noise)) {
      for (std::int64_t i = 0; i < one.count; ++i) planned.push_back(one.event.describe());
    }
    EXPECT_EQ(bench.journal, planned);
    for (const AutoStage stage : AutoLinearOptions::usual_stages())
      squares += std::pow(noise_of(stage, noise), -2);
    EXPECT_NEAR(squares, std::pow(noise, -2), 1e-12 * std::pow(noise, -2));  // it is worth one release
    EXPECT_FALSE(method->step(*bench.oracle));
    EXPECT_EQ(bench.journal, planned);
  }
}

TEST(AutoLinear, StopsWhenRefusedAndKeepsWhatItHas) {
  for (std::size_t grants = 0; grants < 18; ++grants) {
    Bench bench(GlmLoss::logistic, grants);
    const auto method = make_auto_linear(options_for(GlmLoss::logistic, 1));
    EXPECT_EQ(bench.run(*method), static_cast<int>(grants));
    const Vector weights = bench.weights_of(*method);
    EXPECT_TRUE(all_finite(weights));
    EXPECT_FALSE(method->step(*bench.oracle));
    EXPECT_EQ(bench.weights_of(*method), weights);
    EXPECT_EQ(method->save().at("step"), Vector{static_cast<double>(grants)});
  }
}

TEST(AutoLinear, RefusesStatesOfOtherRuns) {
  Bench bench(GlmLoss::logistic);
  const auto method = make_auto_linear(options_for(GlmLoss::logistic, 1));
  bench.run(*method, 5);
  const MethodState sound = method->save();
  for (const auto& [name, values] : sound) {
    MethodState state = sound;
    state[name].push_back(0.5);
    EXPECT_THROW(make_auto_linear(options_for(GlmLoss::logistic, 1))->restore(state), InputError) << name;
    state.erase(name);
    EXPECT_THROW(make_auto_linear(options_for(GlmLoss::logistic, 1))->restore(state), InputError) << name;
  }
  for (const double step : {-1.0, 19.0, std::nan("")}) {
    MethodState state = sound;
    state["step"] = {step};
    EXPECT_THROW(make_auto_linear(options_for(GlmLoss::logistic, 1))->restore(state), InputError);
  }
  AutoLinearOptions softmax = options_for(GlmLoss::softmax, 1);
  EXPECT_THROW(make_auto_linear(softmax)->restore(sound), InputError);
}

TEST(AutoLinear, RefusesWhatIsNoModel) {
  EXPECT_THROW(make_auto_linear({.columns = 1}), InputError);
  EXPECT_THROW(make_auto_linear({.noise = 0}), InputError);
  EXPECT_THROW(make_auto_linear({.noise = std::nan("")}), InputError);
}

// ---- hostile releases: what no rows say, but noise may ----

struct Answers {
  double mean, diagonal, beside, gradient;
};

// NOT an objective of any rows.
class Answering final : public Objective {
 public:
  Answering(const Answers& answers, std::size_t columns, std::size_t outputs)
      : answers_(answers), columns_(columns), outputs_(outputs) {}

  std::size_t rows() const override { return 1; }
  std::size_t parameters() const override { return columns_ * outputs_; }
  std::uint64_t longest_chain(std::uint64_t) const override { return 0; }
  PublicFacts facts() const override { return {.columns = columns_}; }
  void clipped_gradient_sum(Parameters, const Batch&, const AnyClipRule&, std::span<double> sum) override {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = i % 3 == 0 ? -answers_.gradient : answers_.gradient;
  }
  void clipped_loss_sums(std::span<const Parameters>, const Batch&, double, std::span<double>) override {}
  void clipped_loss_sums_along(const Line&, const Batch&, double, std::span<double>) override {}
  std::uint64_t count_norms_at_most(Parameters, const Batch&, double) override { return 0; }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}
  std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const override {
    return std::make_unique<Answering>(answers_, view->coordinates(), outputs_);
  }
  void shortened_row_sum(const Batch&, double, std::span<double> sum) override {
    std::fill(sum.begin(), sum.end(), answers_.mean);
  }
  void second_moment_sum(const Batch&, double, std::span<double> upper) override {
    std::fill(upper.begin(), upper.end(), answers_.beside);
    const auto side =
        static_cast<std::size_t>((std::sqrt(8 * static_cast<double>(upper.size()) + 1) - 1) / 2);
    for (std::size_t i = 0, at = 0; i < side; at += side - i, ++i) upper[at] = answers_.diagonal;
  }

 private:
  Answers answers_;
  std::size_t columns_;
  std::size_t outputs_;
};

TEST_P(EveryLoss, NoAnswerMakesWeightsThatAreNoNumbers) {
  for (const double mean : {0.0, -1.0, 0.5, 1.0, 1e6, -1e9}) {
    for (const double diagonal : {0.0, -1.0, 1.0, 1e9}) {
      for (const double beside : {0.0, 1.0, -1e9, 1e12}) {
        for (const double gradient : {0.0, 1.0, 1e3, 1e9}) {
          const std::size_t columns = 6;
          Answering objective({mean, diagonal, beside, gradient}, columns, outputs_of(GetParam()));
          const FullSampler sampler({.rows = 1, .declared_rows = 1}, Relation::add_remove);
          GenerousFilter filter;
          SeededRandom random(1);
          PrivateOracle oracle(objective, sampler, filter, random);
          AutoLinearOptions options = options_for(GetParam(), gradient > 0 ? 1 : 100);
          options.columns = columns;
          const auto method = make_auto_linear(options);
          Vector w(objective.parameters());
          while (method->step(oracle)) {
            method->weights(w);
            ASSERT_TRUE(all_finite(w));
          }
          EXPECT_EQ(method->report().step, 18);
        }
      }
    }
  }
}

// ---- how rows are looked at ----

Eigen::MatrixXd matrix_of(const RowView& view) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(view.coordinates()),
                                                 static_cast<Eigen::Index>(view.columns()));
  for (const std::size_t column : view.used()) {
    const auto image = view.column_at(view.place(column));
    for (std::size_t k = 0; k < image.size(); ++k)
      matrix(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(column)) = image[k];
  }
  return matrix;
}

TEST(Design, CentresAndScales) {
  const Vector mean = {0.5, 0.1, 0.9, 0.0};
  const Design design = centred_and_scaled(mean, 0, true);
  EXPECT_EQ(design.directions, 4u);
  EXPECT_EQ(design.view->coordinates(), 5u);
  const Eigen::MatrixXd matrix = matrix_of(*design.view);
  for (Eigen::Index j = 0; j < 4; ++j) {
    const double m = mean[static_cast<std::size_t>(j)];
    const double scale = std::pow(std::max(m * (1 - m), 1e-3), -0.25);
    for (Eigen::Index k = 0; k < 4; ++k) EXPECT_NEAR(matrix(k, j), k == j ? scale : 0, 1e-12);
    EXPECT_NEAR(matrix(j, 4), -scale * m, 1e-12);
    EXPECT_EQ(matrix(4, j), 0);
  }
  EXPECT_EQ(matrix(4, 4), 1);
  EXPECT_EQ(centred_and_scaled(mean, 0, false).view->coordinates(), 4u);
}

TEST(Design, LeavesOutColumnsThatAreLostInNoiseButNotAll) {
  const Vector mean = {0.5, 0.01, 0.2, -0.3};
  const Design design = centred_and_scaled(mean, 0.05, false);
  const auto used = design.view->used();
  EXPECT_EQ(std::vector<std::size_t>(used.begin(), used.end()), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(centred_and_scaled(mean, 1, false).directions, 1u);
  EXPECT_EQ(centred_and_scaled(Vector{-5, -3}, 1, false).view->used()[0], 1u);
  const Design wide = centred_and_scaled(Vector(2000, 0.5), 0, true);
  EXPECT_EQ(wide.directions, 512u);
}

TEST(Design, WhitensAKnownSecondMoment) {
  std::mt19937_64 random(4);
  const std::size_t side = 6;
  const Design before = centred_and_scaled(random_weights(side, 0.01, random), 0, false);
  const auto size = static_cast<Eigen::Index>(before.directions);
  Eigen::MatrixXd root(size, size);
  for (Eigen::Index i = 0; i < size * size; ++i) root.data()[i] = random_weights(1, 1, random)[0];
  const Eigen::MatrixXd moment = root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(size, size);
  Vector upper;
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = i; j < size; ++j) upper.push_back(moment(i, j));
  }
  const Design design = whitened(before, upper, 0);
  EXPECT_EQ(design.directions, before.directions);
  EXPECT_NEAR(design.expected_squared_norm, static_cast<double>(size), 1e-9);
  // M = T B, and so T = M B^+, of which T S T^T is the identity.
  const Eigen::MatrixXd all = matrix_of(*design.view);
  EXPECT_EQ(all(size, all.cols() - 1), 1);
  const Eigen::MatrixXd through = matrix_of(*before.view);
  const Eigen::MatrixXd turn =
      all.topRows(size) * through.transpose() * (through * through.transpose()).inverse();
  EXPECT_LT((turn * moment * turn.transpose() - Eigen::MatrixXd::Identity(size, size)).norm(), 1e-9);
}

TEST(Design, DirectionsLostInNoiseAreNotRaisedAboveIt) {
  const Design before = centred_and_scaled(Vector(4, 0.5), 0, false);
  for (const double sign : {1.0, -1.0}) {
    const Vector upper = {1, 0, 0, 0, 1, 0, 0, sign * 1e-9, 0, sign * 1e-9};
    const Design design = whitened(before, upper, 0.1);
    // Half of the edge, .1 sqrt(2 * 4), is where the small ones are put; a scaled column has length sqrt(2).
    const double floor = 0.5 * 0.1 * std::sqrt(8.0);
    EXPECT_NEAR(design.expected_squared_norm, 2, 1e-6);
    const double longest =
        Eigen::JacobiSVD<Eigen::MatrixXd>(matrix_of(*design.view).topLeftCorner(4, 4)).singularValues()[0];
    EXPECT_NEAR(longest, std::sqrt(2.0) / std::sqrt(floor), 1e-9);
  }
}

double normal_expectation(const std::function<double(double)>& f, double mean, double stddev) {
  constexpr int kSteps = 200'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = 24.0 * (i + 0.5) / kSteps - 12;
    sum += std::exp(-0.5 * x * x) * f(mean + stddev * x);
  }
  return sum * 24.0 / kSteps / std::sqrt(2 * std::acos(-1.0));
}

TEST(Curvature, IsTheExpectedOne) {
  const auto logistic = [](double z) { return 1 / ((1 + std::exp(-z)) * (1 + std::exp(z))); };
  const auto hinge = [](double width) {
    return [width](double z) {
      return ((std::abs(1 - z) <= width ? 1 : 0) + (std::abs(1 + z) <= width ? 1 : 0)) / (4 * width);
    };
  };
  for (const double mean : {-3.0, 0.0, 0.7, 5.0}) {
    for (const double stddev : {0.0, 0.3, 1.0, 4.0}) {
      EXPECT_NEAR(expected_curvature(GlmLoss::logistic, 1, mean, stddev),
                  normal_expectation(logistic, mean, stddev), 1e-3 * std::max(0.01, logistic(mean)));
      EXPECT_EQ(expected_curvature(GlmLoss::squared, 1, mean, stddev), 1);
      // A jump moves a sum in steps of a quarter standard deviation by half of such a step's probability.
      EXPECT_NEAR(expected_curvature(GlmLoss::hinge, 1, mean, stddev),
                  normal_expectation(hinge(1), mean, stddev), 0.06);
      EXPECT_NEAR(expected_curvature(GlmLoss::huber, 3, mean, stddev),
                  normal_expectation(hinge(3), mean, stddev), 0.06);
    }
  }
}

TEST(Curvature, OfRowsThatAreNotClipped) {
  // Nobody's slope is above 1; nobody's is below .1 when nothing is known.
  EXPECT_NEAR(clipped_curvature(GlmLoss::logistic, 1, 0.3, 1.5, 1),
              expected_curvature(GlmLoss::logistic, 1, 0.3, 1.5), 1e-12);
  EXPECT_EQ(clipped_curvature(GlmLoss::logistic, 1, 0, 0.01, 0.1), 0);
  // One label of two is as the output says: p = .9, p (1 - p) = .09.
  EXPECT_NEAR(clipped_curvature(GlmLoss::logistic, 1, std::log(9.0), 0, 0.2), 0.9 * 0.09, 1e-12);
  EXPECT_NEAR(clipped_curvature(GlmLoss::logistic, 1, -std::log(9.0), 0, 0.2), 0.9 * 0.09, 1e-12);
  EXPECT_NEAR(clipped_curvature(GlmLoss::hinge, 1, 0, 1, 0.2),
              0.2 * expected_curvature(GlmLoss::hinge, 1, 0, 1), 1e-12);
  EXPECT_EQ(clipped_curvature(GlmLoss::squared, 1, 0, 1, 0.2), 1);
}

Design white(std::size_t directions) {
  Design design = centred_and_scaled(Vector(directions, 0.5), 0, true);
  design.expected_squared_norm = static_cast<double>(directions);
  return design;
}

// Weights of 40 directions and a bias after steps on noise alone, of a length of 4, of which each takes back
// what curvature there is; and what shrinking leaves of them.
struct Drift {
  double squares = 0, left = 0, bias = 0;
};

Drift after_noise(double curvature, double kept_slope, double noise, std::mt19937_64& random) {
  constexpr std::size_t kDirections = 40, kSteps = 16, kAveraged = 12;
  std::normal_distribution<double> normal;
  Vector w(kDirections + 1), sum(kDirections + 1);
  const Design design = white(kDirections);
  const double length = step_lengths({}, design, true, w)[0];
  for (std::size_t step = 0; step < kSteps; ++step) {
    for (double& weight : w) weight -= length * (curvature * weight + noise * normal(random));
    if (step < kSteps - kAveraged) continue;
    for (std::size_t j = 0; j < w.size(); ++j) sum[j] += w[j] / kAveraged;
  }
  Drift drift{.squares = squared_length(std::span(sum).first(kDirections)), .left = 0, .bias = sum.back()};
  shrink_by_known_noise({}, design, true, {noise, kSteps, kAveraged, kept_slope}, sum);
  drift.left = squared_length(std::span(sum).first(kDirections));
  EXPECT_EQ(sum.back(), drift.bias);
  return drift;
}

// A quarter of James and Stein's: of pure noise, three quarters of the length are left.
TEST(Shrinking, KnowsHowMuchNoiseThereIs) {
  std::mt19937_64 random(5);
  for (const auto& [curvature, kept_slope] : {std::pair{0.25, 1.0}, std::pair{0.0, 0.1}}) {
    double ratio = 0;
    constexpr int kRepeats = 50;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const Drift drift = after_noise(curvature, kept_slope, 1e-3, random);
      ratio += std::sqrt(drift.left / drift.squares) / kRepeats;
    }
    EXPECT_NEAR(ratio, 0.75, 0.04) << curvature;
  }
}

TEST(Shrinking, LeavesWhatIsFarAboveTheNoise) {
  Vector w(41, 1.0);
  shrink_by_known_noise({}, white(40), true, {1e-4, 16, 12, 0.5}, w);
  EXPECT_NEAR(w[0], 1, 1e-3);
  Vector none(41, 0.0);
  shrink_by_known_noise({}, white(40), true, {1, 16, 12, 0.5}, none);
  EXPECT_EQ(none, Vector(41, 0.0));
}

// The largest ratio of u^T (diag(p) - p p^T) u to sum h_k u_k^2.
double largest_ratio(const Vector& logits, const Vector& curvatures) {
  const auto classes = static_cast<Eigen::Index>(logits.size());
  Eigen::VectorXd p = Eigen::Map<const Eigen::VectorXd>(logits.data(), classes).array().exp();
  p /= p.sum();
  Eigen::MatrixXd hessian = -p * p.transpose();
  hessian.diagonal() += p;
  const Eigen::VectorXd root = Eigen::Map<const Eigen::VectorXd>(curvatures.data(), classes).cwiseSqrt();
  const Eigen::MatrixXd ratio = root.cwiseInverse().asDiagonal() * hessian * root.cwiseInverse().asDiagonal();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(ratio).eigenvalues().maxCoeff();
}

TEST(Curvature, OfSoftmaxIsAsLargeAsTheHessian) {
  const Vector even(10, 0.0);
  Vector two_of_many(10, -4.0);
  two_of_many[3] = two_of_many[7] = 0;
  Vector one_of_many(10, 0.0);
  one_of_many[0] = 5;
  for (const Vector& logits : {even, two_of_many, one_of_many, Vector{0.5, -0.3}, Vector{1, 0, -2}}) {
    const Vector curvatures = expected_softmax_curvatures(logits, Vector(logits.size(), 0.0));
    EXPECT_LE(largest_ratio(logits, curvatures), 1 + 1e-9);
    EXPECT_GE(largest_ratio(logits, curvatures), 1 - 1e-9);
  }
}

TEST(Curvature, OfSoftmaxIsThatOfOneClassAgainstTheOthers) {
  const Vector means = {0.5, -0.3}, stddevs = {0.4, 0.3};
  const Vector two = expected_softmax_curvatures(means, stddevs);
  const double expected = expected_curvature(GlmLoss::logistic, 1, 0.8, 0.5) * 2;
  EXPECT_NEAR(two[0], expected, 1e-9);
  EXPECT_NEAR(two[1], expected, 1e-9);
  const Vector three = expected_softmax_curvatures(Vector{0, 0, 0}, Vector{0, 0, 0});
  for (const double curvature : three) EXPECT_NEAR(curvature, 1.0 / 3, 1e-9);  // 1 / classes
}

TEST(Curvature, OfSoftmaxIsANumberHoweverFarClassesAreApart) {
  for (const double far : {0.0, 300.0, 400.0, 800.0, 1e6, 1e300}) {
    for (const double spread : {0.0, 1.0, 1e6}) {
      const Vector curvatures = expected_softmax_curvatures(Vector{far, 0, -far}, Vector{spread, spread, 0});
      for (const double curvature : curvatures) {
        EXPECT_GE(curvature, 0);
        EXPECT_LE(curvature, 0.5);
      }
    }
  }
}

}  // namespace
}  // namespace ration::testing
