#include "meta/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/distributions.h"
#include "base/public_random.h"
#include "ration/base/error.h"

namespace ration::meta {
namespace {

std::shared_ptr<const Rows> numbered_rows(std::size_t count) {
  std::vector<double> values(count), labels(count);
  std::iota(values.begin(), values.end(), 0.0);
  for (std::size_t i = 0; i < count; ++i) labels[i] = i % 4 == 0 ? 1 : 0;
  return std::make_shared<const Rows>(Rows::dense(1, values, labels));
}

TEST(Task, GradientOfTheLossAgreesWithDifferences) {
  PublicRandom random(1);
  for (const TaskSource& source :
       {random_quadratics(), generated_tables({.most_rows = 6'000, .most_columns = 30})}) {
    const auto task = source(random);
    std::vector<double> w(task->parameters(), 0.1), gradient(w.size());
    EXPECT_EQ(task->loss(w, gradient), task->loss(w));
    for (std::size_t i = 0; i < w.size(); ++i) {
      std::vector<double> up = w, down = w;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      EXPECT_NEAR(gradient[i], (task->loss(up) - task->loss(down)) / 2e-5, 1e-6);
    }
  }
}

std::shared_ptr<const Rows> small_rows() {
  PublicRandom random(2);
  std::vector<double> values(30 * 4), labels(30);
  fill_gaussian(random, values, 1);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 2 == 0 ? 1 : 0;
  return std::make_shared<const Rows>(Rows::dense(4, values, labels));
}

TEST(NetworksOn, GradientOfTheLossAgreesWithDifferences) {
  PublicRandom random(1);
  const auto task = networks_on(*small_rows(), {3, 5, 2})(random);
  ASSERT_EQ(task->parameters(), 15u + 20 + 12 + 3);
  std::vector<double> w = task->start(), gradient(w.size());
  task->loss(w, gradient);
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::vector<double> up = w, down = w;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    EXPECT_NEAR(gradient[i], (task->loss(up) - task->loss(down)) / 2e-5, 1e-7) << i;
  }
}

// One row at a time, so that its norm can be seen.
TEST(NetworksOn, EveryRowIsClippedByItself) {
  PublicRandom random(1);
  const auto task = networks_on(*small_rows(), {3, 5})(random);
  const std::vector<double>& w = task->start();
  std::vector<double> whole(w.size()), clipped(w.size()), sum(w.size(), 0.0), all(w.size());
  for (std::uint64_t row = 0; row < 30; ++row) {
    const Batch one{.rows = {row}, .divisor = 1};
    task->objective().clipped_gradient_sum(w, one, Abadi{1e9}, whole);
    task->objective().clipped_gradient_sum(w, one, Abadi{0.1}, clipped);
    const double norm = std::sqrt(std::inner_product(whole.begin(), whole.end(), whole.begin(), 0.0));
    EXPECT_GT(norm, 0.1);
    for (std::size_t i = 0; i < w.size(); ++i) {
      EXPECT_NEAR(clipped[i], whole[i] * 0.1 / norm, 1e-12);
      sum[i] += clipped[i];
    }
  }
  task->clipped_mean(w, Abadi{0.1}, all);
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(all[i], sum[i] / 30, 1e-12);
}

TEST(HalvesOf, JudgedByErrors) {
  PublicRandom random(1);
  const auto task = halves_of(small_rows(), {.threads = 1}, 1, 15, Judge::errors)(random);
  std::vector<double> w{0.3, -0.4, 0.2, 0.9}, gradient(4);
  EXPECT_EQ(task->loss(std::vector<double>(4, 0.0)), 0.5);
  EXPECT_EQ(task->loss(w, gradient), task->mean_loss(w));
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::vector<double> up = w, down = w;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    EXPECT_NEAR(gradient[i], (task->loss(up) - task->loss(down)) / 2e-5, 1e-8) << i;
  }
  std::vector<double> sure = w;
  for (double& weight : sure) weight *= 1e6;
  const double errors = task->loss(sure) * static_cast<double>(task->rows());
  EXPECT_NEAR(errors, std::round(errors), 1e-6);
  EXPECT_THROW(halves_of(small_rows(), {.loss = GlmLoss::squared}, 1, 15, Judge::errors), InputError);
}

TEST(Task, ClippedMeanIsBounded) {
  PublicRandom random(1);
  const auto task = random_quadratics()(random);
  std::vector<double> mean(2);
  task->clipped_mean(std::vector<double>{50, -80}, Abadi{0.5}, mean);
  EXPECT_LE(std::hypot(mean[0], mean[1]), 0.5);
  EXPECT_GT(std::hypot(mean[0], mean[1]), 0.1);
}

TEST(Task, ASampledStepSeesItsShareOfTheRows) {
  PublicRandom random(1);
  const auto task = halves_of(numbered_rows(1000), {.threads = 1}, 0.1)(random);
  EXPECT_EQ(task->rows(), 500u);
  EXPECT_EQ(task->step_rows(), 50u);
  std::set<double> losses;
  for (int i = 0; i < 5; ++i) {
    task->draw(random);
    losses.insert(task->loss(std::vector<double>{0.01}));
  }
  EXPECT_EQ(losses.size(), 5u);
}

TEST(RandomQuadratics, BeginWhereTheyAreTold) {
  PublicRandom random(1);
  EXPECT_EQ(random_quadratics({2, -3})(random)->start(), (std::vector<double>{2, -3}));
  const TaskSource anywhere = random_quadratics();
  EXPECT_NE(anywhere(random)->start(), anywhere(random)->start());
  EXPECT_EQ(anywhere(random)->rows(), 60u);
}

// Half of the tasks have labels that are turned round; of rows of which a quarter has label 1, three quarters
// then have.
TEST(HalvesOf, SidesChange) {
  PublicRandom random(1);
  const TaskSource halves = halves_of(numbered_rows(1000), {.threads = 1});
  int turned = 0;
  for (int i = 0; i < 40; ++i) {
    std::vector<double> counts(2);
    const auto task = halves(random);
    Batch all{.rows = std::vector<std::uint64_t>(task->rows()), .divisor = 1};
    std::iota(all.rows.begin(), all.rows.end(), std::uint64_t{0});
    task->objective().label_counts(all, counts);
    EXPECT_EQ(counts[0] + counts[1], 500);
    turned += counts[1] > counts[0] ? 1 : 0;
  }
  EXPECT_GT(turned, 8);
  EXPECT_LT(turned, 32);
}

// Four columns and a bias, the label unlike all of them: most tasks ask about a column, and none of those
// sees it.
TEST(QuestionsAbout, AskAboutOtherColumns) {
  PublicRandom random(1);
  constexpr std::size_t kRows = 200, kColumns = 5;
  std::vector<double> values(kRows * kColumns), labels(kRows, 0.0);
  for (double& value : values) value = 0.1 + uniform(random);
  for (std::size_t i = 0; i < kRows; ++i) values[i * kColumns + 4] = 1;
  const auto rows = std::make_shared<const Rows>(Rows::dense(kColumns, values, labels));
  const TaskSource questions = questions_about(rows, {.threads = 1}, 80);
  int others = 0;
  for (int i = 0; i < 60; ++i) {
    const auto task = questions(random);
    ASSERT_EQ(task->rows(), 80u);
    std::vector<double> counts(2), gradient(kColumns);
    Batch all{.rows = std::vector<std::uint64_t>(80), .divisor = 1};
    std::iota(all.rows.begin(), all.rows.end(), std::uint64_t{0});
    task->objective().label_counts(all, counts);
    task->loss(std::vector<double>(kColumns, 0.0), gradient);
    const auto blank = std::count(gradient.begin(), gradient.end() - 1, 0.0);  // the bias aside
    const bool other = counts[0] > 0 && counts[1] > 0;
    EXPECT_EQ(blank, other ? 1 : 0);
    if (!other) continue;
    ++others;
    EXPECT_GE(std::min(counts[0], counts[1]), 8);
  }
  EXPECT_GT(others, 25);
  EXPECT_LT(others, 55);
}

TEST(HalvesOf, HaveNoMoreRowsThanAllowed) {
  PublicRandom random(1);
  EXPECT_EQ(halves_of(numbered_rows(1000), {.threads = 1}, 1, 120)(random)->rows(), 120u);
}

TEST(GeneratedTables, AreWithinTheirBounds) {
  PublicRandom random(1);
  const GeneratedTables options{.least_rows = 300, .most_rows = 500, .least_columns = 5, .most_columns = 12};
  const TaskSource tables = generated_tables(options);
  for (int i = 0; i < 10; ++i) {
    const auto task = tables(random);
    EXPECT_GE(task->rows(), 299u);
    EXPECT_LE(task->rows(), 500u);
    EXPECT_GE(task->parameters(), 5u);
    EXPECT_LE(task->parameters(), 13u);
    EXPECT_LE(task->objective().facts().row_norm_bound, options.max_row_norm);
  }
}

TEST(Task, NeedsRows) {
  EXPECT_THROW(Task(make_glm(std::make_shared<const Rows>(Rows::dense(1, {}, {})), {})), InputError);
}

}  // namespace
}  // namespace ration::meta
