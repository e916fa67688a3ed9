#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ration/data/rows.h"
#include "ration/data/units.h"
#include "ration/objectives/row_view.h"

namespace ration {

// How long the sum of a unit's gradients is, without forming it: of a linear model it is sum_i s_i x_i^T, s_i
// the slopes of row i, so that its squared length is sum_ij <s_i, s_j> <x_i, x_j>, and the products of a
// unit's rows with each other are computed once.
//
// Guarantee   of(unit, ...) is at least the length of sum_i s_i z_i, z_i the row or what is seen of it, over
//             the slopes that it leaves, each being off by a few roundings. It depends on nothing but the
//             unit and its slopes. It is also at least 1/64 of sum_i |s_i| n_i, n_i the norms: rows that
//             cancel may be 64 times as long together as their sum and no longer, once a unit is clipped,
//             which bounds the rounding of sums they are added to (kMostCancelling).
// Rounding    with e_ij = <z_i, z_j> / (n_i n_j), A = sum_i |s_i| n_i and shares t_i = s_i n_i / A, the
// squared
//             length is A^2 sum_ij <t_i, t_j> e_ij, |.| <= 1. Each e_ij is off by at most (columns + 4) u,
//             and k^2 terms add k^2 u; that is added before the root is taken. What is seen of a row is off
//             by at most (columns + 2) u size usual_length times n_i (seen_rows.h), which is added after.
// Edge cases  rows whose norm is not finite or not within 2^-400 ... 2^400, or whose slope is not finite:
// their
//             slopes are set to 0, so that they contribute nothing and the unit's other rows stay as they
//             are. A unit of one row is as long as that row is by itself, whatever its norm.
class UnitLengths {
 public:
  // How much longer a unit's rows may be than their sum.
  static constexpr double kMostCancelling = 64;

  // `norms` are those of seen_rows.h if there is a view, otherwise the rows' own; all must outlive this.
  UnitLengths(const Rows& rows, const Units& units, std::span<const double> norms, const RowView* view,
              std::size_t threads);

  // `slopes` has `outputs` numbers for each row of the unit, `slope_norms` their norm; `shares` is scratch
  // memory.
  double of(std::size_t unit, std::span<double> slopes, std::size_t outputs,
            std::span<const double> slope_norms, std::vector<double>& shares) const;
  // Asks the processor for what of() will need soon.
  void prefetch(std::size_t unit) const { __builtin_prefetch(cosines_.data() + offsets_[unit]); }
  // sum_i |z_i|^2 over the rows that contribute, at least; infinite if squares overflow.
  double sum_of_squares(std::size_t unit) const;
  // Whether a row of a unit of several rows contributes.
  bool counts(std::size_t row) const;

 private:
  double leave_what_counts(std::size_t first, std::span<double> slopes, std::size_t outputs,
                           std::span<const double> slope_norms) const;
  void fill(std::size_t unit, const RowView* view, std::vector<double>& seen);

  const Rows& rows_;
  const Units& units_;
  std::span<const double> norms_;
  double slack_per_column_;
  double seen_slack_;
  std::vector<std::size_t> offsets_;  // of a unit's triangle; units of one row have none
  std::vector<double> cosines_;       // e_ij, upper triangles row by row
};

}  // namespace ration
