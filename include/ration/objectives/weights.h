// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace ration {

// Numbers to be changed in place, in 64 bits or in 32.
using AnyNumbers = std::variant<std::span<double>, std::span<float>>;

// How many there are, of either kind.
inline std::size_t size_of(const AnyNumbers& numbers) {
  return std::visit([](auto chosen) { return chosen.size(); }, numbers);
}

// Weights in 32 bits: whoever holds them looks at the very numbers that the steps of a run move.
using FloatWeights = std::shared_ptr<const std::vector<float>>;

// Where an objective is to compute.
using AnyWeights = std::variant<std::span<const double>, FloatWeights>;

// The weights of a run, in 64 bits, or in 32 for an objective that computes in floats and needs no copy of
// its own then.
class Weights {
 public:
  // In which precision the weights are stored.
  enum class Kept { in_doubles, in_floats };

  // Begins at `values`, rounded if they are kept in floats.
  explicit Weights(std::vector<double> values, Kept kept = Kept::in_doubles);
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // How many there are.
  std::size_t size() const { return size_; }
  // All of them, as an objective takes them.
  AnyWeights all() const;
  // InputError, and nothing is changed, for another number of them.
  void copy_to(std::span<double> out) const;
  // Replaces all of them. InputError, and nothing is changed, for another number of them.
  void set(std::span<const double> values);

  // The coordinates from `first` on. Blocks that do not overlap may be changed by several threads at once.
  AnyNumbers block(std::size_t first, std::size_t count);

 private:
  void require_size(std::size_t size) const;

  std::size_t size_;
  std::vector<double> doubles_;
  std::shared_ptr<std::vector<float>> floats_;  // if not null, in place of doubles_
};

}  // namespace ration
