#include "train/without_privacy.h"

#include <algorithm>
#include <vector>

#include "ration/base/error.h"
#include "ration/objectives/solvers.h"

namespace ration {
namespace {

class FitWithoutPrivacy final : public Method {
 public:
  FitWithoutPrivacy(Objective& objective, double ridge)
      : objective_(objective), ridge_(ridge), weights_(objective.parameters()) {}

  bool step(PrivateOracle&) override {
    if (done_) return false;
    weights_ = fit_without_privacy(objective_, {.ridge = ridge_});
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
  bool done_ = false;
  std::vector<double> weights_;
};

}  // namespace

std::unique_ptr<Method> make_fit_without_privacy(Objective& objective, const WithoutPrivacy& options) {
  return std::make_unique<FitWithoutPrivacy>(objective, options.ridge);
}

}  // namespace ration
