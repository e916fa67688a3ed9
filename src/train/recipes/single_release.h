#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ration/base/error.h"
#include "train/method_plan.h"

namespace ration {

// A method of one step that asks for one release with Gaussian noise.
class SingleRelease final : public FixedMethod {
 public:
  using Make = std::function<std::unique_ptr<Method>(double noise_multiplier, const ModelShape& model)>;

  // `releases`: for people (FixedMethod).
  SingleRelease(std::string settings, Make make, std::vector<PlannedRelease> releases = {})
      : settings_(std::move(settings)), make_(std::move(make)), releases_(std::move(releases)) {}

  std::int64_t steps() const override { return 1; }
  std::vector<CountedEvent> events(std::int64_t first_steps) const override {
    return {{Event::gaussian(noise_multiplier_), first_steps}};
  }
  void set_noise(double size) override { noise_multiplier_ = size; }
  std::unique_ptr<Method> make(const ModelShape& model, const StepsSoFar& so_far) const override {
    if (so_far.done < so_far.charged) throw InternalError("training: its only release is lost");
    return make_(noise_multiplier_, model);
  }
  std::string settings() const override { return settings_; }
  std::vector<PlannedRelease> releases() const override { return releases_; }

 private:
  std::string settings_;
  Make make_;
  std::vector<PlannedRelease> releases_;
  double noise_multiplier_ = 1;
};

}  // namespace ration
