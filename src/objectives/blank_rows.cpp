#include "objectives/blank_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ration/base/error.h"

namespace ration {
namespace {

class BlankRows final : public Objective {
 public:
  BlankRows(std::unique_ptr<Objective> objective, std::size_t blank)
      : objective_(std::move(objective)), blank_(blank) {}

  std::size_t rows() const override { return objective_->rows() + blank_; }
  std::size_t parameters() const override { return objective_->parameters(); }
  std::uint64_t longest_chain(std::uint64_t rows) const override { return objective_->longest_chain(rows); }
  double magnification() const override { return objective_->magnification(); }
  PublicFacts facts() const override { return objective_->facts(); }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    objective_->clipped_gradient_sum(w, present(batch), rule, sum);
  }
  std::span<const float> clipped_gradient_float_sum(const AnyWeights& w, const Batch& batch,
                                                    const AnyClipRule& rule) override {
    return objective_->clipped_gradient_float_sum(w, present(batch), rule);
  }
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    objective_->clipped_loss_sums(candidates, present(batch), bound, sums);
  }
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    objective_->clipped_loss_sums_along(line, present(batch), bound, sums);
  }
  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override {
    return objective_->count_norms_at_most(w, present(batch), bound);
  }
  void label_counts(const Batch& batch, std::span<double> counts) const override {
    objective_->label_counts(present(batch), counts);
  }
  std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const override {
    return with_blank_rows(objective_->seen_through(std::move(view)), blank_);
  }
  void shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) override {
    objective_->shortened_row_sum(present(batch), bound, sum);
  }
  void second_moment_sum(const Batch& batch, double bound, std::span<double> upper) override {
    objective_->second_moment_sum(present(batch), bound, upper);
  }
  double mean_loss(Parameters w) override { return objective_->mean_loss(w); }
  void predict(Parameters w, std::span<double> predictions) override { objective_->predict(w, predictions); }

 private:
  // Rows increase, so those that are blank come last.
  const Batch& present(const Batch& batch) const {
    if (batch.rows.empty() || batch.rows.back() < objective_->rows()) return batch;
    if (batch.rows.back() >= rows()) {
      throw InputError(
          fmt::format("blank rows: expected rows below {}, got row {}", rows(), batch.rows.back()));
    }
    const auto end = std::lower_bound(batch.rows.begin(), batch.rows.end(), objective_->rows());
    present_.rows.assign(batch.rows.begin(), end);
    present_.divisor = batch.divisor;
    return present_;
  }

  std::unique_ptr<Objective> objective_;
  std::size_t blank_;
  mutable Batch present_;  // scratch memory
};

}  // namespace

std::unique_ptr<Objective> with_blank_rows(std::unique_ptr<Objective> objective, std::size_t blank) {
  if (blank == 0) return objective;
  return std::make_unique<BlankRows>(std::move(objective), blank);
}

}  // namespace ration
