#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ration/data/schema.h"

namespace ration::data {

// "2026-11-18", "18.11.2026", "11/18/2026" or "18/11/2026", with or without a time of day.
bool is_date(std::string_view text);

// A column of a PUBLIC sample: what it has shown so far, and what a draft makes of it.
//
// A number    if every value is one; its bounds are those of the sample, a missing one is filled with the
//             median. None below 0 and the largest at least kSkew times the median (counted as 1 if it is
//             less): scale = "log".
// A category  texts, at most kMostCategories of them; also whole numbers without a sign of which one has a
//             leading zero, which are codes.
// Left out    dates, more texts than that, and whole numbers that name rows.
class SampledColumn {
 public:
  static constexpr std::size_t kMostCategories = 200;
  static constexpr std::size_t kMostNumericClasses = 20;
  static constexpr double kSkew = 20;

  // `missing` collects the marks of missing values.
  void add(std::string_view text, std::set<std::string>& missing);

  struct Draft {
    Column column;
    std::string remarks;  // comments of TOML, one line for each decision
  };
  Draft draft(const std::string& name, bool is_target) const;

 private:
  void note_number(std::string_view text);
  bool is_numeric() const { return numeric_ && !is_code() && !texts_.empty(); }
  bool is_code() const { return digits_ && leading_zero_; }
  bool numbers_rows(const std::string& name) const;
  double median() const;
  Draft draft_number(Draft draft, bool is_target) const;
  Draft draft_category(Draft draft, bool is_target) const;

  bool numeric_ = true;
  bool whole_ = true;
  bool digits_ = true;
  bool leading_zero_ = false;
  bool dates_ = true;
  bool repeats_ = false;  // among the first kMostCategories different ones
  bool has_missing_ = false;
  std::uint64_t values_ = 0;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  std::vector<double> numbers_;  // as long as all are numbers
  std::set<std::string> texts_;
};

}  // namespace ration::data
