#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace ration::fuzz {

// Draws values out of an input, byte by byte from its beginning, so that a small change of the input changes
// one value. At its end everything drawn is 0. (libFuzzer's FuzzedDataProvider comes with clang alone.)
class Draw {
 public:
  Draw(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  bool is_empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  std::uint64_t word(int bytes) {
    std::uint64_t out = 0;
    for (int i = 0; i < bytes; ++i) out = out << 8 | byte();
    return out;
  }
  bool flag() { return (byte() & 1) != 0; }
  // In [0, n), n <= 2^16.
  std::size_t below(std::size_t n) { return (n <= 256 ? byte() : word(2)) % n; }
  // In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  // In [low, high], even in its logarithm; 0 < low.
  double log_uniform(double low, double high) {
    return std::min(high, low * std::pow(high / low, static_cast<double>(word(2)) / 65535));
  }
  // In [low, high].
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(word(2)) / 65535;
  }
  // One of the list.
  template <class T>
  const T& of(std::span<const T> list) {
    return list[below(list.size())];
  }
  // Whatever a double can be: a small number, an extreme one, or any bits at all.
  double any_double() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kExtremes[] = {0.0,    -0.0,      1,          -1,
                                    1e300,  -1e300,    1e160,      1e8,
                                    1e-160, -1e-300,   5e-324,     1e-12,
                                    1e15,   kInfinity, -kInfinity, 0x1p-1022,
                                    1e20,   3.5e38,    0x1p1023,   1e-9,
                                    2,      0.5,       -0.5,       1e4,
                                    -1e4,   0x1p53,    1e-5,       0x1p-53,
                                    255,    -255,      1e30,       std::numeric_limits<double>::quiet_NaN()};
    switch (byte() % 4) {
      case 0:
        return std::bit_cast<double>(word(8));
      case 1:
        return of<double>(kExtremes);
      default:
        return uniform(-4, 4);
    }
  }
  // Everything that is left.
  std::string_view rest() {
    const std::string_view text(reinterpret_cast<const char*>(left_.data()), left_.size());
    left_ = {};
    return text;
  }
  // So many of the bytes that are left, or all.
  std::string_view take(std::size_t count) {
    const std::size_t length = std::min(count, left_.size());
    const std::string_view text(reinterpret_cast<const char*>(left_.data()), length);
    left_ = left_.subspan(length);
    return text;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace ration::fuzz
