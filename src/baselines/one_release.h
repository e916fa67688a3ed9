#pragma once

#include <span>
#include <vector>

#include "methods/method.h"

namespace ration {

// A method that asks one question and is done.
class OneRelease : public Method {
 public:
  bool step(PrivateOracle& oracle) final;
  StepReport report() const final { return report_; }
  void weights(std::span<double> out) const final;
  MethodState save() const final;
  void restore(const MethodState& state) final;

 protected:
  explicit OneRelease(std::size_t parameters) : w_(parameters, 0.0) {}

 private:
  // False, and nothing has changed, if the budget refuses.
  virtual bool release(PrivateOracle& oracle, std::span<double> w, StepReport& report) = 0;

  bool done_ = false;
  std::vector<double> w_;
  StepReport report_;
};

}  // namespace ration
