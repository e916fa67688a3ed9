// Every public reference number, as one parameterised test that names its case. The README beside the file
// says what each kind means; a kind that nobody checks fails.
#include "support/vectors.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "privacy/exact.h"
#include "privacy/gdp.h"
#include "privacy/plans.h"
#include "privacy/pld.h"
#include "privacy/rdp.h"
#include "privacy/rdp_curves.h"
#include "privacy/tcdp.h"
#include "privacy/zcdp.h"
#include "ration/base/error.h"
#include "ration/privacy/calibrate.h"

namespace ration {
namespace {

using testing::event_of;
using testing::orders_of;
using testing::within;

// One case, with short names for what the checks below ask of it.
class Case {
 public:
  explicit Case(const nlohmann::json& json) : json_(json) {}

  std::string kind() const { return json_.at("kind"); }
  double parameter(const char* name) const { return json_.at("params").at(name); }
  bool has(const char* key) const { return json_.at("expected").contains(key); }
  const nlohmann::json& json() const { return json_; }

  void expect(const char* key, double got) const { EXPECT_TRUE(within(json_, key, got)); }
  void expect_curve(const char* key, const RdpFunction& curve) const {
    std::vector<double> got;
    for (double order : orders_of(json_)) got.push_back(curve(order));
    EXPECT_TRUE(within(json_, key, got));
  }
  double expected(const char* key) const { return json_.at("expected").at(key); }

