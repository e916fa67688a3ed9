#include "methods/auto/label_mean.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "methods/saved_state.h"
#include "ration/clipping/abadi.h"
#include "ration/objectives/row_view.h"

namespace ration {
namespace {

constexpr std::string_view kName = "auto";
constexpr double kMiddle = 0.5;

class LabelMean final : public Method {
 public:
  LabelMean(std::size_t columns, double noise) : columns_(columns), noise_(noise) {
    require(kName, "columns", static_cast<double>(columns), at_least(1));
    require(kName, "noise", noise, greater_than(0));
  }

  bool step(PrivateOracle& oracle) override {
    if (report_.step > 0) return false;
    const std::vector<std::size_t> bias_alone{columns_ - 1};
    oracle.look_through(std::make_shared<const RowView>(columns_, bias_alone, 1, std::vector<double>{1}));
    const GradientQuery query{.clip = Abadi{kMiddle}, .noise_multiplier = noise_};
    std::array<double, 1> gradient;
    if (!oracle.gradient(std::array{kMiddle}, query, gradient)) return false;
    mean_ = std::clamp(kMiddle - gradient[0], 0.0, 1.0);
    report_ = {.step = 1, .noise_stddev = oracle.gradient_stddev(query)};
    return true;
  }
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    out.back() = mean_;
  }

  MethodState save() const override {
    return {{"step", {static_cast<double>(report_.step)}}, {"mean", {mean_}}};
  }
  void restore(const MethodState& state) override {
    mean_ = methods::saved_number(state, kName, "mean", at_least(0).at_most(1));
    report_ = {.step = static_cast<std::int64_t>(
                   methods::saved_number(state, kName, "step", at_least(0).at_most(1)))};
  }

 private:
  std::size_t columns_;
  double noise_;
  double mean_ = kMiddle;
  StepReport report_;
};

}  // namespace

std::unique_ptr<Method> make_label_mean(std::size_t columns, double noise) {
  return std::make_unique<LabelMean>(columns, noise);
}

}  // namespace ration
