#include "meta/unroll.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "base/distributions.h"
#include "base/public_random.h"
#include "meta/constraint.h"
#include "methods/protector/step_formulas.h"
#include "objectives/quadratic.h"
#include "ration/objectives/glm/glm.h"

namespace ration::meta {
namespace {

using Weights = ProtectorWeights<double>;
using Values = std::vector<double>;

constexpr std::size_t kUnits = 3;
constexpr std::size_t kSteps = 6;

Values random_numbers(std::uint64_t seed, std::size_t count, double size) {
  PublicRandom random(seed);
  Values out(count);
  fill_gaussian(random, out, size);
  return out;
}

Weights random_weights() {
  return {random_numbers(1, protector::LstmShape{Protector::kSchedulerInputs, kUnits}.parameters(), 0.6),
          random_numbers(2, protector::LstmShape{Protector::kProjectorInputs, kUnits}.parameters(), 0.6)};
}

std::unique_ptr<Task> quadratic_task() {
  PublicRandom random(3);
  return random_quadratics()(random);
}

// 21 coordinates: more than one block of lanes.
std::unique_ptr<Task> table_task() {
  constexpr std::size_t kRows = 40, kColumns = 21;
  Values labels(kRows);
  for (std::size_t i = 0; i < kRows; ++i) labels[i] = i % 3 == 0 ? 1 : 0;
  auto rows =
      std::make_shared<const Rows>(Rows::dense(kColumns, random_numbers(4, kRows * kColumns, 0.5), labels));
  return std::make_unique<Task>(make_glm(std::move(rows), {.threads = 1}));
}

Protection usual_protection() {
  Protection protection;
  protection.even = 20;
  protection.least = 4;
  protection.steps = 5;
  return protection;
}

// An unrolled objective as a function of the weights: what a step observed, gradients and noise, is the same
// each time.
class Unrolled {
 public:
  Unrolled(std::unique_ptr<Task> task, const Protection& protection)
      : task_(std::move(task)), protection_(protection) {
    PublicRandom random(5);
    Unroll<double> unroll(*task_, protection_, kShape, random, kSteps);
    unroll.record = &seen_;
    unroll.run(weights, kSteps);
  }

  // What a run says about losses and costs, as one number.
  using Objective = std::function<double(const Unroll<double>&)>;
  double value(const Weights& at, const Objective& objective) {
    PublicRandom random(5);
    Unroll<double> unroll(*task_, protection_, kShape, random, kSteps);
    unroll.replay = &seen_;
    unroll.run(at, kSteps);
    return objective(unroll);
  }
  using Slopes = std::function<std::pair<Values, Values>(const Unroll<double>&)>;  // by loss, by cost
  Weights gradient(const Slopes& slopes) {
    PublicRandom random(5);
    Unroll<double> unroll(*task_, protection_, kShape, random, kSteps);
    unroll.replay = &seen_;
    unroll.run(weights, kSteps);
    const auto [by_loss, by_cost] = slopes(unroll);
    Weights out{Values(weights.scheduler.size(), 0.0), Values(weights.projector.size(), 0.0)};
    unroll.back(weights, by_loss, by_cost, out);
    return out;
  }

  void expect_right(const Objective& objective, const Slopes& slopes) {
    const Weights exact = gradient(slopes);
    expect_right(exact.scheduler, &Weights::scheduler, objective);
    expect_right(exact.projector, &Weights::projector, objective);
  }

  Weights weights = random_weights();

 private:
  static constexpr Unroll<double>::Shape kShape{kUnits, 0.3};

  void expect_right(const Values& exact, Values Weights::*part, const Objective& objective) {
    double largest = 0;
    for (const double slope : exact) largest = std::max(largest, std::abs(slope));
    ASSERT_GT(largest, 1e-6);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      constexpr double kStep = 1e-5;
      Weights at = weights;
      (at.*part)[i] += kStep;
      const double up = value(at, objective);
      (at.*part)[i] -= 2 * kStep;
      ASSERT_NEAR(exact[i], (up - value(at, objective)) / (2 * kStep), 1e-6 * largest) << "weight " << i;
    }
  }

