#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ration/objectives/objective.h"

namespace ration::audit {

// An objective with one parameter in which a single row does what an auditor wants of it, within the bounds
// of any row; all others do nothing. Points of a line are known by their steps: 0 is where it begins.
class WorstRow final : public Objective {
 public:
  struct Behaviour {
    double slope = 10;                           // of its loss
    std::function<double(double)> loss_at = {};  // at a point of a line, in [0, 1]; empty: 0
  };

  // The row is the last of `rows` if it is there; otherwise all of them do nothing.
  WorstRow(std::size_t rows, bool present, Behaviour behaviour)
      : rows_(rows), present_(present), behaviour_(std::move(behaviour)) {}

  std::size_t rows() const override { return rows_; }
  std::size_t parameters() const override { return 1; }
  std::uint64_t longest_chain(std::uint64_t) const override { return 1; }

  void clipped_gradient_sum(Parameters, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    const double slope = behaviour_.slope;
    sum[0] =
        is_in(batch) ? slope * rule.visit([&](const auto& one) { return one.factor(std::abs(slope)); }) : 0;
  }
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = loss(batch, candidates[k][0], bound);
  }
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = loss(batch, line.steps[k], bound);
  }
  std::uint64_t count_norms_at_most(Parameters, const Batch& batch, double) override {
    return is_in(batch) ? 1 : 0;
  }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}

 private:
  bool is_in(const Batch& batch) const {
    return present_ && !batch.rows.empty() && batch.rows.back() + 1 == rows_;
  }
  double loss(const Batch& batch, double point, double bound) const {
    return is_in(batch) && behaviour_.loss_at ? std::clamp(behaviour_.loss_at(point), 0.0, bound) : 0;
  }

  std::size_t rows_;
  bool present_;
  Behaviour behaviour_;
};

}  // namespace ration::audit
