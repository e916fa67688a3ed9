#pragma once

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "mechanisms/laws.h"

namespace ration::testing {

using Scores = std::vector<double>;

// Which index has the largest score + exponential noise of mean 1 / rate:
//   P[i] = b_i * integral over u in [0, 1] of prod over j != i of (1 - u b_j),
//   b_i = exp(-rate (max - score_i)), from u = exp(-rate (score_i + noise - max)).
// The integrand is a polynomial, so Gauss's 15 points are exact for up to 30 scores.
inline Law exponential_noise_law(const Scores& scores, double rate) {
  const double best = *std::max_element(scores.begin(), scores.end());
  std::vector<double> b;
  for (const double score : scores) b.push_back(std::exp(rate * (score - best)));
  Law law;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto others_stay_below = [&](double u) {
      double product = 1.0;
      for (std::size_t j = 0; j < b.size(); ++j) product *= j == i ? 1.0 : 1.0 - u * b[j];
      return product;
    };
    law.push_back(b[i] * boost::math::quadrature::gauss<double, 15>::integrate(others_stay_below, 0.0, 1.0));
  }
  return law;
}

// Gumbel noise: the exponential mechanism.
inline Law gumbel_noise_law(const Scores& scores, double rate) {
  const double best = *std::max_element(scores.begin(), scores.end());
  Law law;
  double total = 0.0;
  for (const double score : scores) {
    law.push_back(std::exp(rate * (score - best)));
    total += law.back();
  }
  for (double& probability : law) probability /= total;
  return law;
}

// WRONG on purpose: which index has the smallest loss + exponential noise. The first event of Poisson clocks
// that start at the losses: candidate i is first in [t, t + dt] with the clocks of all losses below t
// running.
inline Law added_to_losses_law(Scores losses, double rate) {
  Law law(losses.size(), 0.0);
  Scores starts = losses;
  std::sort(starts.begin(), starts.end());
  double nothing_yet = 1.0;
  for (std::size_t running = 1; running <= starts.size(); ++running) {
    const double end = running < starts.size() ? starts[running] : INFINITY;
    const double silent = std::exp(-rate * static_cast<double>(running) * (end - starts[running - 1]));
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (losses[i] <= starts[running - 1]) {
        law[i] += nothing_yet * (1 - silent) / static_cast<double>(running);
      }
    }
    nothing_yet *= silent;
  }
  return law;
}

// The largest Renyi divergence that pure epsilon-DP allows: randomised response.
inline double pure_dp_renyi(double epsilon, double order) {
  const double p = 1 / (1 + std::exp(-epsilon));
  return renyi_divergence({p, 1 - p}, {1 - p, p}, order);
}

// The Laplace mechanism's curve, scale 1 / epsilon.
inline double laplace_renyi(double epsilon, double order) {
  if (order == 1.0) return epsilon + std::exp(-epsilon) - 1;
  return std::log(order / (2 * order - 1) * std::exp(epsilon * (order - 1)) +
                  (order - 1) / (2 * order - 1) * std::exp(-epsilon * order)) /
         (order - 1);
}

}  // namespace ration::testing