  std::unique_ptr<Task> task_;
  Protection protection_;
  std::vector<Unroll<double>::Observation> seen_;
};

const Values kByLoss = random_numbers(6, kSteps, 1);
const Values kByCost = random_numbers(7, kSteps, 1);

double weighted(const Unroll<double>& unroll) {
  return std::inner_product(kByLoss.begin(), kByLoss.end(), unroll.losses().begin(), 0.0) +
         std::inner_product(kByCost.begin(), kByCost.end(), unroll.costs().begin(), 0.0);
}
std::pair<Values, Values> weighted_slopes(const Unroll<double>&) {
  return {kByLoss, kByCost};
}

TEST(Unroll, GradientAgreesWithDifferencesOnQuadratics) {
  Unrolled(quadratic_task(), usual_protection()).expect_right(weighted, weighted_slopes);
}

TEST(Unroll, GradientAgreesWithDifferencesOnATable) {
  Unrolled(table_task(), usual_protection()).expect_right(weighted, weighted_slopes);
}

TEST(Unroll, GradientAgreesWithDifferencesWithReleasedNorms) {
  Protection protection = usual_protection();
  protection.norm_sensitivity = 4 * 60 - 3;
  protection.norm_noise = 30;
  Unrolled(quadratic_task(), protection).expect_right(weighted, weighted_slopes);
}

TEST(Unroll, GradientAgreesWithDifferencesWithoutNoise) {
  Protection protection = usual_protection();
  protection.noise_injected = 0;
  Unrolled(quadratic_task(), protection).expect_right(weighted, weighted_slopes);
}

Values running_h(std::span<const double> costs) {
  Values h(costs.size());
  std::partial_sum(costs.begin(), costs.end(), h.begin());
  for (double& value : h) value -= 1;
  return h;
}

// [L2P, Eq. 3]
TEST(Unroll, SoftConstraintAgreesWithDifferences) {
  Unrolled unrolled(quadratic_task(), usual_protection());
  const std::size_t end = static_cast<std::size_t>(unrolled.value(unrolled.weights, [](const auto& unroll) {
    return static_cast<double>(soft_objective(unroll.losses(), running_h(unroll.costs()), 2).end);
  }));
  ASSERT_GT(end, 0u);
  ASSERT_LT(end, kSteps);
  unrolled.expect_right(
      [](const auto& unroll) { return soft_objective(unroll.losses(), running_h(unroll.costs()), 2).value; },
      [](const auto& unroll) {
        const SoftObjective soft = soft_objective(unroll.losses(), running_h(unroll.costs()), 2);
        return std::pair{soft.by_loss, by_cost(soft.by_h)};
      });
}

// [L2P, Eq. 2]
TEST(Unroll, AugmentedLagrangianAgreesWithDifferences) {
  AugmentedLagrangian al;
  al.update(0.4);
  Unrolled(quadratic_task(), usual_protection())
      .expect_right(
          [&](const auto& unroll) { return unroll.losses().back() + al.penalty(unroll.cost() - 1); },
          [&](const auto& unroll) {
            Values by_loss(kSteps, 0.0);
            by_loss.back() = 1;
            return std::pair{by_loss, Values(kSteps, al.slope(unroll.cost() - 1))};
          });
}

// [L2P, App. B.5; Eq. 35]
TEST(Unroll, BatchConstraintAgreesWithDifferences) {
  BatchBudgets budgets(2);
  budgets.update_hard(Values{0.7, 0.4});
  const AugmentedLagrangian& al = budgets.of(0);
  Unrolled(quadratic_task(), usual_protection())
      .expect_right(
          [&](const auto& unroll) {
            return std::accumulate(unroll.losses().begin(), unroll.losses().end(), 0.0) / kSteps +
                   al.penalty(unroll.cost() - budgets.r(0));
          },
          [&](const auto& unroll) {
            return std::pair{Values(kSteps, 1.0 / kSteps), Values(kSteps, budgets.slope(0, unroll.cost()))};
          });
}

TEST(Unroll, OnlyWhatIsAskedForIsLearned) {
  const auto task = quadratic_task();
  const Protection protection = usual_protection();
  const Weights weights = random_weights();
  PublicRandom random(5);
  Unroll<double> unroll(*task, protection, {kUnits, 0.3}, random, kSteps);
  unroll.run(weights, kSteps);
  Weights both{Values(weights.scheduler.size(), 0.0), Values(weights.projector.size(), 0.0)};
  Weights scheduler{Values(weights.scheduler.size(), 0.0), {}};
  Weights projector{{}, Values(weights.projector.size(), 0.0)};
  for (Weights* into : {&both, &scheduler, &projector}) unroll.back(weights, kByLoss, kByCost, *into);
  EXPECT_EQ(scheduler.scheduler, both.scheduler);
  EXPECT_EQ(projector.projector, both.projector);
}

// Batches go on where the one before ended, whatever is kept of it.
TEST(Unroll, BatchesAreTheWholeInParts) {
  const Protection protection = usual_protection();
  const Weights weights = random_weights();
  const auto losses = [&](std::size_t batch) {
    const auto task = quadratic_task();
    PublicRandom random(5);
    Unroll<double> unroll(*task, protection, {kUnits, 0.3}, random, batch);
    Values out;
    for (std::size_t done = 0; done < kSteps; done += batch) {
      unroll.run(weights, batch);
      out.insert(out.end(), unroll.losses().begin(), unroll.losses().end());
    }
    return out;
  };
  EXPECT_EQ(losses(2), losses(kSteps));
}

TEST(Unroll, SpendsTheWholeBudgetInTheEnd) {
  const Protection protection = usual_protection();
  for (const bool scheduled : {true, false}) {
    Weights weights = random_weights();
    if (!scheduled) weights.scheduler.clear();
    const auto task = quadratic_task();
    PublicRandom random(5);
    Unroll<double> unroll(*task, protection, {kUnits, 0.3}, random, 0);
    unroll.run_to_the_end(weights);
    EXPECT_NEAR(unroll.spent(), 1, 1e-6);
    if (!scheduled) {
      EXPECT_EQ(unroll.taken(), 5u);
    }
  }
}

TEST(Protection, CostOfEvenStepsAddsUpToTheBudget) {
  Protection protection = usual_protection();
  EXPECT_NEAR(protection.cost(protection.even) * protection.steps, 1, 1e-12);
  protection.norm_sensitivity = 1;
  protection.norm_noise = 30;
  EXPECT_NEAR(protection.cost(protection.even) * protection.steps, 1, 1e-12);
  const double h = 1e-5;
  EXPECT_NEAR(protection.cost_slope(12), (protection.cost(12 + h) - protection.cost(12 - h)) / (2 * h), 1e-9);
}

}  // namespace
}  // namespace ration::meta
