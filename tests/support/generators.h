#pragma once

#include <rapidcheck.h>

#include <cmath>

namespace ration::testing {

// A number in [low, high], uniform in its logarithm; for RapidCheck properties. From the first case on it
// takes the whole range: RapidCheck would otherwise start at the low end and widen from case to case.
inline rc::Gen<double> log_uniform(double low, double high) {
  constexpr int kSteps = 1'000'000;
  return rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, kSteps + 1)),
                      [=](int i) { return low * std::pow(high / low, static_cast<double>(i) / kSteps); });
}

}  // namespace ration::testing
