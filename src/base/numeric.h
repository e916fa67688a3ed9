#pragma once

namespace ration {

// Small functions that accounting needs to stay accurate where the textbook form cancels, overflows or
// underflows. Probabilities travel as natural logarithms; log(0) is -infinity and is an ordinary value.

// log(e^a + e^b).
double log_add_exp(double a, double b);

// log(e^a - e^b) for a >= b; -infinity when a == b.
double log_sub_exp(double a, double b);

// log(1 - e^x) for x <= 0; -infinity at 0.
double log1m_exp(double x);

// log of the binomial coefficient n over k for real 0 <= k <= n, relative error about 1e-14 also where the
// lgamma values are many orders above their difference (n = 1e7, k = 2).
double log_binomial(double n, double k);

double normal_pdf(double x);
double log_normal_pdf(double x);
double normal_cdf(double x);

// log Phi(x), relative error below 1e-13 in both tails, for any finite x.
double log_normal_cdf(double x);

// Mills' ratio R(x) = (1 - Phi(x)) / phi(x); +infinity when it overflows (x < -38).
double mills_ratio(double x);

// -R'(x) = 1 - x R(x) > 0, without the cancellation of that form for large x (where it falls like 1/x^2).
double mills_ratio_slope(double x);

}  // namespace ration
