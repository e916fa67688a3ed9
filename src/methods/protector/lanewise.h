#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace ration::protector {

// Coordinates are worked on side by side, this many at once.
inline constexpr std::size_t kLanes = 16;

// Memory in which a block of lanes shares no cache line with another.
template <class Number>
struct LaneAllocator {
  using value_type = Number;
  static constexpr std::align_val_t kLine{64};

  LaneAllocator() = default;
  template <class Other>
  LaneAllocator(const LaneAllocator<Other>&) {}
  Number* allocate(std::size_t count) {
    return static_cast<Number*>(::operator new(count * sizeof(Number), kLine));
  }
  void deallocate(Number* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LaneAllocator&) const = default;
};
template <class Number>
using LaneMemory = std::vector<Number, LaneAllocator<Number>>;

// A few features of many coordinates. Those of kLanes coordinates lie together, feature by feature, so that a
// block of coordinates is a few lines of memory. What is missing to whole lanes is zeros.
template <class Number>
class Lanewise {
 public:
  Lanewise() = default;
  Lanewise(std::size_t features, std::size_t coordinates)
      : features_(features),
        coordinates_(coordinates),
        blocks_((coordinates + kLanes - 1) / kLanes),
        values_(features * blocks_ * kLanes, Number{0}) {}

  std::size_t features() const { return features_; }
  std::size_t coordinates() const { return coordinates_; }
  std::size_t blocks() const { return blocks_; }

  Number& at(std::size_t feature, std::size_t coordinate) {
    return lanes(feature, coordinate / kLanes)[coordinate % kLanes];
  }
  Number at(std::size_t feature, std::size_t coordinate) const {
    return lanes(feature, coordinate / kLanes)[coordinate % kLanes];
  }
  Number* lanes(std::size_t feature, std::size_t block) {
    return values_.data() + (block * features_ + feature) * kLanes;
  }
  const Number* lanes(std::size_t feature, std::size_t block) const {
    return values_.data() + (block * features_ + feature) * kLanes;
  }

  std::span<const Number> values() const { return values_; }
  std::span<Number> values() { return values_; }

 private:
  std::size_t features_ = 0;
  std::size_t coordinates_ = 0;
  std::size_t blocks_ = 0;
  LaneMemory<Number> values_;
};

}  // namespace ration::protector
