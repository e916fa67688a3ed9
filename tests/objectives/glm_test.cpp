#include "ration/objectives/glm/glm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objectives/tables.h"
#include "ration/base/error.h"
#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Vector = std::vector<double>;

// Textbook formulas, one row at a time, everything formed: what the kernels must agree with.
struct RowAtATime {
  GlmLoss loss;
  const Rows& rows;
  const Vector& w;

  Vector features(std::size_t row) const {
    if (rows.is_dense()) return Vector(rows.dense_row(row).begin(), rows.dense_row(row).end());
    Vector x(rows.columns());
    const auto sparse = rows.sparse_row(row);
    for (std::size_t i = 0; i < sparse.values.size(); ++i) x[sparse.indices[i]] = sparse.values[i];
    return x;
  }
  std::size_t outputs() const { return loss == GlmLoss::softmax ? kClasses : 1; }

  Vector scores(std::size_t row) const {
    const Vector x = features(row);
    Vector z(outputs());
    for (std::size_t i = 0; i < w.size(); ++i) z[i / x.size()] += w[i] * x[i % x.size()];
    return z;
  }
  double value(std::size_t row) const {
    const Vector z = scores(row);
    const double y = rows.labels()[row];
    const double margin = (2 * y - 1) * z[0];
    if (loss == GlmLoss::logistic) return std::log(1 + std::exp(-margin));
    if (loss == GlmLoss::hinge) return std::max(0.0, 1 - margin);
    if (loss == GlmLoss::squared) return (z[0] - y) * (z[0] - y) / 2;
    if (loss == GlmLoss::huber) {
      if (margin > 1.5) return 0;
      return margin < 0.5 ? 1 - margin : (1.5 - margin) * (1.5 - margin) / 2;
    }
    double sum = 0;
    for (const double score : z) sum += std::exp(score);
    return std::log(sum) - z[static_cast<std::size_t>(y)];
  }
  Vector slopes(std::size_t row) const {
    Vector z = scores(row);
    const double y = rows.labels()[row];
    const double sign = 2 * y - 1;
    if (loss == GlmLoss::logistic) return {1 / (1 + std::exp(-z[0])) - y};
    if (loss == GlmLoss::hinge) return {sign * z[0] < 1 ? -sign : 0};
    if (loss == GlmLoss::squared) return {z[0] - y};
    if (loss == GlmLoss::huber) return {-sign * std::clamp(1.5 - sign * z[0], 0.0, 1.0)};
    double sum = 0;
    for (double& score : z) sum += score = std::exp(score);
    for (double& score : z) score /= sum;
    z[static_cast<std::size_t>(y)] -= 1;
    return z;
  }
  Vector gradient(std::size_t row) const {
    const Vector x = features(row);
    Vector g;
    for (const double slope : slopes(row)) {
      for (const double feature : x) g.push_back(slope * feature);
    }
    return g;
  }
  Vector clipped_sum(const Batch& batch, const AnyClipRule& rule) const {
    Vector sum(w.size());
    for (const auto row : batch.rows) {
      const Vector g = gradient(row);
      double squares = 0;
      for (const double value : g) squares += value * value;
      if (squares == 0) continue;
      const double factor = rule.visit([&](const auto& r) { return r.factor(std::sqrt(squares)); });
      for (std::size_t i = 0; i < g.size(); ++i) sum[i] += factor * g[i];
    }
    return sum;
  }
  double clipped_losses(const Batch& batch, double bound) const {
    double sum = 0;
    for (const auto row : batch.rows) sum += std::clamp(value(row), 0.0, bound);
    return sum;
  }
};

void expect_near(const Vector& actual, const Vector& expected, double relative) {
  double scale = 1e-3;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], relative * scale);
}

class GlmOf : public ::testing::TestWithParam<std::tuple<GlmLoss, Storage>> {
 protected:
  GlmLoss loss() const { return std::get<0>(GetParam()); }
  auto table(std::size_t rows, std::size_t columns, std::size_t times = 1) {
    return random_table(loss(), std::get<1>(GetParam()), rows, columns, false, random_, times);
  }
  std::mt19937_64 random_{7};
};

