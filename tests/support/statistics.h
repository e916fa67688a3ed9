#pragma once

#include <cstdint>
#include <functional>
#include <span>

// Does a sample follow a distribution? Each test rejects a right sample with a probability that is bounded
// for every sample size, not only asymptotically.
namespace ration::testing {

inline constexpr double kFailureProbability = 1e-9;

// Kolmogorov-Smirnov against a continuous distribution function. Rejects a right sample with probability at
// most `failure_probability` (Dvoretzky-Kiefer-Wolfowitz with Massart's constant: P[sqrt(n) D > t] <= 2
// exp(-2 t^2)).
bool follows(std::span<const double> sample, const std::function<double(double)>& cdf,
             double failure_probability = kFailureProbability);

// Failure probability 1e-9; with 2'000 values or more each of them rejects 2/3 and 3/2 of the right scale.
bool follows_normal(std::span<const double> sample, double stddev);
bool follows_laplace(std::span<const double> sample, double scale);
bool follows_exponential(std::span<const double> sample, double mean);
bool follows_uniform(std::span<const double> sample);

// Likelihood-ratio test of counts against the probabilities of their cells, which must sum to 1. A count in a
// cell of probability 0 is rejected. Rejects right counts with probability at most 1e-9: the relative entropy
// K of n draws over k cells obeys P[n K >= t] <= exp(-t) (e t / (k-1))^(k-1) for t >= k-1 [R. Agrawal,
// Finite-sample concentration of the multinomial in relative entropy, IEEE Trans. Inf. Theory 66(10), 2020].
bool follows_pmf(std::span<const std::uint64_t> counts, std::span<const double> probabilities);

// Is the mean of n independent values with this true mean and true standard deviation where it should be?
// Failure probability about 1e-9 (normal approximation: for n in the tens of thousands and more).
bool mean_is(std::span<const double> sample, double mean, double stddev);

// Are a and b uncorrelated? Both standardised (mean 0, variance 1), equally long; failure probability about
// 1e-9.
bool uncorrelated(std::span<const double> a, std::span<const double> b);

}  // namespace ration::testing
