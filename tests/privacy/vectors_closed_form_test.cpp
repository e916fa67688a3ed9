// Every public vector whose kind has a closed form.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ration/base/error.h"
#include "ration/privacy/gdp.h"
#include "ration/privacy/rdp_curves.h"
#include "ration/privacy/tcdp.h"
#include "ration/privacy/zcdp.h"
#include "support/vectors.h"

namespace ration {
namespace {

using testing::orders_of;
using testing::vector_cases;
using testing::within;

class ClosedForm : public ::testing::TestWithParam<nlohmann::json> {
 protected:
  double parameter(const char* name) const { return GetParam().at("params").at(name); }
  std::string kind() const { return GetParam().at("kind"); }

  void expect(const char* key, double got) const { EXPECT_TRUE(within(GetParam(), key, got)); }

  template <class Curve>
  void expect_curve(const char* key, Curve curve) const {
    std::vector<double> got;
    for (double order : orders_of(GetParam())) got.push_back(curve(order));
    EXPECT_TRUE(within(GetParam(), key, got));
  }
};

#define CLOSED_FORM_CASES(Suite, ...)                                                        \
  class Suite : public ClosedForm {};                                                        \
  INSTANTIATE_TEST_SUITE_P(Vectors, Suite, ::testing::ValuesIn(vector_cases({__VA_ARGS__})), \
                           testing::test_name)

CLOSED_FORM_CASES(GaussianDeltaVectors, "gaussian_delta");
TEST_P(GaussianDeltaVectors, Agree) {
  expect("delta", gaussian_delta(parameter("sigma"), parameter("eps")));
  expect("log_delta", gaussian_log_delta(parameter("sigma"), parameter("eps")));
}

CLOSED_FORM_CASES(GaussianEpsilonVectors, "gaussian_eps");
TEST_P(GaussianEpsilonVectors, Agree) {
  expect("eps", gaussian_epsilon(parameter("sigma"), parameter("delta")));
}

CLOSED_FORM_CASES(GaussianNoiseVectors, "gaussian_sigma");
TEST_P(GaussianNoiseVectors, Agree) {
  expect("sigma", gaussian_noise(parameter("eps"), parameter("delta")));
}

CLOSED_FORM_CASES(GdpDeltaVectors, "gdp_delta");
TEST_P(GdpDeltaVectors, Agree) {
  expect("delta", gdp_delta(parameter("mu"), parameter("eps")));
}

CLOSED_FORM_CASES(GdpEpsilonVectors, "gdp_eps");
TEST_P(GdpEpsilonVectors, Agree) {
  expect("eps", gdp_epsilon(parameter("mu"), parameter("delta")));
}

CLOSED_FORM_CASES(GdpCentralLimitVectors, "gdp_clt");
TEST_P(GdpCentralLimitVectors, Agree) {
  const double rate = parameter("q"), noise = parameter("sigma"), steps = parameter("T");
  const double poisson = gdp_clt_mu_poisson(rate, noise, steps);
  const double fixed_size = gdp_clt_mu_fixed_size(rate, noise, steps);
  expect("mu_poisson", poisson);
  expect("mu_uniform", fixed_size);
  expect("eps_poisson", gdp_epsilon(poisson, parameter("delta")));
  expect("eps_uniform", gdp_epsilon(fixed_size, parameter("delta")));
}

CLOSED_FORM_CASES(ZcdpVectors, "zcdp_eps", "zcdp_delta", "zcdp_rho");
TEST_P(ZcdpVectors, Agree) {
  if (kind() == "zcdp_eps") {
    expect("eps_classic", zcdp_epsilon_classic(parameter("rho"), parameter("delta")));
    expect("eps_tight", zcdp_epsilon(parameter("rho"), parameter("delta")));
  } else if (kind() == "zcdp_delta") {
    expect("delta_classic", zcdp_delta_classic(parameter("rho"), parameter("eps")));
    expect("delta_tight", zcdp_delta(parameter("rho"), parameter("eps")));
  } else {
    expect("rho_classic", zcdp_rho_classic(parameter("eps"), parameter("delta")));
    expect("rho_tight", zcdp_rho(parameter("eps"), parameter("delta")));
  }
}

CLOSED_FORM_CASES(TcdpParameterVectors, "tcdp_params");
TEST_P(TcdpParameterVectors, Agree) {
  const Ctcdp budget = Ctcdp::from_budget(parameter("eps"), parameter("delta"));
  expect("a", budget.a);
  expect("omega_a", budget.omega_a);
  expect("rho_a", budget.rho_a);
}

CLOSED_FORM_CASES(TcdpSubsamplingVectors, "tcdp_subsample");
TEST_P(TcdpSubsamplingVectors, Agree) {
  const Ctcdp budget = Ctcdp::from_budget(parameter("eps"), parameter("delta"));
  const double rho = parameter("rho"), rate = parameter("q");
  std::vector<std::string> violated;
  for (const auto& violation : subsampling_violations(rho, rate, budget)) violated.push_back(violation.name);
  EXPECT_EQ(violated, GetParam().at("expected").at("violated").get<std::vector<std::string>>());
  if (GetParam().at("expected").at("accepted")) {
    const Tcdp amplified = subsample_zcdp(rho, rate, budget);
    expect("rho_amplified", amplified.rho);
    expect("omega_amplified", amplified.omega);
  } else {
    EXPECT_THROW(subsample_zcdp(rho, rate, budget), InputError);
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

CLOSED_FORM_CASES(LaplaceVectors, "rdp_laplace");
TEST_P(LaplaceVectors, Agree) {
  const double scale = parameter("b") / parameter("sensitivity");
  expect_curve("rdp", [&](double order) { return rdp_laplace(scale, order); });
  expect("rdp_infinity", rdp_laplace(scale, kInfinity));
}

CLOSED_FORM_CASES(PureVectors, "rdp_pure");
TEST_P(PureVectors, Agree) {
  const double epsilon = parameter("eps");
  expect_curve("rdp_quadratic", [&](double order) { return rdp_pure_quadratic(epsilon, order); });
  expect_curve("rdp_quadratic_capped",
               [&](double order) { return rdp_pure_quadratic_capped(epsilon, order); });
  expect_curve("rdp_tight", [&](double order) { return rdp_pure(epsilon, order); });
}

}  // namespace
}  // namespace ration
