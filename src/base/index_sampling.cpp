#include "base/index_sampling.h"

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <numeric>

#include "base/check.h"
#include "base/distributions.h"
#include "base/geometric_gaps.h"

namespace ration {
namespace {

constexpr double kLargestRows = 0x1p53;  // every row number is a double

// Draws as many rows as are missing, forgets repeated ones, and again, until none is missing. No row is
// treated differently from another and the size is fixed, so every set is equally likely. Fast while size <=
// rows / 2.
void draw_distinct(RandomSource& random, std::uint64_t rows, std::uint64_t size,
                   std::vector<std::uint64_t>& out) {
  out.clear();
  while (out.size() < size) {
    const auto sorted = static_cast<std::ptrdiff_t>(out.size());
    while (out.size() < size) out.push_back(uniform_below(random, rows));
    boost::sort::spreadsort::integer_sort(out.begin() + sorted, out.end());
    std::inplace_merge(out.begin(), out.begin() + sorted, out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }
}

// Replaces the sorted rows in `out` by all the others.
void complement(std::uint64_t rows, std::vector<std::uint64_t>& out) {
  const std::size_t excluded = out.size();
  const std::size_t kept = static_cast<std::size_t>(rows) - excluded;
  out.resize(static_cast<std::size_t>(rows));
  std::copy_backward(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(excluded), out.end());
  std::size_t written = 0;
  std::size_t next_excluded = kept;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const bool skip = next_excluded < out.size() && out[next_excluded] == row;
    if (skip) {
      ++next_excluded;
    } else {
      out[written++] = row;
    }
  }
  out.resize(kept);
}

void all_rows(std::uint64_t rows, std::vector<std::uint64_t>& out) {
  out.resize(static_cast<std::size_t>(rows));
  std::iota(out.begin(), out.end(), std::uint64_t{0});
}

}  // namespace

void sample_poisson(RandomSource& random, std::uint64_t rows, double rate, std::vector<std::uint64_t>& out) {
  const double end =
      require("sample_poisson", "rows", static_cast<double>(rows), at_least(0).at_most(kLargestRows));
  require("sample_poisson", "rate", rate, at_least(0).at_most(1));
  if (rate == 1) return all_rows(rows, out);
  out.clear();
  if (rate == 0) return;
  GeometricGaps gaps(random, rate, end);
  for (double row = gaps.next(); row < end; row += 1 + gaps.next()) {
    out.push_back(static_cast<std::uint64_t>(row));  // exact: a sum that rounds is beyond the end
  }
}

void sample_subset(RandomSource& random, std::uint64_t rows, std::uint64_t size,
                   std::vector<std::uint64_t>& out) {
  const double end =
      require("sample_subset", "rows", static_cast<double>(rows), at_least(0).at_most(kLargestRows));
  require("sample_subset", "size", static_cast<double>(size), at_least(0).at_most(end));
  if (size <= rows / 2) return draw_distinct(random, rows, size, out);
  draw_distinct(random, rows, rows - size, out);
  complement(rows, out);
}

}  // namespace ration
