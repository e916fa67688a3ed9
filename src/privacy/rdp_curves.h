#pragma once

#include <cstdint>

namespace ration {

// Renyi DP of single mechanisms as closed forms: the divergence of the real order alpha >= 1 (1 is the
// Kullback-Leibler divergence; +infinity the maximum divergence, i.e. pure DP). Rounded to nearest, relative
// error about 1e-14 for epsilon in [1e-8, 1e3] and alpha up to 1e6; each is written without cancellation.

// alpha / (2 noise^2). [Mironov17, Prop. 7]
double rdp_gaussian(double noise, double alpha);

// Laplace noise of scale b per unit of L1 sensitivity. [Mironov17, Prop. 6]
double rdp_laplace(double scale, double alpha);

// Any pure epsilon-DP mechanism. The quadratic forms are what papers print; `rdp_pure` is the best possible,
// reached by randomised response, and never above either. [BunSteinke16, Prop. 1.4; Balle20, Thm 3 and 4]
double rdp_pure_quadratic(double epsilon, double alpha);         // alpha epsilon^2 / 2
double rdp_pure_quadratic_capped(double epsilon, double alpha);  // at most epsilon
double rdp_pure(double epsilon, double alpha);

// A mechanism that is epsilon-bounded-range: the log-likelihood ratio of neighbours lies in an interval of
// length epsilon (then it is also epsilon-DP). The exponential mechanism e^{epsilon u/2}, equivalently
// report-noisy-max with GUMBEL noise, is one. At most alpha epsilon^2/8. [Durfee19; Cesar21, Lemma 3.2]
// Proof: K(t) = ln E_Q (P/Q)^t has K(0) = K(1) = 0, and K'' is the variance of a variable in an interval of
// length epsilon, at most epsilon^2/4; so K(alpha) <= alpha (alpha-1) epsilon^2/8.
double rdp_bounded_range(double epsilon, double alpha);

// Report-noisy-max (or min) with EXPONENTIAL noise: pure epsilon-DP, and nothing better than randomised
// response. It is not epsilon-bounded-range, and alpha epsilon^2/8 is false for it: two candidates with equal
// scores under P and scores that differ by epsilon/rate under Q give P = (1/2, 1/2), Q = (e^-epsilon/2, 1 -
// e^-epsilon/2), log-ratios epsilon and -ln(2 - e^-epsilon), and a divergence that for small epsilon is alpha
// epsilon^2/2.
double rdp_noisy_max(double epsilon, double alpha);

// AboveThreshold with Laplace noise of scales 1/threshold_epsilon and 1/query_epsilon, any number of queries.
// It is pure (e1 + 2 e2)-DP [Chen20, Thm 1], so never above rdp_pure of that. An upper bound, rounded up
// (privacy/search_curve.h).
double rdp_above_threshold_laplace(double threshold_epsilon, double query_epsilon, double alpha);

// The same with Gaussian noise of these standard deviations and at most `queries` >= 1 queries. The formula
// of [Chen20, Thm 3], alpha (4 s1^2 + s2^2)/(2 s1^2 s2^2), is false for many queries.
double rdp_above_threshold_gaussian(double threshold_noise, double query_noise, std::int64_t queries,
                                    double alpha);

}  // namespace ration