// The rounding room of the clip factor is 9e-13.
TEST_P(GlmOf, ClippedSumsAreThoseOfOneRowAtATime) {
  for (const std::size_t columns : {1u, 2u, 5u, 8u, 31u}) {
    const auto rows = table(101, columns);
    const auto objective = glm(loss(), rows);
    const Vector w = random_weights(objective->parameters(), 0.5, random_);
    const RowAtATime reference{loss(), *rows, w};
    for (const Batch& batch :
         {all(101), all_but(101, 50), Batch{.rows = {3, 17, 18, 19, 90}, .divisor = 1}}) {
      for (const std::string_view name : names_of<ClipKind>()) {
        const AnyClipRule rule = AnyClipRule::of(named<ClipKind>(name), 0.7, 0.01);
        expect_near(gradient_sum(*objective, w, batch, rule), reference.clipped_sum(batch, rule), 1e-12);
      }
      expect_near(loss_sums(*objective, {w}, batch, 0.8), {reference.clipped_losses(batch, 0.8)}, 1e-12);
    }
  }
}

TEST_P(GlmOf, GradientsAreDerivativesOfTheLosses) {
  const auto rows = table(40, 6);
  const auto objective = glm(loss(), rows);
  Vector w = random_weights(objective->parameters(), 0.5, random_);
  const Vector gradient = gradient_sum(*objective, w, all(40), Abadi{1e9});
  constexpr double kStep = 1e-6;
  for (std::size_t i = 0; i < w.size(); ++i) {
    Vector up = w, down = w;
    up[i] += kStep;
    down[i] -= kStep;
    const Vector losses = loss_sums(*objective, {up, down}, all(40), 1e9);
    EXPECT_NEAR((losses[0] - losses[1]) / (2 * kStep), gradient[i], 1e-6);
  }
}

