#include "steps/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace ration {
namespace {

void require_count(std::string_view name, std::int64_t value, double least) {
  require("learning rate", name, static_cast<double>(value), at_least(least));
}

void check(const LearningRate& rate, std::int64_t step, std::int64_t total) {
  require("learning rate", "base", rate.base, greater_than(0));
  require_count("warm_up", rate.warm_up, 0);
  require_count("step", step, 1);
  if (rate.shape == RateShape::cosine) require_count("total", total, 1);
  if (rate.shape == RateShape::step) {
    require_count("drop_every", rate.drop_every, 1);
    require("learning rate", "drop_factor", rate.drop_factor, greater_than(0).less_than(1));
  }
}

// From 1 at the first of `steps` steps to 0 after the last of them; 0 also if there are none.
double cosine_share(std::int64_t done, std::int64_t steps) {
  if (done >= steps) return 0;
  return (1 + std::cos(std::numbers::pi * static_cast<double>(done) / static_cast<double>(steps))) / 2;
}

}  // namespace

double LearningRate::at(std::int64_t step, std::int64_t total) const {
  check(*this, step, total);
  if (step <= warm_up) return base * static_cast<double>(step) / (static_cast<double>(warm_up) + 1);
  const std::int64_t done = step - 1 - warm_up;
  if (shape == RateShape::cosine) return base * cosine_share(done, total - warm_up);
  if (shape == RateShape::step) return base * std::pow(drop_factor, static_cast<double>(done / drop_every));
  return base;
}

}  // namespace ration
