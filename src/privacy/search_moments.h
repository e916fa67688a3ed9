#pragma once

#include <cstdint>
#include <memory>

namespace ration {

// AboveThreshold given its noisy threshold: independent noisy comparisons, one after the other, up to the
// first yes. Neighbours move each comparison by any amount between -`down` and `up`, in units of the noise of
// a query. (docs/proofs/above-threshold.md)
struct SearchShift {
  double up;    // >= 0; a yes becomes less likely on the neighbour
  double down;  // >= 0; a no does
};

// Upper bounds on the logarithm of sum over outputs of P^alpha Q^(1-alpha), over all positions and movements
// of the comparisons, for alpha > 1. +infinity where there is no bound, or none that doubles hold.

// The comparisons with standard Gaussian noise at all positions, for one shift; what does not depend on the
// order is computed once.
class GaussianComparisons {
 public:
  explicit GaussianComparisons(double shift);
  ~GaussianComparisons();

  // For at most `queries` >= 1 comparisons. Where alpha times a shift exceeds kLargest, +infinity.
  static double log_moment(double alpha, GaussianComparisons& up, GaussianComparisons& down,
                           std::int64_t queries);
  static constexpr double kLargest = 24;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};
double log_gaussian_search_moment(double alpha, const SearchShift& shift, std::int64_t queries);

// Any number of comparisons with Laplace noise of scale 1.
double log_laplace_search_moment(double alpha, const SearchShift& shift);

}  // namespace ration
