#include "schedules/scale.h"

#include <gtest/gtest.h>

#include "ration/base/error.h"
#include "schedules/noise_shape.h"

namespace ration::testing {
namespace {

enum class Drawn { all, poisson, fixed };

struct Way {
  Drawn drawn;
  Relation relation;
  Accountant accountant;
};

// Every accountant with every sampling that it certifies.
const Way kWays[] = {{Drawn::all, Relation::add_remove, Accountant::zcdp},
                     {Drawn::all, Relation::add_remove, Accountant::rdp},
                     {Drawn::all, Relation::replace_one, Accountant::gdp},
                     {Drawn::all, Relation::add_remove, Accountant::pld},
                     {Drawn::all, Relation::add_remove, Accountant::tcdp},
                     {Drawn::all, Relation::add_remove, Accountant::advanced},
                     {Drawn::poisson, Relation::add_remove, Accountant::rdp},
                     {Drawn::poisson, Relation::add_remove, Accountant::pld},
                     {Drawn::poisson, Relation::add_remove, Accountant::advanced},
                     {Drawn::fixed, Relation::replace_one, Accountant::rdp}};

EventOfNoise event_of(Drawn drawn) {
  return [drawn](std::span<const double> noise) {
    std::vector<Event> steps;
    for (const double s : noise) {
      const Event step = Event::gaussian(s);
      steps.push_back(drawn == Drawn::all       ? step
                      : drawn == Drawn::poisson ? Event::poisson_sampled(0.1, step)
                                                : Event::fixed_size_sampled(0.1, step));
    }
    return Event::composed(std::move(steps));
  };
}

TEST(Scale, LandsOnTheBudgetFromBelowUnderEveryAccountant) {
  const std::vector<double> shape = relative_noise(InfluenceNoise{0.5}, 5);
  for (const Way& way : kWays) {
    SCOPED_TRACE(std::string(to_string(way.accountant)) + (way.drawn == Drawn::all ? "" : ", sampled"));
    const Budget budget{1, 1e-6};
    const ScaledNoise scaled =
        scale_onto_budget(shape, event_of(way.drawn), way.relation, way.accountant, budget);
    const double spent =
        account(event_of(way.drawn)(scaled.noise), way.relation, way.accountant, budget.delta).epsilon;
    EXPECT_LE(spent, budget.epsilon);
    EXPECT_GE(spent, budget.epsilon * (1 - 1e-3));
    ASSERT_EQ(scaled.noise.size(), shape.size());
    for (std::size_t t = 0; t < shape.size(); ++t) EXPECT_DOUBLE_EQ(scaled.noise[t], scaled.size * shape[t]);
  }
}

// [Hong22, App. D]: (4, 1e-8) is rho = .1963 by the paper's conversion; ours is tighter, and every shape gets
// the same.
TEST(Scale, EveryShapeGetsTheSameRho) {
  double first = 0;
  for (const NoiseShape& shape : {NoiseShape(UniformNoise{}), NoiseShape(InfluenceNoise{0.97}),
                                  NoiseShape(MomentumInfluenceNoise{0.97, 0.9}), NoiseShape(StepNoise{})}) {
    const ScaledNoise scaled = scale_onto_budget(relative_noise(shape, 100), event_of(Drawn::all),
                                                 Relation::add_remove, Accountant::zcdp, {4, 1e-8});
    double rho = 0;
    for (const double s : scaled.noise) rho += 1 / (2 * s * s);
    if (first == 0) first = rho;
    EXPECT_NEAR(rho / first, 1, 1e-7);
    EXPECT_GT(rho, 0.1963);
  }
}

TEST(Scale, WhatAnAccountantCannotCertifyIsRefused) {
  EXPECT_THROW(scale_onto_budget(std::vector<double>{1, 2}, event_of(Drawn::poisson), Relation::add_remove,
                                 Accountant::zcdp, {1, 1e-6}),
               InputError);
}

}  // namespace
}  // namespace ration::testing
