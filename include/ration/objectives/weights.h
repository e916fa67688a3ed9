#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ration {

// The weights of a run, and a mark that is new whenever they may have been written and unlike any other of the process:
// equal marks are equal numbers, so that whoever keeps a copy in a format of its own need not read them again.
class Weights {
 public:
  static constexpr std::uint64_t kNoMark = 0;

  explicit Weights(std::vector<double> values) : values_(std::move(values)), mark_(new_mark()) {}
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  std::size_t size() const { return values_.size(); }
  const std::vector<double>& values() const { return values_; }
  std::uint64_t mark() const { return mark_; }
  // To write them, until the mark is asked for the next time.
  std::span<double> change() {
    mark_ = new_mark();
    return values_;
  }

 private:
  static std::uint64_t new_mark() {
    static std::atomic<std::uint64_t> last = kNoMark;
    return ++last;
  }

  std::vector<double> values_;
  std::uint64_t mark_;
};

}  // namespace ration
