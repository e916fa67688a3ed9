#include "steps/averaging.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "steps/bias.h"
#include "steps/saved_state.h"

namespace ration {
namespace {

constexpr std::size_t kShared = 1;  // numbers of a saved state before the average

}  // namespace

double usual_average_decay(std::int64_t steps) {
  return std::max(0.0, 1 - 10 / static_cast<double>(std::max<std::int64_t>(1, steps)));
}

IterateAverage::IterateAverage(const AverageOptions& options, std::size_t parameters,
                               std::int64_t total_steps)
    : options_(options),
      total_steps_(total_steps),
      parameters_(parameters),
      average_(options.kind == Averaging::none ? 0 : parameters) {
  require("average", "decay", options.decay, at_least(0).less_than(1));
  require("average", "parameters", static_cast<double>(parameters), at_least(1));
  if (options.kind == Averaging::half) {
    require("average", "total_steps", static_cast<double>(total_steps), at_least(1));
  }
}

// The first weighs 1: the average so far does not count.
double IterateAverage::weight_of_newest() const {
  if (options_.kind == Averaging::half) return 1 / static_cast<double>(averaged_);
  return (1 - options_.decay) / steps::total_weight(options_.decay, averaged_);
}

void IterateAverage::begin(std::int64_t step) {
  require("average", "step", static_cast<double>(step), at_least(1));
  const bool first_half = options_.kind == Averaging::half && step <= total_steps_ / 2;
  if (options_.kind == Averaging::none || first_half) return;
  ++averaged_;
  weight_ = averaged_ == 1 ? 1 : weight_of_newest();
}

template <class Number>
void IterateAverage::add_numbers(std::size_t first, std::span<const Number> w) {
  if (averaged_ == 0) return;
  double* const average = average_.data() + first;
  const double weight = weight_;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const auto newest = static_cast<double>(w[i]);
    average[i] = weight == 1 ? newest : average[i] + weight * (newest - average[i]);
  }
}

void IterateAverage::add_block(std::size_t first, std::span<const double> w) {
  add_numbers(first, w);
}

void IterateAverage::add_block(std::size_t first, std::span<const float> w) {
  add_numbers(first, w);
}

void IterateAverage::expect_block(std::size_t first, std::size_t count, Ahead& ahead) const {
  if (averaged_ > 0) ahead.want(std::span(average_).subspan(first, count));
}

void IterateAverage::add(std::int64_t step, std::span<const double> w) {
  steps::require_size("average", "an iterate", w.size(), parameters_);
  begin(step);
  add_block(0, w);
}

void IterateAverage::result(std::span<const double> last, std::span<double> out) const {
  steps::require_size("average", "an iterate", last.size(), parameters_);
  steps::require_size("average", "a result", out.size(), parameters_);
  const std::span<const double> from = averaged_ == 0 ? last : average_;
  if (from.data() != out.data()) std::ranges::copy(from, out.begin());
}

std::vector<double> IterateAverage::save() const {
  std::vector<double> state = {static_cast<double>(averaged_)};
  state.insert(state.end(), average_.begin(), average_.end());
  return state;
}

void IterateAverage::restore(std::span<const double> state) {
  steps::require_size("average", "a saved state", state.size(), kShared + average_.size());
  averaged_ = steps::saved_count("average", state[0]);
  std::ranges::copy(state.subspan(kShared), average_.begin());
}

}  // namespace ration
