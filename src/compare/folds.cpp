#include "compare/folds.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ration::compare {
namespace {

// The finaliser of SplitMix64: a bijection, so that no two rows share a hash.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

Folds::Folds(std::size_t rows, std::size_t folds, std::size_t repeat) : folds_(folds), order_(rows) {
  require("folds", "folds", static_cast<double>(folds), at_least(2).at_most(static_cast<double>(rows)));
  const std::uint64_t salt = mix(repeat);
  std::vector<std::pair<std::uint64_t, std::size_t>> hashed(rows);
  for (std::size_t row = 0; row < rows; ++row) hashed[row] = {mix(salt ^ row), row};
  std::sort(hashed.begin(), hashed.end());
  std::transform(hashed.begin(), hashed.end(), order_.begin(), [](const auto& pair) { return pair.second; });
}

std::size_t Folds::train_rows() const {
  const std::size_t largest_fold = (order_.size() + folds_ - 1) / folds_;
  return order_.size() - largest_fold;
}

Split Folds::split(std::size_t fold) const {
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(first_of(fold));
  const auto last = order_.begin() + static_cast<std::ptrdiff_t>(first_of(fold + 1));
  Split out{.train = {order_.begin(), first}, .test = {first, last}};
  out.train.insert(out.train.end(), last, order_.end());
  out.train.resize(train_rows());
  std::sort(out.train.begin(), out.train.end());
  std::sort(out.test.begin(), out.test.end());
  return out;
}

}  // namespace ration::compare