 private:
  const nlohmann::json& json_;
};

SampledGaussianPlan plan_of(const Case& c) {
  if (c.kind() != "hetero") {
    const double steps = c.json().at("params").value("T", 1.0);
    return {{c.parameter("q"), c.parameter("sigma"), static_cast<std::int64_t>(steps)}};
  }
  SampledGaussianPlan plan;
  for (const auto& step : c.json().at("params").at("steps")) plan.push_back({step[0], step[1], step[2]});
  return plan;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxOrder = 4096;  // of the vectors' infima over real orders

void gaussian_delta_case(const Case& c) {
  c.expect("delta", gaussian_delta(c.parameter("sigma"), c.parameter("eps")));
  c.expect("log_delta", gaussian_log_delta(c.parameter("sigma"), c.parameter("eps")));
}

void gaussian_epsilon_case(const Case& c) {
  c.expect("eps", gaussian_epsilon(c.parameter("sigma"), c.parameter("delta")));
}

void gaussian_noise_case(const Case& c) {
  const double noise = gaussian_noise(c.parameter("eps"), c.parameter("delta"));
  c.expect("sigma", noise);
  EXPECT_GE(noise, c.expected("sigma") * (1 - 1e-12));  // a calibrated noise never overspends
}

void gdp_delta_case(const Case& c) {
  c.expect("delta", gdp_delta(c.parameter("mu"), c.parameter("eps")));
}

void gdp_epsilon_case(const Case& c) {
  c.expect("eps", gdp_epsilon(c.parameter("mu"), c.parameter("delta")));
}

void gdp_central_limit_case(const Case& c) {
  const double poisson = gdp_clt_mu_poisson(c.parameter("q"), c.parameter("sigma"), c.parameter("T"));
  const double fixed_size = gdp_clt_mu_fixed_size(c.parameter("q"), c.parameter("sigma"), c.parameter("T"));
  c.expect("mu_poisson", poisson);
  c.expect("mu_uniform", fixed_size);
  c.expect("eps_poisson", gdp_epsilon(poisson, c.parameter("delta")));
  c.expect("eps_uniform", gdp_epsilon(fixed_size, c.parameter("delta")));
}

void zcdp_epsilon_case(const Case& c) {
  c.expect("eps_classic", zcdp_epsilon_classic(c.parameter("rho"), c.parameter("delta")));
  c.expect("eps_tight", zcdp_epsilon(c.parameter("rho"), c.parameter("delta")));
}

void zcdp_delta_case(const Case& c) {
  c.expect("delta_classic", zcdp_delta_classic(c.parameter("rho"), c.parameter("eps")));
  c.expect("delta_tight", zcdp_delta(c.parameter("rho"), c.parameter("eps")));
}

void zcdp_rho_case(const Case& c) {
  c.expect("rho_classic", zcdp_rho_classic(c.parameter("eps"), c.parameter("delta")));
  c.expect("rho_tight", zcdp_rho(c.parameter("eps"), c.parameter("delta")));
}

void tcdp_parameters_case(const Case& c) {
  const Ctcdp budget = Ctcdp::from_budget(c.parameter("eps"), c.parameter("delta"));
  c.expect("a", budget.a);
  c.expect("omega_a", budget.omega_a);
  c.expect("rho_a", budget.rho_a);
}

void tcdp_subsampling_case(const Case& c) {
  const Ctcdp budget = Ctcdp::from_budget(c.parameter("eps"), c.parameter("delta"));
  const double rho = c.parameter("rho");
  const double rate = c.parameter("q");
  std::vector<std::string> violated;
  for (const auto& violation : subsampling_violations(rho, rate, budget)) violated.push_back(violation.name);
  EXPECT_EQ(violated, c.json().at("expected").at("violated").get<std::vector<std::string>>());
  if (c.json().at("expected").at("accepted")) {
    const Tcdp amplified = subsample_zcdp(rho, rate, budget);
    c.expect("rho_amplified", amplified.rho);
    c.expect("omega_amplified", amplified.omega);
  } else {
    EXPECT_THROW(subsample_zcdp(rho, rate, budget), InputError);
  }
}

void laplace_case(const Case& c) {
  const double scale = c.parameter("b") / c.parameter("sensitivity");
  c.expect_curve("rdp", [&](double order) { return rdp_laplace(scale, order); });
  c.expect("rdp_infinity", rdp_laplace(scale, kInfinity));
}

void pure_case(const Case& c) {
  const double epsilon = c.parameter("eps");
  c.expect_curve("rdp_quadratic", [&](double order) { return rdp_pure_quadratic(epsilon, order); });
  c.expect_curve("rdp_quadratic_capped",
                 [&](double order) { return rdp_pure_quadratic_capped(epsilon, order); });
  c.expect_curve("rdp_tight", [&](double order) { return rdp_pure(epsilon, order); });
}

void poisson_gaussian_case(const Case& c) {
  c.expect_curve("rdp", [&](double order) {
    return rdp_poisson_gaussian(c.parameter("q"), c.parameter("sigma"), order);
  });
  RdpCurve curve(event_of(plan_of(c)), Relation::add_remove);
  c.expect_curve("rdp", [&](double order) { return curve(order); });
}

void expect_rdp_epsilons(const Case& c, const SampledGaussianPlan& plan) {
  RdpCurve curve(event_of(plan), Relation::add_remove);
  const std::vector<double> grid = orders_of(nlohmann::json{{"params", {{"orders", "default"}}}});
  const double delta = c.parameter("delta");
  c.expect("eps_classic_grid", curve.epsilon(delta, grid, RdpConversion::classic).epsilon);
  c.expect("eps_classic_opt", curve.epsilon(delta, RdpConversion::classic, kMaxOrder).epsilon);
  c.expect("eps_improved_grid", curve.epsilon(delta, grid).epsilon);
  c.expect("eps_improved_opt", curve.epsilon(delta, RdpConversion::improved, kMaxOrder).epsilon);
}

void poisson_gaussian_epsilon_case(const Case& c) {
  expect_rdp_epsilons(c, plan_of(c));
}

void fixed_size_case(const Case& c) {
  const double rate = c.parameter("q");
  const double noise = c.parameter("sigma");
  const RdpFunction gaussian = [&](double order) { return rdp_gaussian(noise, order); };
  c.expect_curve("rdp_improved",
                 [&](double order) { return rdp_fixed_size_gaussian(rate, noise, static_cast<int>(order)); });
  c.expect_curve("rdp_general", [&](double order) {
    return rdp_fixed_size_general(rate, gaussian, static_cast<int>(order));
  });
}

void fixed_size_epsilon_case(const Case& c) {
  const double rate = c.parameter("q");
  const double noise = c.parameter("sigma");
  const RdpFunction gaussian = [&](double order) { return rdp_gaussian(noise, order); };
  const auto smallest = [&](const std::function<double(int)>& curve, RdpConversion conversion) {
    double best = kInfinity;
    for (double order : orders_of(c.json())) {
      const double rdp = c.parameter("T") * curve(static_cast<int>(order));
      best = std::min(best, rdp_to_epsilon(rdp, order, c.parameter("delta"), conversion));
    }
    return best;
  };
  const auto improved = [&](int order) { return rdp_fixed_size_gaussian(rate, noise, order); };
  const auto general = [&](int order) { return rdp_fixed_size_general(rate, gaussian, order); };
  c.expect("eps_classic_from_rdp_improved", smallest(improved, RdpConversion::classic));
  c.expect("eps_improved_from_rdp_improved", smallest(improved, RdpConversion::improved));
  c.expect("eps_classic_from_rdp_general", smallest(general, RdpConversion::classic));
  c.expect("eps_improved_from_rdp_general", smallest(general, RdpConversion::improved));
}

void poisson_general_case(const Case& c) {
  const bool laplace = c.json().at("params").at("base") == "laplace";
  const RdpFunction base = [&](double order) {
    return laplace ? rdp_laplace(c.parameter("b"), order) : rdp_gaussian(c.parameter("sigma"), order);
  };
  const auto bound = [&](double tail_factor) {
    return [&, tail_factor](double order) {
      return rdp_poisson_general(c.parameter("q"), base, static_cast<int>(order), tail_factor);
    };
  };
  c.expect_curve("rdp_general", bound(3));
  c.expect_curve("rdp_without_factor_3", bound(1));
}

// The exact curve to its own precision, and the certified bracket around it and within the case's tolerance.
void expect_tight_epsilon(const Case& c, const SampledGaussianPlan& plan, const char* key) {
  const double delta = c.parameter("delta");
  const double truth = c.expected(key);
  const auto exact = exact_epsilon(plan, delta);
  ASSERT_TRUE(exact.has_value());
  EXPECT_NEAR(*exact, truth, 1e-6);
  const PldBounds bounds = pld_epsilon(plan, delta);
  EXPECT_LE(bounds.lower, truth);
  EXPECT_GE(bounds.upper, truth);
  c.expect(key, bounds.lower);
  c.expect(key, bounds.upper);
  EXPECT_EQ(pld_epsilon_upper(plan, delta), bounds.upper);
}

void tight_epsilon_case(const Case& c) {
  const SampledGaussianPlan plan = plan_of(c);
  expect_tight_epsilon(c, plan, "eps");
  EXPECT_NEAR(exact_epsilon(plan, Direction::remove, c.parameter("delta")).value(), c.expected("eps_remove"),
              1e-6);
  EXPECT_NEAR(exact_epsilon(plan, Direction::add, c.parameter("delta")).value(), c.expected("eps_add"), 1e-6);
  // No result on the unsafe side of what other libraries have certified.
  EXPECT_GE(pld_epsilon_upper(plan, c.parameter("delta")), c.expected("eps_lower"));
}

void tight_delta_case(const Case& c) {
  const SampledGaussianPlan plan = plan_of(c);
  const double epsilon = c.parameter("eps");
  const double truth = c.expected("delta");
  EXPECT_NEAR(exact_delta(plan, epsilon).value() / truth, 1, 1e-8);
  EXPECT_NEAR(exact_delta(plan, Direction::remove, epsilon).value() / c.expected("delta_remove"), 1, 1e-8);
  EXPECT_NEAR(exact_delta(plan, Direction::add, epsilon).value() / c.expected("delta_add"), 1, 1e-8);
  const PldBounds bounds = pld_delta(plan, epsilon);
  EXPECT_LE(bounds.lower, truth);
  EXPECT_GE(bounds.upper, truth);
  c.expect("delta", bounds.upper);
}

void single_step_delta_case(const Case& c) {
  const SampledGaussian step = plan_of(c).front();
  const double remove = single_step_delta(step, Direction::remove, c.parameter("eps"));
  const double add = single_step_delta(step, Direction::add, c.parameter("eps"));
  c.expect("delta_remove", remove);
  c.expect("delta_add", add);
  c.expect("delta", std::max(remove, add));
}

Event poisson_plan(const Case& c, double noise) {
  return event_of({{c.parameter("q"), noise, static_cast<std::int64_t>(c.parameter("T"))}});
}

void calibrate_rdp_case(const Case& c) {
  const double delta = c.parameter("delta");
  const double target = c.parameter("target_eps");
  const std::vector<double> grid = orders_of(c.json());
  const auto curve = [&](double noise) { return RdpCurve(poisson_plan(c, noise), Relation::add_remove); };
  const auto classic = [&](double noise) {
    return curve(noise).epsilon(delta, grid, RdpConversion::classic).epsilon;
  };
  const auto improved = [&](double noise) { return curve(noise).epsilon(delta, grid).epsilon; };
  c.expect("sigma_classic_grid", smallest_within(classic, target));
  c.expect("sigma_improved_grid", smallest_within(improved, target));
  c.expect("sigma_improved_opt", calibrate_noise([&](double noise) { return poisson_plan(c, noise); },
                                                 Relation::add_remove, Accountant::rdp, {target, delta}));
}

void calibrate_tight_case(const Case& c) {
  const Budget budget{c.parameter("target_eps"), c.parameter("delta")};
  const double noise = calibrate_noise([&](double s) { return poisson_plan(c, s); }, Relation::add_remove,
                                       Accountant::pld, budget);
  c.expect("sigma", noise);
  EXPECT_GE(noise, c.expected("sigma") * (1 - 1e-9));  // a calibrated noise never overspends
}

void heterogeneous_case(const Case& c) {
  const SampledGaussianPlan plan = plan_of(c);
  RdpCurve curve(event_of(plan), Relation::add_remove);
  c.expect_curve("rdp", [&](double order) { return curve(order); });
  expect_rdp_epsilons(c, plan);
  expect_tight_epsilon(c, plan, "eps_tight");
  if (!c.has("rho_zcdp")) return;
  double rho = 0;
  for (const SampledGaussian& step : plan)
    rho += static_cast<double>(step.count) / (2 * step.noise * step.noise);
  c.expect("rho_zcdp", rho);
  c.expect("eps_zcdp_classic", zcdp_epsilon_classic(rho, c.parameter("delta")));
}

const std::map<std::string, void (*)(const Case&)> kChecks = {
    {"gaussian_delta", gaussian_delta_case},
    {"gaussian_eps", gaussian_epsilon_case},
    {"gaussian_sigma", gaussian_noise_case},
    {"zcdp_eps", zcdp_epsilon_case},
    {"zcdp_delta", zcdp_delta_case},
    {"zcdp_rho", zcdp_rho_case},
    {"tcdp_params", tcdp_parameters_case},
    {"tcdp_subsample", tcdp_subsampling_case},
    {"rdp_sgm", poisson_gaussian_case},
    {"rdp_sgm_eps", poisson_gaussian_epsilon_case},
    {"rdp_wor", fixed_size_case},
    {"rdp_wor_eps", fixed_size_epsilon_case},
    {"rdp_poisson_general", poisson_general_case},
    {"rdp_laplace", laplace_case},
    {"rdp_pure", pure_case},
    {"tight_eps", tight_epsilon_case},
    {"tight_delta", tight_delta_case},
    {"single_step_delta", single_step_delta_case},
    {"gdp_delta", gdp_delta_case},
    {"gdp_eps", gdp_epsilon_case},
    {"gdp_clt", gdp_central_limit_case},
    {"calibrate_rdp", calibrate_rdp_case},
    {"calibrate_tight", calibrate_tight_case},
    {"hetero", heterogeneous_case},
};

std::vector<nlohmann::json> all_cases() {
  return testing::vectors().at("cases");
}

class Vectors : public ::testing::TestWithParam<nlohmann::json> {};

TEST_P(Vectors, Agree) {
  const Case c(GetParam());
  const auto check = kChecks.find(c.kind());
  ASSERT_NE(check, kChecks.end()) << "no check for kind " << c.kind();
  check->second(c);
}

INSTANTIATE_TEST_SUITE_P(Public, Vectors, ::testing::ValuesIn(all_cases()), testing::test_name);

TEST(VectorFile, HoldsAllCases) {
  EXPECT_EQ(all_cases().size(), 383u);
}

}  // namespace
}  // namespace ration
