#include "ration/steps/averaging.h"

#include <algorithm>
#include <array>

#include "ration/base/check.h"
#include "steps/bias.h"
#include "steps/names.h"
#include "steps/saved_state.h"

namespace ration {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"none", "half", "exponential"};
constexpr std::size_t kShared = 2;  // numbers of a saved state before the average

}  // namespace

std::string_view to_string(Averaging kind) {
  return steps::name_of(kind, kNames);
}

Averaging averaging_named(std::string_view name) {
  return steps::value_named<Averaging>("average", name, kNames);
}

IterateAverage::IterateAverage(const AverageOptions& options, std::size_t parameters,
                               std::int64_t total_steps)
    : options_(options), total_steps_(total_steps), average_(parameters) {
  require("average", "decay", options.decay, at_least(0).less_than(1));
  require("average", "parameters", static_cast<double>(parameters), at_least(1));
  if (options.kind == Averaging::half) {
    require("average", "total_steps", static_cast<double>(total_steps), at_least(1));
  }
}

// 1 means: the average so far does not count.
double IterateAverage::weight_of_next() const {
  if (options_.kind == Averaging::half) return 1 / static_cast<double>(averaged_ + 1);
  if (options_.kind == Averaging::none) return 1;
  return (1 - options_.decay) / steps::total_weight(options_.decay, averaged_ + 1);
}

void IterateAverage::add(std::int64_t step, std::span<const double> w) {
  require("average", "step", static_cast<double>(step), at_least(1));
  steps::require_size("average", "an iterate", w.size(), average_.size());
  const bool first_half = options_.kind == Averaging::half && step <= total_steps_ / 2;
  const double weight = first_half || averaged_ == 0 ? 1 : weight_of_next();
  for (std::size_t i = 0; i < w.size(); ++i) {
    average_[i] = weight == 1 ? w[i] : average_[i] + weight * (w[i] - average_[i]);
  }
  if (!first_half) ++averaged_;
  empty_ = false;
}

void IterateAverage::result(std::span<double> out) const {
  steps::require_size("average", "a result", out.size(), average_.size());
  if (!empty_) std::copy(average_.begin(), average_.end(), out.begin());
}

std::vector<double> IterateAverage::save() const {
  std::vector<double> state = {empty_ ? 0.0 : 1.0, static_cast<double>(averaged_)};
  state.insert(state.end(), average_.begin(), average_.end());
  return state;
}

void IterateAverage::restore(std::span<const double> state) {
  steps::require_size("average", "a saved state", state.size(), kShared + average_.size());
  const std::int64_t averaged = steps::saved_count("average", state[1]);
  empty_ = steps::saved_count("average", state[0]) == 0;
  averaged_ = averaged;
  std::ranges::copy(state.subspan(kShared), average_.begin());
}

}  // namespace ration
