// The filter of constrained tCDP: one number, rho, whose sum may be rho_a; a step on a subset costs 13 q^2
// rho, and only under the theorem's conditions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "privacy/plans.h"
#include "privacy/tcdp.h"
#include "privacy/zcdp.h"
#include "ration/privacy/certificate.h"
#include "ration/privacy/filter.h"

namespace ration {
namespace {

using ::testing::AllOf;
using testing::complaint;
using testing::for_random_cases;
using ::testing::HasSubstr;
using testing::log_uniform;

const Budget kBudget{0.05, 1e-8};

double noise_of(double rho) {
  return 1 / std::sqrt(2 * rho);
}
Event on_subset(double rate, double rho) {
  return Event::fixed_size_sampled(rate, Event::gaussian(noise_of(rho)));
}

// a = ln(1/delta)/epsilon, and the formulas as privacy.md prints them.
double rho_a_of(const Budget& budget) {
  const double a = std::log(1 / budget.delta) / budget.epsilon;
  const double root = std::sqrt(a * (a + 1));
  return budget.epsilon * root / (((1 + a) + root) * (a + root));
}

TEST(CtcdpFilter, AFullBatchCostsItsRho) {
  const double total = rho_a_of(kBudget);
  const auto filter = make_ctcdp_filter(kBudget, Relation::add_remove);
  EXPECT_EQ(filter->spent_epsilon(), 0);
  EXPECT_TRUE(filter->spend(Event::gaussian(noise_of(0.25 * total))));
  EXPECT_NEAR(filter->spent_share(), 0.25, 1e-9);
  EXPECT_FALSE(filter->fits(Event::gaussian(noise_of(0.7501 * total))));
  EXPECT_TRUE(filter->spend(Event::gaussian(noise_of(0.7499 * total))));
  EXPECT_NEAR(filter->spent_epsilon(), kBudget.epsilon, 1e-4 * kBudget.epsilon);
  EXPECT_LE(filter->spent_epsilon(), kBudget.epsilon);
}

// (0.05, 1e-8): a = 368.4, omega_a = 738.3, rho_a = 3.3883e-5; at q = 0.01 a step of rho = 1e-3 costs 1.3e-6.
TEST(CtcdpFilter, ASubsetCosts13QSquaredRho) {
  EXPECT_NEAR(rho_a_of(kBudget), 3.3883e-5, 1e-9);
  const auto filter = make_ctcdp_filter(kBudget, Relation::replace_one);
  ASSERT_TRUE(filter->spend(on_subset(0.01, 1e-3)));
  EXPECT_NEAR(filter->spent_share(), 13 * 1e-4 * 1e-3 / rho_a_of(kBudget), 1e-6);
  int granted = 1;
  while (filter->spend(on_subset(0.01, 1e-3))) ++granted;
  EXPECT_EQ(granted, static_cast<int>(rho_a_of(kBudget) / 1.3e-6));
  const double at_omega = filter->spent_epsilon();
  EXPECT_LE(at_omega, kBudget.epsilon);
  EXPECT_GT(at_omega, 0.9 * kBudget.epsilon);
}

std::string refused(double rate, double rho, const Budget& budget = kBudget) {
  const auto filter = make_ctcdp_filter(budget, Relation::replace_one);
  const std::string why = complaint([&] { (void)filter->spend(on_subset(rate, rho)); });
  EXPECT_EQ(filter->spent_share(), 0);
  return why;
}

TEST(CtcdpFilter, NamesEachConditionItsValueAndItsBound) {
  EXPECT_THAT(refused(0.01, 0.2, {2, 1e-2}), HasSubstr("rho_range: expected 0 < rho <= 0.1, got rho = 0.2"));
  EXPECT_THAT(refused(0.2, 1e-6), HasSubstr("q_range: expected 0 < q <= 0.1, got q = 0.2"));
  const Ctcdp worth = Ctcdp::from_budget(kBudget.epsilon, kBudget.delta);
  const double by_omega = std::log(100.0) / (4 * worth.omega_a);  // 0.00156
  EXPECT_THAT(refused(0.01, 1.01 * by_omega),
              AllOf(HasSubstr("rho_vs_omega: expected rho < ln(1/q)/(4 omega_a) = 0.001559"),
                    HasSubstr("got rho = 0.001574")));
  const double by_rho_a = worth.rho_a / (13 * 0.09 * 0.09);  // 0.00032
  EXPECT_THAT(refused(0.09, 1.01 * by_rho_a),
              HasSubstr("rho_vs_rho_a: expected rho < rho_a/(13 q^2) = 0.00032"));
  EXPECT_EQ(refused(0.5, 0.9, {50, 0.5}).find("log_inv_q"),
            std::string::npos);  // the first violation is the ranges'
  EXPECT_THAT(complaint([] {
                (void)make_ctcdp_filter(kBudget, Relation::add_remove)
                    ->spend(Event::poisson_sampled(0.01, Event::gaussian(30)));
              }),
              HasSubstr("tcdp"));
}

// Whatever is asked, what was granted together is within the budget by the accountant's own reckoning.
TEST(CtcdpFilter, NeverExceedsUnderAdaptiveSpending) {
  for_random_cases(40, [] {
    const Budget budget{*log_uniform(0.01, 2), *log_uniform(1e-10, 1e-4)};
    const auto filter = make_ctcdp_filter(budget, Relation::replace_one);
    const Ctcdp worth = Ctcdp::from_budget(budget.epsilon, budget.delta);
    std::vector<Event> granted;
    for (int i = 0; i < 300; ++i) {
      const double rate = *log_uniform(1e-4, 0.1);
      const double most =
          std::min({0.1, std::log(1 / rate) / (4 * worth.omega_a), worth.rho_a / (13 * rate * rate)});
      const double rho = most * *log_uniform(1e-3, 0.999);
      const Event query = i % 5 == 0 ? Event::gaussian(noise_of(worth.rho_a * *log_uniform(1e-3, 0.5)))
                                     : on_subset(rate, rho);
      const bool fits = filter->fits(query);
      RC_ASSERT(filter->spend(query) == fits);
      if (fits) granted.push_back(query);
      RC_ASSERT(filter->spent_share() <= 1);
      RC_ASSERT(filter->spent_epsilon() <= budget.epsilon);
    }
    const double cost =
        account(Event::composed(granted), Relation::replace_one, Accountant::tcdp, budget.delta).epsilon;
    RC_ASSERT(cost <= budget.epsilon * (1 + 1e-9));
    RC_ASSERT(cost <= filter->spent_epsilon() * (1 + 1e-9));
  });
}

TEST(CtcdpFilter, ACertificateOfItHolds) {
  const Event released = Event::repeated(on_subset(0.01, 1e-3), 20);
  Certificate certificate =
      certify(released, Relation::replace_one, Accountant::tcdp, kBudget, SpendingBy::outputs);
  certificate.secure_random = true;
  EXPECT_THAT(verify(certificate).problems, ::testing::IsEmpty());
  EXPECT_EQ(certificate.epsilon, kBudget.epsilon);
  EXPECT_NE(make_filter(Accountant::tcdp, kBudget, Relation::replace_one), nullptr);
}

}  // namespace
}  // namespace ration
