// AboveThreshold as the distribution of its output, by integration over the threshold's noise, and a search
// for the neighbours on which two such distributions differ most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace ration::testing {

// Some queries of one value, relative to the threshold, that all move by the same amount on the neighbour.
struct QueryBlock {
  int count;
  double value;
  double move;  // in [-1, 1]: the sensitivity is 1
};
using QueryPattern = std::vector<QueryBlock>;

// Standard deviations, or scales of Laplace noise.
struct PatternNoise {
  bool gaussian;
  double threshold;
  double query;
};

// The density of the threshold's noise, and the distribution function of the queries'.
inline double threshold_density(const PatternNoise& noise, double z) {
  const double x = z / noise.threshold;
  return noise.gaussian ? std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI) / noise.threshold
                        : 0.5 * std::exp(-std::abs(x)) / noise.threshold;
}
inline double query_below(const PatternNoise& noise, double difference) {
  const double x = difference / noise.query;
  if (noise.gaussian) return 0.5 * std::erfc(-x / std::sqrt(2.0));
  return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x);
}

// The noise of the threshold at which the mechanism is evaluated, with weights.
struct Axis {
  std::vector<double> z, weight;
};

// Trapezoids: for Gaussian noise more exact than doubles; Laplace densities have kinks, so they are finer.
inline Axis axis_for(const PatternNoise& noise, double refined = 1) {
  const double reach = noise.gaussian ? 26 * noise.threshold : 45 * noise.threshold;
  const double step = (noise.gaussian ? std::min(noise.threshold, noise.query) / 5
                                      : std::min(noise.threshold, noise.query) / 12) /
                      refined;
  const int half = static_cast<int>(std::ceil(reach / step));
  Axis axis;
  double total = 0;
  for (int i = -half; i <= half; ++i) {
    axis.z.push_back(i * step);
    axis.weight.push_back(step * threshold_density(noise, i * step));
    total += axis.weight.back();
  }
  for (double& weight : axis.weight) weight /= total;
  return axis;
}

// The probabilities that query 0, 1, ... is the first above, and last that none is.
inline std::vector<double> output_law(const QueryPattern& pattern, const PatternNoise& noise, bool neighbour,
                                      const Axis& axis) {
  std::vector<double> law;
  std::vector<double> reached = axis.weight, no(axis.z.size()), yes(axis.z.size());
  for (const QueryBlock& block : pattern) {
    const double value = block.value + (neighbour ? block.move : 0);
    for (std::size_t i = 0; i < no.size(); ++i) {
      no[i] = query_below(noise, axis.z[i] - value);
      yes[i] = query_below(noise, value - axis.z[i]);
    }
    for (int n = 0; n < block.count; ++n) {
      double here = 0;
      for (std::size_t i = 0; i < no.size(); ++i) {
        here += reached[i] * yes[i];
        reached[i] *= no[i];
      }
      law.push_back(here);
    }
  }
  double rest = 0;
  for (const double weight : reached) rest += weight;
  law.push_back(rest);
  return law;
}

// Outputs so rare that doubles do not hold them are left out, so it can only be too small. Order 1 is the
// Kullback-Leibler divergence.
inline double renyi_of_laws(const std::vector<double>& p, const std::vector<double>& q, double alpha) {
  double largest = -INFINITY;
  std::vector<double> logs;
  double kl = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] < 1e-290 || q[i] < 1e-290) continue;
    const double ratio = std::log(p[i] / q[i]);
    kl += p[i] * ratio;
    logs.push_back(std::log(p[i]) + (alpha - 1) * ratio);
    largest = std::max(largest, logs.back());
  }
  if (alpha == 1) return kl;
  double sum = 0;
  for (const double term : logs) sum += std::exp(term - largest);
  return (largest + std::log(sum)) / (alpha - 1);
}

// In the worse direction.
inline double pattern_divergence(const QueryPattern& pattern, const PatternNoise& noise, double alpha,
                                 const Axis& axis) {
  const std::vector<double> p = output_law(pattern, noise, false, axis);
  const std::vector<double> q = output_law(pattern, noise, true, axis);
  return std::max(renyi_of_laws(p, q, alpha), renyi_of_laws(q, p, alpha));
}

// Random patterns and what coordinate ascent makes of the best of them: each block's value is moved up and
// down by ever smaller amounts, and its movement turned round.
class PatternSearch {
 public:
  PatternSearch(const PatternNoise& noise, double alpha, std::uint64_t seed)
      : noise_(noise), alpha_(alpha), axis_(axis_for(noise)), random_(seed) {}

  // Blocks that share `queries` queries.
  QueryPattern random_pattern(int queries, int blocks) {
    std::uniform_real_distribution<double> spread(-6 * noise_.query - 2, 2 * noise_.query);
    QueryPattern pattern;
    for (int i = 0; i < blocks; ++i) {
      const int count = queries * (i + 1) / blocks - queries * i / blocks;
      if (count > 0) pattern.push_back({count, spread(random_), random_() % 2 ? 1.0 : -1.0});
    }
    return pattern;
  }

  double of(const QueryPattern& pattern) const { return pattern_divergence(pattern, noise_, alpha_, axis_); }

  // The largest divergence that is found.
  double best_of(int queries, int blocks, int tries, int rounds) {
    QueryPattern best;
    double found = 0;
    for (int i = 0; i < tries; ++i) {
      QueryPattern pattern = random_pattern(queries, blocks);
      // Every other one: all move up and the last down, the pattern that the published proof has in mind.
      if (i % 2 == 1) {
        for (QueryBlock& block : pattern) block.move = 1;
        pattern.back().move = -1;
      }
      if (const double value = of(pattern); value > found) {
        found = value;
        best = std::move(pattern);
      }
    }
    return climb(std::move(best), found, rounds);
  }

  double climb(QueryPattern pattern, double value, int rounds) {
    double stride = noise_.query;
    for (int round = 0; round < rounds; ++round, stride *= 0.6) {
      for (QueryBlock& block : pattern) {
        const QueryBlock before = block;
        const auto keep_if_better = [&](double at, double move) {
          const QueryBlock old = block;
          block.value = at;
          block.move = move;
          const double now = of(pattern);
          if (now > value) {
            value = now;
          } else {
            block = old;
          }
        };
        keep_if_better(before.value + stride, before.move);
        keep_if_better(before.value - stride, before.move);
        keep_if_better(block.value, -block.move);
      }
    }
    return value;
  }

 private:
  PatternNoise noise_;
  double alpha_;
  Axis axis_;
  std::mt19937_64 random_;
};

// alpha (4 s1^2 + s2^2) / (2 s1^2 s2^2). [Chen20, Thm 3]
inline double published_gaussian_search(double threshold_noise, double query_noise, double alpha) {
  return alpha * (0.5 / (threshold_noise * threshold_noise) + 2 / (query_noise * query_noise));
}

}  // namespace ration::testing
