#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ration/objectives/objective.h"
#include "ration/privacy/filter.h"
#include "ration/sampling/sampler.h"

// Doubles that write down what is asked of them, in one journal, so that a test can see what came before
// what.
namespace ration::testing {

using Journal = std::vector<std::string>;

// Row i has the gradient slopes[i] in the first coordinate, and the loss slopes[i] * w[0]; as a row of
// numbers it is slopes[i] in the first column, seen through a map or not. Not rounded as the real ones are:
// `chain` is what it says about itself, and `magnification_seen` what it says when it is seen through a map.
class RecordingObjective final : public Objective {
 public:
  RecordingObjective(std::vector<double> slopes, std::size_t parameters, Journal* journal = nullptr,
                     std::uint64_t chain = 1)
      : slopes_(std::move(slopes)), parameters_(parameters), journal_(journal), chain_(chain) {}

  double magnification_seen = 1;

  std::size_t rows() const override { return slopes_.size(); }
  std::size_t parameters() const override { return parameters_; }
  std::uint64_t longest_chain(std::uint64_t) const override { return chain_; }
  double magnification() const override { return magnification_; }
  PublicFacts facts() const override { return {.columns = parameters_}; }

  void clipped_gradient_sum(Parameters, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    write_down("gradient", batch);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const auto row : batch.rows) sum[0] += clipped(rule, slopes_[row]);
  }
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    write_down("losses", batch);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = losses(candidates[k][0], batch, bound);
  }
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    write_down("losses along", batch);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k] = losses(line.start[0] - line.steps[k] * line.direction[0], batch, bound);
    }
  }
  std::uint64_t count_norms_at_most(Parameters, const Batch& batch, double bound) override {
    write_down("count", batch);
    std::uint64_t count = 0;
    for (const auto row : batch.rows) count += std::abs(slopes_[row]) <= bound ? 1 : 0;
    return count;
  }
  std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const override {
    auto seen = std::make_unique<RecordingObjective>(slopes_, view->coordinates(), journal_, chain_);
    seen->magnification_ = magnification_seen;
    seen->batches_ = batches_;
    return seen;
  }
  void shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) override {
    write_down("rows", batch);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const auto row : batch.rows) sum[0] += std::clamp(slopes_[row], -bound, bound);
  }
  void second_moment_sum(const Batch& batch, double bound, std::span<double> upper) override {
    write_down("second moment", batch);
    std::fill(upper.begin(), upper.end(), 0.0);
    for (const auto row : batch.rows) upper[0] += std::pow(std::clamp(slopes_[row], -bound, bound), 2);
  }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}

  // The rows of every call, in order; also of what was seen through a map.
  const std::vector<std::vector<std::uint64_t>>& batches() const { return *batches_; }

 private:
  static double clipped(const AnyClipRule& rule, double slope) {
    return rule.visit([&](const auto& r) { return slope == 0 ? 0 : slope * r.factor(std::abs(slope)); });
  }
  double losses(double w, const Batch& batch, double bound) const {
    double sum = 0;
    for (const auto row : batch.rows) sum += std::clamp(slopes_[row] * w, 0.0, bound);
    return sum;
  }
  void write_down(const char* what, const Batch& batch) {
    if (!journal_) return;
    journal_->push_back(what);
    batches_->push_back(batch.rows);
  }

  std::vector<double> slopes_;
  std::size_t parameters_;
  Journal* journal_;
  std::uint64_t chain_;
  double magnification_ = 1;
  std::shared_ptr<std::vector<std::vector<std::uint64_t>>> batches_ =
      std::make_shared<std::vector<std::vector<std::uint64_t>>>();
};

// Another sampler, and when it drew.
class RecordingSampler final : public Sampler {
 public:
  RecordingSampler(const Sampler& real, Journal& journal) : real_(real), journal_(journal) {}

  void draw(RandomSource& random, Batch& batch) const override {
    journal_.push_back("draw");
    real_.draw(random, batch);
  }
  Event sampled(Event base) const override { return real_.sampled(std::move(base)); }
  Relation relation() const override { return real_.relation(); }
  double divisor() const override { return real_.divisor(); }
  std::optional<std::uint64_t> public_size() const override { return real_.public_size(); }
  std::uint64_t most_rows() const override { return real_.most_rows(); }

 private:
  const Sampler& real_;
  Journal& journal_;
};

// Grants the first `grants` queries, and writes down the events, "refused" before those it refuses.
class RecordingFilter final : public BudgetFilter {
 public:
  RecordingFilter(std::size_t grants, Journal& journal) : grants_(grants), journal_(journal) {}

  bool fits(const Event&) const override { return grants_ > 0; }
  bool spend(const Event& event) override {
    journal_.push_back((grants_ > 0 ? "" : "refused ") + event.describe());
    if (grants_ == 0) return false;
    --grants_;
    return true;
  }
  double spent_epsilon() const override { return 0; }
  double spent_share() const override { return 0; }

 private:
  std::size_t grants_;
  Journal& journal_;
};

// Grants everything and remembers nothing.
class GenerousFilter final : public BudgetFilter {
 public:
  bool fits(const Event&) const override { return true; }
  bool spend(const Event&) override { return true; }
  double spent_epsilon() const override { return 0; }
  double spent_share() const override { return 0; }
};

}  // namespace ration::testing
