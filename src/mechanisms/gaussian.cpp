#include "mechanisms/gaussian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/distributions.h"
#include "base/per_processor.h"
#include "mechanisms/sensitivity.h"

namespace ration {
namespace {

constexpr std::string_view kName = "GaussianMechanism";
constexpr std::size_t kChunk = 1024;  // of noise, which stays in the first cache

GaussianOptions validated(const GaussianOptions& options) {
  require(kName, "sensitivity", options.sensitivity, greater_than(0));
  require(kName, "noise_multiplier", options.noise_multiplier, greater_than(0));
  return options;
}

// Whether no NaN and no value beyond `most` is among them, found in as many at once as a vector holds.
template <class Number>
RATION_INLINE bool all_within(const Number* values, std::size_t count, double most) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<Number>::max());
  const auto limit = static_cast<Number>(std::min(most, kLargest));
  Bits others = 0;
  for (std::size_t i = 0; i < count; ++i) others |= std::fabs(values[i]) <= limit ? Bits{0} : Bits{1};
  return others == 0;
}

// Noise in whole steps. `released` may be `values` itself.
template <class Number>
RATION_INLINE void add_on_grid(const Number* values, const double* noise, std::size_t count,
                               const Grid& on_grid, double unit, double* released) {
  const Grid grid = on_grid;  // a copy that no store can change
  if (all_within(values, count, grid.most_ordinary())) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) {
      released[i] = grid.steps_of_ordinary(static_cast<double>(values[i]), noise[i]) * unit;
    }
    return;
  }
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    released[i] = grid.steps_of_both(static_cast<double>(values[i]), noise[i]) * unit;
  }
}

// The noise of doubles, which may be released in their own place, is drawn into a buffer; that of floats
// where it is released.
template <class Number>
void release_in_chunks(std::span<const Number> part, double noise_steps, const Grid& grid, double factor,
                       RandomSource& random, std::span<double> released, const Ahead* ahead) {
  constexpr bool kInPlace = std::is_same_v<Number, float>;
  alignas(64) std::array<double, kInPlace ? 1 : kChunk> buffer;
  for (std::size_t done = 0; done < part.size(); done += kChunk) {
    const std::size_t count = std::min(part.size() - done, kChunk);
    const auto out = released.subspan(done, count);
    const auto noise = kInPlace ? out : std::span(buffer).first(count);
    fill_rounded_gaussian(random, noise, noise_steps, done == 0 && ahead != nullptr ? *ahead : Ahead{});
    PerProcessor<add_on_grid<Number>>::call(part.data() + done, noise.data(), count, grid,
                                            factor * grid.step(), out.data());
  }
}

}  // namespace

GaussianMechanism::GaussianMechanism(const GaussianOptions& options)
    : options_(validated(options)),
      grid_(kName, options.sensitivity, options.sensitivity * options.noise_multiplier) {}

double GaussianMechanism::stddev(std::size_t dimension) const {
  return noise_with_drift(options_.noise_multiplier, options_.sensitivity, l2_drift(grid_, dimension));
}

double GaussianMechanism::stddev_in_steps(std::size_t dimension) const {
  return require(kName, "noise in steps of the grid", stddev(dimension) * grid_.steps_per_unit(),
                 greater_than(0).at_most(0x1p45));
}

void GaussianMechanism::add_noise(std::span<double> sum, RandomSource& random) const {
  release_part(sum, sum.size(), 1, random, sum);
}

void GaussianMechanism::release_part(std::span<const double> part, std::size_t dimension, double factor,
                                     RandomSource& random, std::span<double> released,
                                     const Ahead* ahead) const {
  release_in_chunks(part, stddev_in_steps(dimension), grid_, factor, random, released, ahead);
}

void GaussianMechanism::release_part(std::span<const float> part, std::size_t dimension, double factor,
                                     RandomSource& random, std::span<double> released,
                                     const Ahead* ahead) const {
  release_in_chunks(part, stddev_in_steps(dimension), grid_, factor, random, released, ahead);
}

}  // namespace ration
