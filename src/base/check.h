#pragma once

#include <limits>
#include <string>
#include <string_view>

namespace ration {

// The values a parameter may take, written the way the error message prints it:
//
//   require("Poisson", "rate", rate, greater_than(0).at_most(1));
//   -> Poisson: expected 0 < rate <= 1, got rate=1.5
//
// NaN and infinity lie in no interval.
class Interval {
 public:
  constexpr Interval less_than(double bound) const { return {low_, low_open_, bound, true}; }
  constexpr Interval at_most(double bound) const { return {low_, low_open_, bound, false}; }
  bool contains(double value) const;
  // "0 < rate <= 1"
  std::string describe(std::string_view name) const;

 private:
  friend constexpr Interval greater_than(double bound);
  friend constexpr Interval at_least(double bound);
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();

  constexpr Interval(double low, bool low_open, double high, bool high_open)
      : low_(low), high_(high), low_open_(low_open), high_open_(high_open) {}

  double low_;
  double high_;
  bool low_open_;
  bool high_open_;
};

constexpr Interval greater_than(double bound) {
  return {bound, true, Interval::kUnbounded, true};
}
constexpr Interval at_least(double bound) {
  return {bound, false, Interval::kUnbounded, true};
}

// Throws InputError unless the value lies in the interval; returns the value, so that it can initialise a
// member.
double require(std::string_view where, std::string_view name, double value, const Interval& allowed);

// A number as people write it: the shortest form that reads back as the same double.
std::string show(double value);

// Six significant digits, rounded against us: what people read is never better than what was computed.
std::string show_rounded_up(double value);
std::string show_rounded_down(double value);

}  // namespace ration
