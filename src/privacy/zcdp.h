#pragma once

namespace ration {

// Zero-concentrated DP: a mechanism is rho-zCDP when its Renyi divergence of every order a > 1 is at most rho
// a. The Gaussian mechanism is 1/(2 s^2)-zCDP; composition adds. [BunSteinke16, Def. 1.1, Prop. 1.6,
// Lemma 1.7]
//
// To (epsilon, delta)-DP, rho >= 0, 0 < delta < 1:
//   classic   epsilon = rho + 2 sqrt(rho ln(1/delta))                                    [BunSteinke16,
//   Prop. 1.3] tight     epsilon = min over a > 1 of rho a + ln(1 - 1/a) - (ln delta + ln a)/(a-1)  [CKS20,
//   Cor. 13]
// The classic form is what most papers print and serves comparison; every certificate uses the tight one,
// which is never larger. Each tight function returns the bound of one order, so it holds however well that
// order was found.

double zcdp_epsilon_classic(double rho, double delta);  // rounded to nearest
double zcdp_epsilon(double rho, double delta);          // tight, >= 0, rounded up

double zcdp_delta_classic(double rho, double epsilon);  // rounded to nearest
double zcdp_delta(double rho, double epsilon);          // tight, <= 1, rounded up
double zcdp_log_delta(double rho, double epsilon);  // its logarithm, also where delta underflows; rounded up

// The largest rho within (epsilon, delta); epsilon >= 0.
double zcdp_rho_classic(double epsilon,
                        double delta);  // (sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta)))^2, nearest
// tight, rounded down: zcdp_epsilon(result, delta) <= epsilon
double zcdp_rho(double epsilon, double delta);

}  // namespace ration
