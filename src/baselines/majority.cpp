#include "baselines/majority.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "baselines/one_release.h"
#include "ration/base/error.h"

namespace ration {
namespace {

class Majority final : public OneRelease {
 public:
  Majority(const MajorityOptions& options, std::size_t parameters)
      : OneRelease(parameters),
        options_(options),
        columns_(parameters / std::max<std::size_t>(1, options.outputs)) {
    require("majority", "noise_multiplier", options.noise_multiplier, greater_than(0));
    require("majority", "classes", static_cast<double>(options.classes), at_least(2));
    if (options.outputs != options.classes && !(options.outputs == 1 && options.classes == 2)) {
      throw InputError(
          fmt::format("majority: expected one output per class, or one for two classes, got {} for {}",
                      options.outputs, options.classes));
    }
    if (options.bias_column >= columns_) {
      throw InputError(fmt::format("majority: expected bias_column < {}, got bias_column={}", columns_,
                                   options.bias_column));
    }
  }

 private:
  bool release(PrivateOracle& oracle, std::span<double> w, StepReport& report) override {
    std::vector<double> counts(options_.classes);
    if (!oracle.label_counts({.noise_multiplier = options_.noise_multiplier}, counts)) return false;
    for (double& count : counts) count = std::log(std::max(1.0, count));
    std::fill(w.begin(), w.end(), 0.0);
    if (options_.outputs == 1) {
      w[options_.bias_column] = counts[1] - counts[0];
    } else {
      for (std::size_t k = 0; k < counts.size(); ++k) w[k * columns_ + options_.bias_column] = counts[k];
    }
    report.noise_stddev = options_.noise_multiplier;
    return true;
  }

  MajorityOptions options_;
  std::size_t columns_;
};

}  // namespace

std::unique_ptr<Method> make_majority(const MajorityOptions& options, std::size_t parameters) {
  return std::make_unique<Majority>(options, parameters);
}

Event majority_event(double noise_multiplier) {
  return LabelCountsQuery{.noise_multiplier = noise_multiplier}.event();
}

}  // namespace ration
