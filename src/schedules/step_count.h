#pragma once

#include <cstdint>
#include <span>

namespace ration {

// How many steps to take, by the bound on the excess risk of private gradient descent with step size 1/M on
// an M-smooth objective that satisfies the Polyak-Lojasiewicz condition with mu. [Hong22, Sec. 4]

// What the bound knows of a problem. [Hong22, Eq. 2]
struct RiskConstants {
  double gamma = 0.97;  // 1 - mu / M, in (0, 1)
  double alpha = 1e-3;  // > 0: D G^2 / (2 R M N^2 (f(w_1) - f*)), D parameters, N rows, R = 2 rho
};

// alpha from what it is made of; all > 0.
struct Problem {
  double parameters = 1;
  double gradient_bound = 1;  // G
  double budget = 1;          // R = 2 rho
  double smoothness = 1;      // M
  double rows = 1;            // N
  double initial_error = 1;   // f(w_1) - f*
};
double risk_alpha(const Problem& problem);

// The bound on the final error over the initial one, ERUB = gamma^T + sum of gamma^(T - t) alpha R s_t^2, for
// noise multipliers s_t; R = sum of 1 / s_t^2, so the size of the noise does not matter. [Hong22, Thm 4.1,
// Eq. 3]
double excess_risk_bound(const RiskConstants& constants, std::span<const double> noise);

// The same for uniform noise, gamma^T + alpha T (1 - gamma^T) / (1 - gamma), and for the best schedule,
// gamma^T + alpha ((1 - gamma^(T/2)) / (1 - gamma^(1/2)))^2.
double uniform_risk_bound(const RiskConstants& constants, double steps);
double dynamic_risk_bound(const RiskConstants& constants, double steps);

// The number of steps that minimises each bound, at least 1.
//
// uniform     by search. The paper's closed form, ceil(ln(1 + ln(1/gamma) / alpha) / ln(1/gamma)) [Hong22,
//             Thm 4.2], has the right order but is no minimiser: at gamma .97, alpha 1e-3 it says 114, where
//             13 steps have a quarter of the bound. paper_uniform_steps() is that form, for comparison.
// dynamic     2 log_gamma(alpha / (alpha + (1 - sqrt(gamma))^2)), the exact minimiser, rounded to the better
//             integer. [Hong22, Thm 4.3]
std::int64_t uniform_steps(const RiskConstants& constants);
std::int64_t dynamic_steps(const RiskConstants& constants);
std::int64_t paper_uniform_steps(const RiskConstants& constants);

}  // namespace ration
