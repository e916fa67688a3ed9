#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The budget as a constraint on what a scheduler learns. All costs are shares of the budget, so that the
// budget is 1 and h = (what was spent) - 1.
namespace ration::meta {

// min F subject to h = 0: F - z h + h^2 / (2 mu). [L2P, Eq. 2; Nocedal06, Ch. 17]
struct AugmentedLagrangian {
  double z = 0;
  double mu = 1;           // > 0
  double shrink = 0.95;    // in (0, 1]; of mu, with each update
  double least_mu = 1e-3;  // > 0

  double penalty(double h) const { return -z * h + h * h / (2 * mu); }
  double slope(double h) const { return -z + h / mu; }
  // The multiplier and the penalty for the next round. [L2P, Eq. 15]
  void update(double h);
};

// A weighted mean of losses around the step at which the budget is used up, and its derivatives. [L2P, Eqs.
// 3, 8]
struct SoftObjective {
  double value = 0;
  std::vector<double> by_loss;  // d value / d f_t, which is I_t / sum I
  std::vector<double> by_h;     // d value / d h_t, which is (f_t - value) I'(h_t) / sum I
  std::size_t end = 0;          // the first step with h_t > 0; the number of steps if there is none
};

// With the tent I(h) = max(0, 1 - |h| / width) on the steps end - reach, ..., end + reach - 1. If all of them
// are 0, the step before the end counts alone.
//
// Width       the paper's tent is as wide as the budget, 1, and cut off at its few steps; a change of the
//             costs then moves the weights by too little, about reach / (number of steps) of what it moves
//             the end by, and a scheduler learns to spend too fast. A tent that ends where the steps do,
//             reach times the cost of one, has the slope of the loss at the budget's end.
SoftObjective soft_objective(std::span<const double> losses, std::span<const double> h, std::size_t reach,
                             double width = 1);

// The derivatives by each step's cost, given those by h_t = (sum of costs up to t) - 1.
std::vector<double> by_cost(std::span<const double> by_h);

// The batch form: each batch b of steps has a budget r_b of its own, and the r_b together are the whole.
// [L2P, Sec. 5, App. B.5]
class BatchBudgets {
 public:
  explicit BatchBudgets(std::size_t batches);

  std::size_t batches() const { return r_.size(); }
  double r(std::size_t batch) const { return r_[batch]; }
  const AugmentedLagrangian& of(std::size_t batch) const { return of_batch_[batch]; }
  // First pass: what batch b adds to its mean loss when it spent `cost`, and the derivative by the cost.
  double slope(std::size_t batch, double cost) const { return of_batch_[batch].slope(cost - r_[batch]); }

  // Second pass: the costs and mean losses of all batches, the protector standing still.
  // The multipliers of the batches are updated, then r:
  //   hard  minimises Eq. 6, sum_b (c_b - z_b mu_b - r_b)^2 / (2 mu_b) - z_r h_r + h_r^2 / (2 mu_r): a linear
  //         equation;
  //   soft  descends on Eq. 7, the same first sum plus the soft objective of the batches' mean losses.
  void update_hard(std::span<const double> costs);
  void update_soft(std::span<const double> costs, std::span<const double> losses);

  // For tests: the objectives and their derivatives by r, at the present multipliers.
  double hard_objective(std::span<const double> costs, std::span<const double> r) const;
  std::vector<double> hard_gradient(std::span<const double> costs, std::span<const double> r) const;
  double soft_value(std::span<const double> costs, std::span<const double> losses,
                    std::span<const double> r) const;
  std::vector<double> soft_gradient(std::span<const double> costs, std::span<const double> losses,
                                    std::span<const double> r) const;
  std::span<const double> budgets() const { return r_; }

 private:
  void update_multipliers(std::span<const double> costs);
  // c_b - z_b mu_b: what the batch would spend if its constraint did not pull.
  double wanted(std::span<const double> costs, std::size_t batch) const {
    return costs[batch] - of_batch_[batch].z * of_batch_[batch].mu;
  }

  std::vector<double> r_;
  std::vector<AugmentedLagrangian> of_batch_;
  AugmentedLagrangian whole_;
};

}  // namespace ration::meta
