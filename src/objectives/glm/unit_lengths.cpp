#include "objectives/glm/unit_lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "objectives/glm/seen_rows.h"

namespace ration {
namespace {

constexpr std::size_t kUnitsOfABlock = 256;
constexpr double kUlp = std::numeric_limits<double>::epsilon();  // 2 u
constexpr double kShortest = 0x1p-400;
constexpr double kLongest = 0x1p400;

double dot(const double* a, const double* b, std::size_t count) {
  double even = 0;
  double odd = 0;
  std::size_t k = 0;
  for (; k + 1 < count; k += 2) {
    even += a[k] * b[k];
    odd += a[k + 1] * b[k + 1];
  }
  return k < count ? even + odd + a[k] * b[k] : even + odd;
}

// sum_ij t_i t_j e_ij of an upper triangle.
double squared_sum(const double* cosine, const double* shares, std::size_t size) {
  double square = 0;
  for (std::size_t i = 0; i < size; cosine += size - i, ++i) {
    const double with_later = dot(cosine + 1, shares + i + 1, size - i - 1);
    square += shares[i] * (cosine[0] * shares[i] + 2 * with_later);
  }
  return square;
}

// The same of <t_i, t_j>.
double squared_sum(const double* cosine, const double* shares, std::size_t size, std::size_t outputs) {
  double square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double with_later = 0;
    const double with_itself = *cosine++ * dot(shares + i * outputs, shares + i * outputs, outputs);
    for (std::size_t j = i + 1; j < size; ++j)
      with_later += *cosine++ * dot(shares + i * outputs, shares + j * outputs, outputs);
    square += with_itself + 2 * with_later;
  }
  return square;
}

// What is computed with of a row, in `numbers` places.
void spread(const Rows& rows, std::size_t row, const RowView* view, double scale, double* out,
            std::size_t numbers) {
  std::fill(out, out + numbers, 0.0);
  rows.for_each_entry(row, [&](std::size_t column, double value) {
    if (view == nullptr) {
      out[column] = value * scale;
      return;
    }
    const std::int32_t place = view->place(column);
    if (place == RowView::kUnused || value == 0) return;
    const std::span<const double> of_column = view->column_at(place);
    for (std::size_t k = 0; k < numbers; ++k) out[k] += value * scale * of_column[k];
  });
}

}  // namespace

UnitLengths::UnitLengths(const Rows& rows, const Units& units, std::span<const double> norms,
                         const RowView* view, std::size_t threads)
    : rows_(rows), units_(units), norms_(norms) {
  const std::size_t columns = std::max(rows.columns(), view == nullptr ? 0 : view->coordinates());
  slack_per_column_ = static_cast<double>(columns + 64) * kUlp;
  seen_slack_ = view == nullptr ? 0
                                : static_cast<double>(rows.columns() + 2) * kUlp * view->size() *
                                      usual_length(rows.columns()) * (1 + slack_per_column_);
  offsets_.assign(units.count() + 1, 0);
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    const std::size_t size = units.size(unit);
    offsets_[unit + 1] = offsets_[unit] + (size > 1 ? triangle_size(size) : 0);
  }
  cosines_.resize(offsets_.back());
  const std::size_t blocks = (units.count() + kUnitsOfABlock - 1) / kUnitsOfABlock;
  for_each_block(blocks, threads, [&](std::size_t block) {
    std::vector<double> seen;
    const std::size_t end = std::min(units.count(), (block + 1) * kUnitsOfABlock);
    for (std::size_t unit = block * kUnitsOfABlock; unit < end; ++unit) fill(unit, view, seen);
  });
}

bool UnitLengths::counts(std::size_t row) const {
  return norms_[row] >= kShortest && norms_[row] <= kLongest;
}

// Rows are divided by their norms first, so that nothing overflows. Products with rows that do not count are
// 0.
void UnitLengths::fill(std::size_t unit, const RowView* view, std::vector<double>& seen) {
  const std::size_t size = units_.size(unit);
  if (size < 2) return;
  const std::size_t numbers = view == nullptr ? rows_.columns() : view->coordinates();
  seen.resize(size * numbers);
  const std::size_t first = units_.first(unit);
  for (std::size_t i = 0; i < size; ++i) {
    if (counts(first + i))
      spread(rows_, first + i, view, 1 / norms_[first + i], seen.data() + i * numbers, numbers);
  }
  double* cosine = cosines_.data() + offsets_[unit];
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i; j < size; ++j, ++cosine) {
      const bool both = counts(first + i) && counts(first + j);
      *cosine = both ? dot(seen.data() + i * numbers, seen.data() + j * numbers, numbers) : 0.0;
    }
  }
}

// Rows that contribute nothing lose their slopes. The sum of the others' lengths.
double UnitLengths::leave_what_counts(std::size_t first, std::span<double> slopes, std::size_t outputs,
                                      std::span<const double> slope_norms) const {
  double all = 0;
  for (std::size_t i = 0; i < slope_norms.size(); ++i) {
    const double length = slope_norms[i] * norms_[first + i];
    if (counts(first + i) && std::isfinite(length)) {
      all += length;
    } else {
      std::fill_n(slopes.begin() + static_cast<std::ptrdiff_t>(i * outputs), outputs, 0.0);
    }
  }
  return all;
}

double UnitLengths::of(std::size_t unit, std::span<double> slopes, std::size_t outputs,
                       std::span<const double> slope_norms, std::vector<double>& shares) const {
  const std::size_t size = units_.size(unit);
  const std::size_t first = units_.first(unit);
  if (size == 0) return 0;
  if (size == 1) return slope_norms[0] * norms_[first];
  const double all = leave_what_counts(first, slopes, outputs, slope_norms);
  if (!(all > 0) || !std::isfinite(all)) return all;
  shares.resize(size * outputs);
  for (std::size_t i = 0, at = 0; i < size; ++i) {
    const double part = norms_[first + i] / all;
    const bool is_there = counts(first + i);
    for (std::size_t k = 0; k < outputs; ++k, ++at) shares[at] = is_there ? slopes[at] * part : 0;
  }
  const double* const cosines = cosines_.data() + offsets_[unit];
  const double square = outputs == 1 ? squared_sum(cosines, shares.data(), size)
                                     : squared_sum(cosines, shares.data(), size, outputs);
  const double slack = slack_per_column_ + static_cast<double>(size * size + outputs) * kUlp;
  const double of_sum = std::sqrt(std::max(0.0, square) + slack);
  return all * (std::max(of_sum, 1 / kMostCancelling) * (1 + slack) + seen_slack_);
}

double UnitLengths::sum_of_squares(std::size_t unit) const {
  const std::size_t size = units_.size(unit);
  const std::size_t first = units_.first(unit);
  if (size == 1) return norms_[first] * norms_[first];
  double sum = 0;
  for (std::size_t row = first; row < first + size; ++row) sum += counts(row) ? norms_[row] * norms_[row] : 0;
  return sum * (1 + static_cast<double>(size + 4) * kUlp);
}

}  // namespace ration
