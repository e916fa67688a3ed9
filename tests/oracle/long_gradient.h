#pragma once

#include <optional>
#include <vector>

#include "ration/base/random.h"
#include "ration/oracle/oracle.h"
#include "ration/sampling/full.h"

namespace ration::testing {

// NOT an objective of any rows: says a long sum, in doubles or in floats.
class LongSum final : public Objective {
 public:
  explicit LongSum(std::size_t parameters) : float_sum(parameters), parameters_(parameters) {}

  bool in_floats = false;
  std::vector<float> float_sum;
  FloatWeights asked_at;       // the last time, if in floats
  std::vector<double> saw_at;  // the last time that the sum was asked for in doubles

  // The same in both.
  double sum(std::size_t i) const { return 0.5 - 0.125 * static_cast<double>(i % 9); }

  std::size_t rows() const override { return 0; }
  std::size_t parameters() const override { return parameters_; }
  std::uint64_t longest_chain(std::uint64_t) const override { return 0; }
  void clipped_gradient_sum(Parameters w, const Batch&, const AnyClipRule&, std::span<double> out) override {
    saw_at.assign(w.begin(), w.end());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sum(i);
  }
  std::span<const float> clipped_gradient_float_sum(const AnyWeights& w, const Batch&,
                                                    const AnyClipRule&) override {
    if (!in_floats) return {};
    if (const auto* kept = std::get_if<FloatWeights>(&w)) asked_at = *kept;
    for (std::size_t i = 0; i < float_sum.size(); ++i) float_sum[i] = static_cast<float>(sum(i));
    return float_sum;
  }
  void clipped_loss_sums(std::span<const Parameters>, const Batch&, double, std::span<double>) override {}
  void clipped_loss_sums_along(const Line&, const Batch&, double, std::span<double>) override {}
  std::uint64_t count_norms_at_most(Parameters, const Batch&, double) override { return 0; }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}

 private:
  std::size_t parameters_;
};

class AlwaysGrants final : public BudgetFilter {
 public:
  bool fits(const Event&) const override { return true; }
  bool spend(const Event&) override { return true; }
  double spent_epsilon() const override { return 0; }
  double spent_share() const override { return 0; }
};

// A long sum behind an oracle.
struct LongGradient {
  static constexpr double kDivisor = 16;

  explicit LongGradient(std::size_t parameters) : objective(parameters), w(parameters) {}

  PrivateOracle& oracle(RandomSource& random, std::size_t threads = 1) {
    return oracle_.emplace(objective, sampler, filter, random, threads);
  }
  void answer(PrivateOracle& oracle, const GradientQuery& query, const PrivateOracle::TakeBlock& take) {
    auto sample = oracle.one_sample({query.event()});
    sample->gradient(w, query, take);
  }

  LongSum objective;
  FullSampler sampler{{.rows = 0, .declared_rows = kDivisor}, Relation::add_remove};
  AlwaysGrants filter;
  std::vector<double> w;

 private:
  std::optional<PrivateOracle> oracle_;
};

}  // namespace ration::testing
