#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "objectives/glm/linear_objective.h"
#include "objectives/glm/seen_rows.h"
#include "ration/clipping/abadi.h"
#include "ration/objectives/row_view.h"

namespace ration {

// A linear model of rows seen through a map (row_view.h): l_i(u) = l(u z_i), z_i = M x_i.
//
// Guarantee   a row contributes factor * slope * z_i, and the factor goes by the slope's norm times a bound
//             on |z_i| (seen_rows.h), so that no contribution is longer than the clip rule's bound.
// Rounding    sums are those of the rows as they are, times M. Let A be how much longer M without its signs
//             makes a vector at most (RowView::size), X usual_length(), B the bound, and k the roundings of
//             a contribution. The sum of m rows is off by at most m k u B X: so long can a row be there. M
//             times that is off by at most A B X m (k + columns + 2) u (1 + small) [Higham02, Sec. 3.5], so
//             A X is the magnification, and the columns belong to the chain. Of sums of products it is the
//             same with the squares of A, B and X: S -> M S M^T makes Frobenius norms A^2 times longer.
// Cost        that of the rows as they are, and two products with M. Norms are computed once, here.
template <class Loss>
class SeenObjective final : public Objective {
 public:
  SeenObjective(std::shared_ptr<const Rows> rows, std::shared_ptr<const RowView> view, Loss loss,
                std::size_t threads)
      : rows_(std::move(rows)),
        view_(std::move(view)),
        loss_(loss),
        threads_(thread_count(threads)),
        norms_(norms_through(*rows_, *view_, threads_)),
        linear_(rows_, loss, threads, LinearObjective<Loss>::Labels::checked, norms_),
        at_(linear_.parameters()),
        direction_(linear_.parameters()),
        sum_(linear_.parameters()) {}

  std::size_t rows() const override { return linear_.rows(); }
  std::size_t parameters() const override { return view_->coordinates() * loss_.outputs(); }
  std::uint64_t longest_chain(std::uint64_t rows) const override {
    return linear_.longest_chain(rows) + rows / kStretch + kMostBlocks + 2 * view_->columns() + 8;
  }
  // At least 1, since sums of losses do not pass through M.
  double magnification() const override {
    return std::max(1.0, view_->size() * usual_length(view_->columns()));
  }
  PublicFacts facts() const override {
    PublicFacts facts = linear_.facts();
    facts.row_norm_bound = PublicFacts::kUnknown;
    facts.columns = view_->coordinates();
    return facts;
  }

  void clipped_gradient_sum(Parameters u, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    view_->weights_for_rows(u, at_);
    linear_.clipped_gradient_sum(at_, batch, rule, sum_);
    view_->look(sum_, sum);
  }
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    std::vector<std::vector<double>> weights(candidates.size(), at_);
    std::vector<Parameters> for_rows;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      view_->weights_for_rows(candidates[k], weights[k]);
      for_rows.push_back(weights[k]);
    }
    linear_.clipped_loss_sums(for_rows, batch, bound, sums);
  }
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    view_->weights_for_rows(line.start, at_);
    view_->weights_for_rows(line.direction, direction_);
    linear_.clipped_loss_sums_along({at_, direction_, line.steps}, batch, bound, sums);
  }
  std::uint64_t count_norms_at_most(Parameters u, const Batch& batch, double bound) override {
    view_->weights_for_rows(u, at_);
    return linear_.count_norms_at_most(at_, batch, bound);
  }
  void label_counts(const Batch& batch, std::span<double> counts) const override {
    linear_.label_counts(batch, counts);
  }
  double mean_loss(Parameters u) override {
    view_->weights_for_rows(u, at_);
    return linear_.mean_loss(at_);
  }
  void predict(Parameters u, std::span<double> predictions) override {
    view_->weights_for_rows(u, at_);
    linear_.predict(at_, predictions);
  }

  void shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) override;
  void second_moment_sum(const Batch& batch, double bound, std::span<double> upper) override;
  std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const override {
    return linear_.seen_through(std::move(view));
  }

 private:
  using RowNumbers = std::span<const std::uint64_t>;
  static constexpr std::size_t kTogether = 64;
  // As in the linear objective: rows that are summed before the sum is put aside, and where it is put.
  static constexpr std::size_t kStretch = 8192;
  static constexpr std::size_t kMostBlocks = 8;

  // Adds the products of these rows, shortened.
  void add_products(RowNumbers numbers, double bound, std::span<double> upper) const;

  std::shared_ptr<const Rows> rows_;
  std::shared_ptr<const RowView> view_;
  Loss loss_;
  std::size_t threads_;
  std::vector<double> norms_;
  LinearObjective<Loss> linear_;
  std::vector<double> at_, direction_, sum_;  // in the rows' own columns
};

template <class Loss>
void SeenObjective<Loss>::shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) {
  std::vector<double> of_rows(rows_->columns());
  linear_.shortened_row_sum(batch, bound, of_rows);
  view_->look(of_rows, sum);
}

template <class Loss>
void SeenObjective<Loss>::add_products(RowNumbers numbers, double bound, std::span<double> upper) const {
  std::array<double, kTogether> factors;
  for (std::size_t first = 0; first < numbers.size(); first += kTogether) {
    const RowNumbers some = numbers.subspan(first, std::min(kTogether, numbers.size() - first));
    for (std::size_t r = 0; r < some.size(); ++r) factors[r] = clip_factor(Abadi{bound}, norms_[some[r]]);
    add_weighted_products(*rows_, *view_, some, factors, upper);
  }
}

// In stretches and blocks, as the linear objective's sums; how many depends on the batch's size alone.
template <class Loss>
void SeenObjective<Loss>::second_moment_sum(const Batch& batch, double bound, std::span<double> upper) {
  linear_.require_batch(batch);
  const RowNumbers numbers = batch.rows;
  const std::size_t size = triangle_size(view_->used().size());
  const std::size_t blocks = std::clamp<std::size_t>(numbers.size() / kStretch, 1, kMostBlocks);
  std::vector<std::vector<double>> totals(blocks);
  for_each_block(blocks, threads_, [&](std::size_t block) {
    totals[block].assign(size, 0.0);
    std::vector<double> sums(size);
    const std::size_t end = numbers.size() * (block + 1) / blocks;
    for (std::size_t first = numbers.size() * block / blocks; first < end; first += kStretch) {
      std::fill(sums.begin(), sums.end(), 0.0);
      add_products(numbers.subspan(first, std::min(kStretch, end - first)), bound, sums);
      for (std::size_t i = 0; i < size; ++i) totals[block][i] += sums[i];
    }
  });
  for (std::size_t block = 1; block < blocks; ++block) {
    for (std::size_t i = 0; i < size; ++i) totals[0][i] += totals[block][i];
  }
  view_->look_twice(totals[0], upper);
}

template <class Loss>
std::unique_ptr<Objective> LinearObjective<Loss>::seen_through(std::shared_ptr<const RowView> view) const {
  require_size("columns of the map", view->columns(), rows_->columns());
  return std::make_unique<SeenObjective<Loss>>(rows_, std::move(view), loss_, threads_);
}

}  // namespace ration
