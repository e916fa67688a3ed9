#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ration {

// An amount of epsilon or delta as people write it, so that sums are exact: a whole number of 1e-30, below
// 1e8.
//
// Why not doubles   ten times 0.1 is 1 for the person who set the budget, but not for doubles, whatever the
//                   rounding.
// Reading a double  its shortest decimal form that reads back as the same double: 0.1 is one tenth. That form
//                   and the double differ by at most one part in 2^53, once per amount and not per addition,
//                   so the total of any number of runs is off by that part at most; accountants round up by
//                   far more (1e-14 and above).
// Rounding          digits below 1e-30 are rounded up in what is spent and down in what may be spent.
class DecimalAmount {
 public:
  static constexpr double kLimit = 1e8;

  DecimalAmount() = default;
  // For 0 <= value < kLimit; InternalError otherwise, so validate before.
  static DecimalAmount rounded_up(double value);
  static DecimalAmount rounded_down(double value);
  // Exactly what to_text() wrote; nullopt for anything else.
  static std::optional<DecimalAmount> from_text(std::string_view text);

  std::string to_text() const;
  // The largest double that, rounded up, is not above this amount: asking for all that is left must fit.
  double largest_double() const;
  // The smallest double that, rounded down, is not below this amount: what was spent is never understated.
  double smallest_double() const;

  // Stays at the largest amount where it would overflow, which no budget reaches.
  friend DecimalAmount operator+(DecimalAmount a, DecimalAmount b) {
    Units sum = 0;
    return DecimalAmount(__builtin_add_overflow(a.units_, b.units_, &sum) ? ~Units{0} : sum);
  }
  // a - b, or zero if b is larger.
  friend DecimalAmount minus_at_least_zero(DecimalAmount a, DecimalAmount b) {
    return DecimalAmount(a.units_ > b.units_ ? a.units_ - b.units_ : 0);
  }
  friend bool operator==(DecimalAmount a, DecimalAmount b) { return a.units_ == b.units_; }
  friend bool operator<(DecimalAmount a, DecimalAmount b) { return a.units_ < b.units_; }
  friend bool operator<=(DecimalAmount a, DecimalAmount b) { return a.units_ <= b.units_; }

 private:
  __extension__ using Units = unsigned __int128;
  double nearest_double() const;
  explicit DecimalAmount(Units units) : units_(units) {}

  Units units_ = 0;
};

}  // namespace ration
