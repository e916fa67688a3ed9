#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ration {

// Truncated concentrated DP: Renyi divergence at most rho a for the orders 1 < a < omega. rho-zCDP is
// omega = +infinity. [Bun18, Def. 1]
struct Tcdp {
  double rho;    // >= 0
  double omega;  // > 1, may be +infinity
};

// Adds rho, keeps the smallest omega [Bun18, Prop. 4]. Nothing composed is rho = 0, omega = +infinity.
Tcdp tcdp_compose(std::span<const Tcdp> parts);

// epsilon at this delta, rounded up [Bun18, Lemma 6; L2P, Thm A.1]:
//   rho + 2 sqrt(rho ln(1/delta))             if ln(1/delta) <= (omega - 1)^2 rho,
//   rho omega + ln(1/delta)/(omega - 1)       otherwise.
double tcdp_epsilon(const Tcdp& spent, double delta);

// Constrained tCDP: the pair (rho_a, omega_a) that an (epsilon, delta) budget is worth, so that a run needs
// to watch a single number, the sum of its rho. With a = ln(1/delta)/epsilon,
//   omega_a = (1 + a) + sqrt(a (a+1)),    rho_a = epsilon (sqrt(a+1) - sqrt(a))^2, rounded down,
// which is where both branches of the conversion meet: epsilon = rho_a + 2 sqrt(rho_a ln(1/delta)).
// [L2P, App. A, Eq. 12; Def. 3.1 in the paper's body prints the same with wrong signs]
struct Ctcdp {
  double a;
  double omega_a;
  double rho_a;

  // epsilon > 0, 0 < delta < 1.
  static Ctcdp from_budget(double epsilon, double delta);
};

// One condition of the subsampling theorem that does not hold.
struct TcdpViolation {
  std::string name;      // rho_range, q_range, log_inv_q, rho_vs_omega, rho_vs_rho_a
  double value;          // what was compared
  double bound;          // with what
  std::string sentence;  // "rho_vs_omega: expected rho < ln(1/q)/(4 omega_a) = 0.0538..., got rho = 0.06"
};

// Amplification of a rho-zCDP mechanism by uniformly random subsets of fixed size, rate q = size / rows,
// under replace_one [Bun18, Thm 11; L2P, Lemma A.6]. The conditions, in this order:
//   rho_range      0 < rho <= 0.1
//   q_range        0 < q <= 0.1
//   log_inv_q      ln(1/q) >= 3 rho (2 + log2(1/rho))
//   rho_vs_omega   rho < ln(1/q)/(4 omega_a)           only with a ctCDP budget
//   rho_vs_rho_a   rho < rho_a/(13 q^2)                only with a ctCDP budget
// A rho <= 0 or q <= 0 leaves the conditions that need its logarithm out. [L2P, App. A]'s proof also asks for
// rho <= ln(1/q)/6: the two ranges imply it, since ln(1/q)/6 >= ln(10)/6 > 0.38 > 0.1 >= rho. They imply
// log_inv_q as well: its right side increases on (0, 0.1], so it is at most 1.60 < ln(10).
std::vector<TcdpViolation> subsampling_violations(double rho, double rate);
std::vector<TcdpViolation> subsampling_violations(double rho, double rate, const Ctcdp& budget);

// (13 q^2 rho, ln(1/q)/(4 rho))-tCDP; rho rounded up, omega down. Throws InputError with the sentences of the
// violated conditions, if any.
Tcdp subsample_zcdp(double rho, double rate);
Tcdp subsample_zcdp(double rho, double rate, const Ctcdp& budget);

// How a run of equal steps starts [L2P, Alg. 3].
struct CtcdpPlan {
  Ctcdp budget;
  double rho_total;         // rho_a: what all steps may spend together
  double rate;              // q; 1 for full batch
  std::int64_t batch_size;  // floor(q n)
  double rho_step;          // zCDP of one step before amplification (rho_0), rounded down
  double rho_step_max;      // the largest rho_step the conditions allow at this rate (rho_ub), rounded down
  double noise;             // standard deviation for rho_step (sigma_g), rounded up
  double noise_min;         // standard deviation for rho_step_max (sigma_min), rounded up
};

struct CtcdpPlanInput {
  double epsilon;
  double delta;
  std::int64_t steps;        // >= 1
  std::int64_t rows;         // >= 1, public (replace_one)
  double sensitivity = 1.0;  // L2, replace_one: 2C for a sum clipped to C
};

// With fixed-size subsets, q = (sqrt(n) + 10)/n if that satisfies the conditions, else the smallest q that
// does. Throws InputError naming the condition that no q satisfies.
CtcdpPlan plan_subsampled_steps(const CtcdpPlanInput& input);

// Without subsampling: rho_step = rho_a / steps, rho_step_max = rho_a.
CtcdpPlan plan_full_batch_steps(const CtcdpPlanInput& input);

}  // namespace ration
