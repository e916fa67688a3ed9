#include "meta/constraint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ration::meta {
namespace {

double tent(double h) {
  return std::max(0.0, 1 - std::abs(h));
}
double tent_slope(double h) {
  return std::abs(h) >= 1 ? 0 : (h > 0 ? -1 : 1);
}

std::vector<double> running_h(std::span<const double> budgets) {
  std::vector<double> h(budgets.size());
  std::partial_sum(budgets.begin(), budgets.end(), h.begin());
  for (double& value : h) value -= 1;
  return h;
}

}  // namespace

void AugmentedLagrangian::update(double h) {
  z -= h / mu;
  mu = std::max(least_mu, mu * shrink);
}

SoftObjective soft_objective(std::span<const double> losses, std::span<const double> h, std::size_t reach,
                             double width) {
  SoftObjective out;
  out.by_loss.resize(losses.size());
  out.by_h.resize(losses.size());
  out.end =
      static_cast<std::size_t>(std::find_if(h.begin(), h.end(), [](double x) { return x > 0; }) - h.begin());
  const std::size_t first = out.end > reach ? out.end - reach : 0;
  const std::size_t last = std::min(losses.size(), out.end + reach);
  double total = 0;
  for (std::size_t t = first; t < last; ++t) total += out.by_loss[t] = tent(h[t] / width);
  if (!(total > 0)) {
    const std::size_t only = out.end > 0 ? out.end - 1 : 0;
    out.by_loss[only] = 1;
    out.value = losses[only];
    return out;
  }
  for (std::size_t t = first; t < last; ++t) {
    out.by_loss[t] /= total;
    out.value += out.by_loss[t] * losses[t];
  }
  for (std::size_t t = first; t < last; ++t)
    out.by_h[t] = (losses[t] - out.value) * tent_slope(h[t] / width) / (width * total);
  return out;
}

std::vector<double> by_cost(std::span<const double> by_h) {
  std::vector<double> out(by_h.size());
  double later = 0;
  for (std::size_t t = by_h.size(); t-- > 0;) out[t] = later += by_h[t];
  return out;
}

BatchBudgets::BatchBudgets(std::size_t batches)
    : r_(batches, 1 / static_cast<double>(batches)), of_batch_(batches) {}

void BatchBudgets::update_multipliers(std::span<const double> costs) {
  for (std::size_t b = 0; b < r_.size(); ++b) of_batch_[b].update(costs[b] - r_[b]);
}

// With l = z_r - h_r / mu_r, stationarity reads r_b = wanted_b + mu_b l; summed over b that is one equation
// for l.
void BatchBudgets::update_hard(std::span<const double> costs) {
  update_multipliers(costs);
  double excess = -1;
  double sum_of_mu = 0;
  for (std::size_t b = 0; b < r_.size(); ++b) {
    excess += wanted(costs, b);
    sum_of_mu += of_batch_[b].mu;
  }
  const double l = (whole_.z - excess / whole_.mu) / (1 + sum_of_mu / whole_.mu);
  for (std::size_t b = 0; b < r_.size(); ++b) r_[b] = wanted(costs, b) + of_batch_[b].mu * l;
  whole_.update(excess + sum_of_mu * l);
}

void BatchBudgets::update_soft(std::span<const double> costs, std::span<const double> losses) {
  update_multipliers(costs);
  constexpr int kSteps = 20;
  for (int i = 0; i < kSteps; ++i) {
    const std::vector<double> slope = soft_gradient(costs, losses, r_);
    for (std::size_t b = 0; b < r_.size(); ++b) r_[b] = std::max(0.0, r_[b] - of_batch_[b].mu / 2 * slope[b]);
  }
}

double BatchBudgets::hard_objective(std::span<const double> costs, std::span<const double> r) const {
  double sum = 0;
  for (std::size_t b = 0; b < r.size(); ++b) {
    const double gap = wanted(costs, b) - r[b];
    sum += gap * gap / (2 * of_batch_[b].mu);
  }
  return sum + whole_.penalty(std::accumulate(r.begin(), r.end(), -1.0));
}

std::vector<double> BatchBudgets::hard_gradient(std::span<const double> costs,
                                                std::span<const double> r) const {
  const double whole = whole_.slope(std::accumulate(r.begin(), r.end(), -1.0));
  std::vector<double> out(r.size());
  for (std::size_t b = 0; b < r.size(); ++b) out[b] = (r[b] - wanted(costs, b)) / of_batch_[b].mu + whole;
  return out;
}

double BatchBudgets::soft_value(std::span<const double> costs, std::span<const double> losses,
                                std::span<const double> r) const {
  double sum = soft_objective(losses, running_h(r), 1).value;
  for (std::size_t b = 0; b < r.size(); ++b) {
    const double gap = wanted(costs, b) - r[b];
    sum += gap * gap / (2 * of_batch_[b].mu);
  }
  return sum;
}

std::vector<double> BatchBudgets::soft_gradient(std::span<const double> costs, std::span<const double> losses,
                                                std::span<const double> r) const {
  std::vector<double> out = by_cost(soft_objective(losses, running_h(r), 1).by_h);
  for (std::size_t b = 0; b < r.size(); ++b) out[b] += (r[b] - wanted(costs, b)) / of_batch_[b].mu;
  return out;
}

}  // namespace ration::meta
