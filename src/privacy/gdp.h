#pragma once

namespace ration {

// Gaussian differential privacy: a mechanism is mu-GDP when telling neighbours apart is at least as hard as
// telling N(0, 1) from N(mu, 1). The Gaussian mechanism with noise multiplier s is exactly 1/s-GDP, and k
// adaptive mechanisms compose to sqrt(sum mu_i^2). [Dong22, Thm 2.7, Cor. 2.1 and 3.3; Balle18, Thm 8]
//
//   delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
//
// The curve is exact, and so are the functions below, up to floating point: gdp_delta and gdp_log_delta are
// rounded to nearest (relative error of delta below 1e-14 (1 + |log delta|)), the inverses are rounded
// against the user by more than that error.

// mu >= 0, epsilon >= 0.
double gdp_delta(double mu, double epsilon);

// log of the above, also where delta itself underflows.
double gdp_log_delta(double mu, double epsilon);

// The smallest epsilon >= 0 with gdp_delta(mu, epsilon) <= delta, rounded up. 0 < delta < 1.
double gdp_epsilon(double mu, double delta);

// The largest mu with gdp_delta(mu, epsilon) <= delta, rounded down.
double gdp_mu(double epsilon, double delta);

// The same for the Gaussian mechanism, by its noise multiplier (standard deviation over L2 sensitivity) > 0.
double gaussian_delta(double noise, double epsilon);
double gaussian_log_delta(double noise, double epsilon);
double gaussian_epsilon(double noise, double delta);  // rounded up
// The smallest noise multiplier that is (epsilon, delta)-DP, rounded up: gaussian_delta(result, epsilon) <=
// delta.
double gaussian_noise(double epsilon, double delta);

// APPROXIMATIONS, never to be certified: the central limit theorem's mu for `steps` steps of the Gaussian
// mechanism on samples with rate `rate`, in the limit of many steps with rate * sqrt(steps) constant. They
// can lie below the truth. +infinity when the noise is too small for the formula.
//   Poisson      q sqrt(T (e^{1/s^2} - 1))                                              [Bu20, Thm 5]
//   fixed size   q sqrt(2 T (e^{1/s^2} Phi(3/(2s)) + 3 Phi(-1/(2s)) - 2))               [Dong22, Cor. 5.4]
double gdp_clt_mu_poisson(double rate, double noise, double steps);
double gdp_clt_mu_fixed_size(double rate, double noise, double steps);

}  // namespace ration
