#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "privacy/search_moments.h"

namespace ration {

// The Renyi divergence of one search with AboveThreshold, as a curve over real orders >= 1. An upper bound
// for every sequence of queries and every neighbour; docs/proofs/above-threshold.md has the proof.
//
// Orders      the bound is computed where it is asked for, at a fixed sequence of orders; between them
//             (a - 1) D(a), a convex function of a, is bounded by its chord. A value does not depend on what
//             was asked before.
// Threads     may ask at once.
class SearchCurve {
 public:
  virtual ~SearchCurve() = default;

  // At one order, from 1 to +infinity.
  virtual double rdp(double order) const;

 protected:
  SearchCurve() = default;

  // By formulas alone; right for every order, sharp for large ones.
  virtual double closed_form(double order) const = 0;
  // With the neighbour's noisy threshold moved by `share`, in [0, 1], of the sensitivity. May be +infinity.
  // Called by one thread at a time.
  virtual double with_moved_threshold(double order, double share) const = 0;
  // A guess at the best share.
  virtual double likely_share(double order) const = 0;

  // The orders that are computed: 1 + 2^(i/8).
  static double order_of(int index);
  // (order - 1) D(order) at an order that is computed.
  double log_moment(int index) const;
  static constexpr int kFirst = -5 * 8, kLast = 33 * 8;

 private:
  double bound(double order) const;

  mutable std::mutex mutex_;
  mutable std::vector<double> known_;  // of kFirst and on; NaN: not yet
};

// Laplace noise of scales 1/threshold_epsilon and 1/query_epsilon, any number of queries.
class LaplaceSearchCurve final : public SearchCurve {
 public:
  LaplaceSearchCurve(double threshold_epsilon, double query_epsilon);

 protected:
  double closed_form(double order) const override;
  double with_moved_threshold(double order, double share) const override;
  double likely_share(double order) const override;

 private:
  double threshold_;
  double query_;
};

// Gaussian noise of these standard deviations, at most `queries` queries.
class GaussianSearchCurve final : public SearchCurve {
 public:
  GaussianSearchCurve(double threshold_noise, double query_noise, std::int64_t queries);

  // At most zcdp_rho() times the order.
  double rdp(double order) const override;
  // A rho with rdp(a) <= rho a for all a, the smallest that is known. Rounded up.
  double zcdp_rho() const;

 protected:
  double closed_form(double order) const override;
  double with_moved_threshold(double order, double share) const override;
  double likely_share(double order) const override;

 private:
  // The limit of rdp(a)/a is at most this; and rdp(a) <= rho a + log(queries + 1)/(a - 1).
  double limit_rho() const;
  double largest_between(int first, int last, double known) const;
  GaussianComparisons& shifted_by(double sensitivities) const;

  double threshold_;
  double query_;
  std::int64_t queries_;
  double best_share_;  // for large orders
  mutable std::once_flag rho_once_;
  mutable double rho_ = 0;
  mutable std::map<double, std::unique_ptr<GaussianComparisons>> shifted_;
};

// The curve for these numbers; the last few are kept, because a run asks for the same ones over and over.
std::shared_ptr<const LaplaceSearchCurve> laplace_search_curve(double threshold_epsilon,
                                                               double query_epsilon);
std::shared_ptr<const GaussianSearchCurve> gaussian_search_curve(double threshold_noise, double query_noise,
                                                                 std::int64_t queries);

}  // namespace ration
