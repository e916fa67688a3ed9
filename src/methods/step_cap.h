#pragma once

#include <algorithm>
#include <cstdint>

namespace ration::methods {

// The largest step a search tries. Every `period` steps it follows what was chosen in them: factor times the
// largest of those, so that searches do not start far above what is ever chosen.
//
// Guarantee   post-processing: it looks at nothing but steps that were released.
class StepCap {
 public:
  StepCap(double first, double factor, std::int64_t period)
      : value_(first), factor_(factor), period_(period) {}

  double value() const { return value_; }
  std::int64_t seen() const { return seen_; }
  double largest() const { return largest_; }

  // After each step. The cap never exceeds `most`.
  void add(double chosen, double most) {
    largest_ = std::max(largest_, chosen);
    if (++seen_ < period_) return;
    restore(std::min(factor_ * largest_, most), 0, 0);
  }

  void restore(double value, std::int64_t seen, double largest) {
    value_ = value;
    seen_ = seen;
    largest_ = largest;
  }

 private:
  double value_;
  double factor_;
  std::int64_t period_;
  std::int64_t seen_ = 0;  // steps since it last moved
  double largest_ = 0;     // of those
};

}  // namespace ration::methods