TEST_P(GlmOf, TheNumberOfThreadsChangesNothing) {
  const auto rows = table(500, 60, 120);
  const auto one = glm(loss(), rows, 1);
  const Vector w = random_weights(one->parameters(), 0.2, random_);
  const Vector expected = gradient_sum(*one, w, all(60'000), AutoS{});
  const Vector losses = loss_sums(*one, {w, w}, all(60'000), 1);
  for (const std::size_t threads : {2u, 3u, 8u}) {
    const auto many = glm(loss(), rows, threads);
    EXPECT_EQ(gradient_sum(*many, w, all(60'000), AutoS{}), expected);
    EXPECT_EQ(loss_sums(*many, {w, w}, all(60'000), 1), losses);
  }
}

// A batch of several blocks against batches of one: no block is lost or counted twice.
TEST_P(GlmOf, ALargeBatchIsTheSumOfItsParts) {
  const auto rows = table(500, 60, 120);
  const auto objective = glm(loss(), rows, 2);
  const Vector w = random_weights(objective->parameters(), 0.2, random_);
  Vector expected(w.size());
  double losses = 0;
  for (std::uint64_t first = 0; first < 60'000; first += 1000) {
    Batch part;
    for (std::uint64_t row = first; row < first + 1000; ++row) part.rows.push_back(row);
    const Vector sum = gradient_sum(*objective, w, part, AutoS{});
    for (std::size_t i = 0; i < sum.size(); ++i) expected[i] += sum[i];
    losses += loss_sums(*objective, {w}, part, 1)[0];
  }
  expect_near(gradient_sum(*objective, w, all(60'000), AutoS{}), expected, 1e-12);
  expect_near(loss_sums(*objective, {w}, all(60'000), 1), {losses}, 1e-12);
}

TEST_P(GlmOf, AnEmptyBatchGivesZeros) {
  const auto objective = glm(loss(), table(5, 4));
  const Vector w = random_weights(objective->parameters(), 1, random_);
  EXPECT_THAT(gradient_sum(*objective, w, {}, AutoV{}), Each(0.0));
  EXPECT_THAT(loss_sums(*objective, {w, w}, {}, 1), ElementsAre(0, 0));
  EXPECT_EQ(objective->count_norms_at_most(w, {}, 1), 0u);
}

TEST_P(GlmOf, ASecondCallForgetsTheFirst) {
  const auto objective = glm(loss(), table(50, 4));
  const Vector w = random_weights(objective->parameters(), 1, random_);
  const Vector once = gradient_sum(*objective, w, all(50), AutoV{});
  loss_sums(*objective, {w}, all(50), 1);
  EXPECT_EQ(gradient_sum(*objective, w, all(50), AutoV{}), once);
}

TEST_P(GlmOf, CountsTheShortGradients) {
  const auto rows = table(200, 4);
  const auto objective = glm(loss(), rows);
  const Vector w = random_weights(objective->parameters(), 1, random_);
  const RowAtATime reference{loss(), *rows, w};
  std::uint64_t expected = 0;
  for (std::size_t row = 0; row < 200; ++row) {
    double squares = 0;
    for (const double value : reference.gradient(row)) squares += value * value;
    expected += std::sqrt(squares) <= 0.6 ? 1 : 0;
  }
  EXPECT_EQ(objective->count_norms_at_most(w, all(200), 0.6), expected);
}

TEST_P(GlmOf, MeanLossIsUnclipped) {
  const auto rows = table(33, 4);
  const auto objective = glm(loss(), rows);
  const Vector w = random_weights(objective->parameters(), 3, random_);
  const RowAtATime reference{loss(), *rows, w};
  EXPECT_NEAR(objective->mean_loss(w), reference.clipped_losses(all(33), 1e9) / 33, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(All, GlmOf,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses),
                                            ::testing::Values(Storage::dense, Storage::sparse)));

// A hostile row must take nothing from the others, and a row without a norm or loss must add nothing.
TEST(GlmWithHostileRows, TheyContributeNothing) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Storage storage : {Storage::dense, Storage::sparse}) {
    for (const GlmLoss loss : kAllLosses) {
      const auto rows =
          store(storage, 2, {std::nan(""), 1, 0.5, 1, infinity, 1, 1.5e308, 1.5e308}, {0, 1, 1, 0});
      const auto objective = glm(loss, rows);
      const Vector w(objective->parameters(), 0.25);
      const Batch only_the_good{.rows = {1}, .divisor = 1};
      EXPECT_EQ(gradient_sum(*objective, w, all(4), AutoS{}),
                gradient_sum(*objective, w, only_the_good, AutoS{}));
      const Batch no_numbers{.rows = {0, 1}, .divisor = 1};
      EXPECT_EQ(loss_sums(*objective, {w}, no_numbers, 1), loss_sums(*objective, {w}, only_the_good, 1));
      EXPECT_EQ(objective->count_norms_at_most(w, all(4), 1e9), 1u);
    }
  }
}

TEST(Glm, PredictsClassesAndValues) {
  const auto predict = [](GlmLoss loss, Vector w) {
    const auto objective = glm(loss, store(Storage::dense, 2, {1, 0, 0, 1, -1, 1}, {0, 1, 0}));
    Vector predictions(3);
    objective->predict(w, predictions);
    return predictions;
  };
  EXPECT_THAT(predict(GlmLoss::logistic, {2, -1}), ElementsAre(1, 0, 0));
  EXPECT_THAT(predict(GlmLoss::hinge, {-2, 1}), ElementsAre(0, 1, 1));
  EXPECT_THAT(predict(GlmLoss::squared, {2, -1}), ElementsAre(2, -1, -3));
  EXPECT_THAT(predict(GlmLoss::softmax, {0, 0, 1, 0, 0, 1}), ElementsAre(1, 2, 2));
}

TEST(Glm, PredictsRowsWhoseLabelsAreUnknown) {
  const auto rows = store(Storage::dense, 2, {1, 0, 0, 1}, {std::nan(""), 7});
  Vector predictions(2);
  for (const GlmLoss loss : {GlmLoss::logistic, GlmLoss::softmax, GlmLoss::hinge, GlmLoss::huber}) {
    const Vector w = loss == GlmLoss::softmax ? Vector{0, 0, 2, -1} : Vector{2, -1};
    predict_glm(*rows, {.loss = loss}, w, predictions);
    EXPECT_THAT(predictions, ElementsAre(1, 0)) << to_string(loss);
  }
  predict_glm(*rows, {.loss = GlmLoss::squared}, Vector{2, -1}, predictions);
  EXPECT_THAT(predictions, ElementsAre(2, -1));
}

TEST(Glm, RefusesWhatDoesNotFit) {
  const auto rows = store(Storage::dense, 2, {1, 2, 3, 4}, {0, 1});
  const auto objective = glm(GlmLoss::logistic, rows);
  Vector sum(2);
  EXPECT_THAT([&] { objective->clipped_gradient_sum(Vector(3), all(2), AutoS{}, sum); },
              ThrowsMessage<InputError>(HasSubstr("expected 2 parameters, got 3")));
  EXPECT_THAT([&] { objective->clipped_gradient_sum(Vector(2), all(3), AutoS{}, sum); },
              ThrowsMessage<InputError>(HasSubstr("expected rows below 2, got row 2")));
  EXPECT_THROW(loss_sums(*objective, {{0, 0}}, all(2), 0), InputError);
  EXPECT_THROW(loss_sums(*objective, {{0}}, all(2), 1), InputError);
  EXPECT_THROW(make_glm(nullptr, {}), InputError);
  EXPECT_THROW(make_glm(rows, {.loss = GlmLoss::softmax, .classes = 1}), InputError);
  EXPECT_THROW(make_glm(rows, {.loss = GlmLoss::huber, .huber_width = 0}), InputError);
}

TEST(Glm, RefusesLabelsTheLossDoesNotTake) {
  const auto labelled = [](double label) { return store(Storage::dense, 1, {1, 1}, {0, label}); };
  EXPECT_THAT([&] { glm(GlmLoss::logistic, labelled(-1)); },
              ThrowsMessage<InputError>(HasSubstr("row 1: expected the label to be 0 or 1, got -1")));
  EXPECT_THROW(glm(GlmLoss::hinge, labelled(2)), InputError);
  EXPECT_THROW(glm(GlmLoss::huber, labelled(std::nan(""))), InputError);
  EXPECT_THROW(glm(GlmLoss::softmax, labelled(kClasses)), InputError);
  EXPECT_THROW(glm(GlmLoss::softmax, labelled(0.5)), InputError);
  EXPECT_THROW(glm(GlmLoss::squared, labelled(std::nan(""))), InputError);
  EXPECT_NO_THROW(glm(GlmLoss::softmax, labelled(2)));
  EXPECT_NO_THROW(glm(GlmLoss::squared, labelled(-2.5)));
}

TEST(Glm, LossesHaveNames) {
  for (const GlmLoss loss : kAllLosses) EXPECT_EQ(named<GlmLoss>(to_string(loss)), loss);
  EXPECT_THROW(named<GlmLoss>("log"), InputError);
}

TEST(Glm, SumsAreTheSameUnderEachInstructionSet) {
  for (const GlmLoss loss : kAllLosses) {
    for (const Storage storage : {Storage::dense, Storage::sparse}) {
      std::mt19937_64 random(11);
      const auto table = random_table(loss, storage, 203, 13, false, random);
      const auto objective = glm(loss, table);
      const std::vector<double> w = random_weights(objective->parameters(), 1, random);
      expect_same_under_each_set(
          [&] {
            auto sums = gradient_sum(*objective, w, all(203), Abadi{.R = 0.5});
            for (const double sum : loss_sums(*objective, {w, w}, all(203), 2)) sums.push_back(sum);
            return sums;
          },
          1e-12);
    }
  }
}

}  // namespace
}  // namespace ration::testing
