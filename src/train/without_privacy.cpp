#include "train/without_privacy.h"

#include <algorithm>
#include <vector>

#include "objectives/solvers.h"
#include "ration/base/error.h"
#include "steps/step_rule.h"

namespace ration {
namespace {

constexpr double kUnclipped = 1e30;

// Passes over the rows in an order that does not matter: each batch takes every so many-th row.
std::vector<double> fit_network(Objective& objective, double ridge, std::vector<double> w) {
  constexpr std::size_t kPasses = 10;
  constexpr std::size_t kBatch = 256;
  constexpr double kLearningRate = 1e-3;
  const auto rule = make_step_rule({.kind = StepKind::adam, .weight_decay = ridge}, w.size());
  const std::size_t batches = std::max<std::size_t>(1, objective.rows() / kBatch);
  std::vector<double> gradient(w.size());
  for (std::size_t step = 0; step < kPasses * batches; ++step) {
    Batch batch;
    for (std::size_t row = step % batches; row < objective.rows(); row += batches) batch.rows.push_back(row);
    objective.clipped_gradient_sum(w, batch, Abadi{kUnclipped}, gradient);
    for (double& value : gradient) value /= static_cast<double>(batch.rows.size());
    rule->step({.value = gradient}, kLearningRate, w);
  }
  return w;
}

class FitWithoutPrivacy final : public Method {
 public:
  FitWithoutPrivacy(Objective& objective, double ridge, const std::vector<double>& start)
      : objective_(objective), ridge_(ridge), is_network_(!start.empty()), weights_(start) {
    weights_.resize(objective.parameters());
  }

  bool step(PrivateOracle&) override {
    if (done_) return false;
    weights_ = is_network_ ? fit_network(objective_, ridge_, std::move(weights_))
                           : fit_without_privacy(objective_, {.ridge = ridge_});
    return done_ = true;
  }
  StepReport report() const override { return {.step = done_ ? 1 : 0}; }
  void weights(std::span<double> out) const override {
    std::copy(weights_.begin(), weights_.end(), out.begin());
  }

  MethodState save() const override { return {{"step", {done_ ? 1.0 : 0.0}}, {"weights", weights_}}; }
  void restore(const MethodState& state) override {
    const auto step = state.find("step");
    const auto weights = state.find("weights");
    if (step == state.end() || step->second.size() != 1 || weights == state.end() ||
        weights->second.size() != weights_.size()) {
      throw InputError("checkpoint: not the state of a fit without privacy");
    }
    done_ = step->second.front() != 0;
    weights_ = weights->second;
  }

 private:
  Objective& objective_;
  double ridge_;
  bool is_network_;
  bool done_ = false;
  std::vector<double> weights_;
};

}  // namespace

std::unique_ptr<Method> make_fit_without_privacy(Objective& objective, const WithoutPrivacy& options,
                                                 const std::vector<double>& start) {
  return std::make_unique<FitWithoutPrivacy>(objective, options.ridge, start);
}

}  // namespace ration
