#include "ration/objectives/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ration/base/error.h"

namespace ration {

Weights::Weights(std::vector<double> values, Kept kept) : size_(values.size()) {
  if (kept == Kept::in_doubles) {
    doubles_ = std::move(values);
  } else {
    floats_ = std::make_shared<std::vector<float>>(size_);
    set(values);
  }
}

AnyWeights Weights::all() const {
  if (floats_) return FloatWeights(floats_);
  return std::span<const double>(doubles_);
}

void Weights::require_size(std::size_t size) const {
  if (size != size_) throw InputError(fmt::format("weights: expected {} numbers, got {}", size_, size));
}

void Weights::copy_to(std::span<double> out) const {
  require_size(out.size());
  if (floats_) {
    std::ranges::copy(*floats_, out.begin());
  } else {
    std::ranges::copy(doubles_, out.begin());
  }
}

void Weights::set(std::span<const double> values) {
  require_size(values.size());
  if (floats_) {
    std::ranges::transform(values, floats_->begin(), [](double value) { return static_cast<float>(value); });
  } else {
    std::ranges::copy(values, doubles_.begin());
  }
}

AnyNumbers Weights::block(std::size_t first, std::size_t count) {
  if (floats_) return std::span(*floats_).subspan(first, count);
  return std::span(doubles_).subspan(first, count);
}

}  // namespace ration
