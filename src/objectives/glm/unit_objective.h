#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "objectives/glm/linear_objective.h"
#include "objectives/glm/seen_rows.h"
#include "objectives/glm/unit_lengths.h"
#include "ration/clipping/abadi.h"
#include "ration/data/units.h"
#include "ration/objectives/row_view.h"

namespace ration {

// A linear model whose batches number units (data/units.h) in place of rows; rows may be seen through a map.
// To whoever asks, a unit is what a row is elsewhere: every bound of clipping/sensitivity.h holds for all
// that a unit contributes, w_i being the weight of its rows:
//
//   gradients     f g, g = sum_i w_i g_i and f the rule's factor at |g| or more (unit_lengths.h): at most C.
//   To
//                 clip rows apart would leave a unit of k rows k C.
//   losses        sum_i w_i l_i, the sum clipped into [0, C]; rows whose loss is not finite count 0.
//   short norms   a unit counts 1 if its |g| is at most the bound.
//   labels        the shares of the classes among the unit's rows, a histogram that adds up to 1: its L1 and
//   L2
//                 norms are at most 1, and two of them are at most sqrt(2) apart. Rounded down to multiples
//                 of 2^-20, so that sums are exact.
//   sum of rows   f z, z = sum_i w_i z_i: at most C.
//   products      f^2 sum_i w_i z_i z_i^T, f = min(1, C / sqrt(sum_i w_i |z_i|^2)). The Frobenius norm of a
//   sum
//                 of products is at most the sum of squares, hence at most C^2; two of them are at most
//                 sqrt(2) C^2 apart, as the inner product of two positive matrices is not negative.
//
// Rounding    what a unit contributes depends on the unit, w and public facts alone. Its rows are added to
// sums
//             one by one, each of them perhaps longer than their sum, but all together no more than
//             kMostCancelling C long: as if there were so many times as many roundings (longest_chain).
// Cost        that of the rows, and k^2 / 2 products for a unit of k rows; nothing is formed for a unit.
// Edge cases  a row with a NaN, an infinity, or a norm beyond 2^-400 ... 2^400 contributes nothing, its
// unit's
//             others what they would without it. A unit of no rows contributes nothing. mean_loss() and
//             predict() are for rows that are public, and go by rows.
template <class Loss>
class UnitObjective final : public Objective {
 public:
  // Without a view, rows are seen as they are.
  UnitObjective(std::shared_ptr<const Rows> rows, std::shared_ptr<const Units> units,
                std::shared_ptr<const RowView> view, Loss loss, std::size_t threads)
      : rows_(fitting(std::move(rows), *units)),
        units_(std::move(units)),
        view_(std::move(view)),
        loss_(loss),
        threads_(thread_count(threads)),
        norms_(view_ ? norms_through(*rows_, *view_, threads_)
                     : std::vector<double>(rows_->norms().begin(), rows_->norms().end())),
        lengths_(*rows_, *units_, norms_, view_.get(), threads_),
        linear_(rows_, loss, threads),
        at_(linear_.parameters()),
        direction_(linear_.parameters()) {}

  std::size_t rows() const override { return units_->count(); }
  std::size_t parameters() const override {
    return (view_ ? view_->coordinates() : rows_->columns()) * loss_.outputs();
  }
  // Within a stretch, over the stretches, over the blocks; then through the map.
  std::uint64_t longest_chain(std::uint64_t units) const override {
    const std::uint64_t rows = units * units_->most_rows();
    const std::uint64_t added = std::min<std::uint64_t>(rows, kStretch + units_->most_rows() + kBundle) +
                                rows / kStretch + kMostBlocks + 4;
    return static_cast<std::uint64_t>(UnitLengths::kMostCancelling) * added +
           (view_ ? 2 * view_->columns() + 8 : 0);
  }
  double magnification() const override {
    return view_ ? std::max(1.0, view_->size() * usual_length(view_->columns())) : 1;
  }
  PublicFacts facts() const override {
    PublicFacts facts = linear_.facts();
    facts.row_norm_bound = PublicFacts::kUnknown;  // it would be a row's
    if (view_) facts.columns = view_->coordinates();
    return facts;
  }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override;
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override;
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override;
  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override;
  void label_counts(const Batch& batch, std::span<double> counts) const override;
  void shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) override;
  void second_moment_sum(const Batch& batch, double bound, std::span<double> upper) override;
  std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const override {
    require_size("columns of the map", view->columns(), rows_->columns());
    return std::make_unique<UnitObjective>(rows_, units_, std::move(view), loss_, threads_);
  }

  double mean_loss(Parameters w) override { return linear_.mean_loss(for_rows(w, at_)); }
  void predict(Parameters w, std::span<double> predictions) override {
    linear_.predict(for_rows(w, at_), predictions);
  }

 private:
  using Numbers = std::span<const std::uint64_t>;
  static constexpr bool kHasKernels = requires(const Loss& loss, std::span<double> outputs, double* labels) {
    to_slopes(loss, outputs, labels);
  };
  static constexpr std::size_t kBundle = 64;  // rows that are worked on together, unless a unit has more
  static constexpr std::size_t kStretch = 8192;
  static constexpr std::size_t kMostBlocks = 16;

  // A few units and all their rows.
  struct Bundle {
    Numbers units;
    std::vector<std::uint64_t> rows;
    std::vector<double> labels;
  };
  // What one block needs; factors and the like at [r * outputs + k], r the row's place in the bundle.
  struct Scratch {
    Bundle bundle, next;
    std::vector<double> factors, norms, shares, starts, directions;
    std::vector<std::uint64_t> kept;
    std::vector<double> sums, totals;

    void end_stretch() {
      for (std::size_t i = 0; i < sums.size(); ++i) totals[i] += std::exchange(sums[i], 0.0);
    }
  };

  static void require_size(const char* what, std::size_t size, std::size_t expected) {
    if (size == expected) return;
    throw InputError(fmt::format("units: expected {} {}, got {}", expected, what, size));
  }
  // Before anything is computed from both.
  static std::shared_ptr<const Rows> fitting(std::shared_ptr<const Rows> rows, const Units& units) {
    if (!rows) throw InputError("units: expected rows, got none");
    require_size("rows", rows->count(), units.rows());
    return rows;
  }
  void require_batch(const Batch& batch) const {
    if (batch.rows.empty() || batch.rows.back() < rows()) return;
    throw InputError(fmt::format("units: expected units below {}, got unit {}", rows(), batch.rows.back()));
  }
  // Weights for the rows as they are.
  Parameters for_rows(Parameters w, std::vector<double>& place) const {
    require_size("parameters", w.size(), parameters());
    if (!view_) return w;
    view_->weights_for_rows(w, place);
    return place;
  }
  // From a sum of rows as they are.
  void give(std::span<const double> of_rows, std::span<double> sum) const {
    if (view_) return view_->look(of_rows, sum);
    std::copy(of_rows.begin(), of_rows.end(), sum.begin());
  }

  // use(scratch, with a bundle) for all units, in bundles; the sums of blocks and stretches of them are added
  // up in `totals`. How they are cut depends on the batch's size alone.
  template <class Use>
  void for_each_bundle(const Batch& batch, std::span<double> totals, const Use& use);
  // The first few of these units; their rows are on their way from memory then.
  std::size_t next_bundle(Numbers units, Bundle& bundle) const;
  void take_labels(Bundle& bundle) const {
    bundle.labels.resize(bundle.rows.size());
    for (std::size_t r = 0; r < bundle.rows.size(); ++r) bundle.labels[r] = rows_->labels()[bundle.rows[r]];
  }
  // use(the unit, the place of its first row in the bundle, how many it has) for each unit of a bundle.
  template <class Use>
  void for_each_unit(const Bundle& bundle, const Use& use) const {
    std::size_t first = 0;
    for (const std::uint64_t unit : bundle.units) {
      const std::size_t size = units_->size(unit);
      if (size > 0) use(unit, first, size);
      first += size;
    }
  }
  // The bundle's factors become the slopes of its rows; and their norms.
  void find_slopes(Parameters w, Scratch& scratch) const;
  // Adds the rows, each times its factors, of which there are `outputs`.
  void add_rows(Scratch& scratch, std::size_t outputs) const;
  // Of a unit's factors and their norms: leaves what remains when their sum is clipped.
  template <ClipRule Rule>
  void clip_unit(const Rule& rule, std::uint64_t unit, std::span<double> factors, std::size_t outputs,
                 std::span<const double> norms, std::vector<double>& shares) const;
  double unit_loss(std::uint64_t unit, std::span<double> outputs, std::span<const double> labels,
                   double bound) const;
  // Of outputs in the bundle's factors, which are overwritten.
  void add_unit_losses(Scratch& scratch, double bound, double& sum) const;

  std::shared_ptr<const Rows> rows_;
  std::shared_ptr<const Units> units_;
  std::shared_ptr<const RowView> view_;  // null: rows are seen as they are
  Loss loss_;
  std::size_t threads_;
  std::vector<double> norms_;
  UnitLengths lengths_;
  LinearObjective<Loss> linear_;
  std::vector<double> at_, direction_, of_rows_;  // in the rows' own columns
  std::vector<Scratch> scratch_;
};

template <class Loss>
std::size_t UnitObjective<Loss>::next_bundle(Numbers units, Bundle& bundle) const {
  // Dense rows stay in the nearest cache between the two products, as in the linear objective's tiles.
  const std::size_t most = rows_->is_dense() ? kBundle / 4 : kBundle;
  std::size_t count = 0;
  std::size_t rows = 0;
  for (; count < units.size(); ++count) {
    const std::size_t size = units_->size(units[count]);
    if (count > 0 && rows + size > most) break;
    rows += size;
    lengths_.prefetch(units[count]);
  }
  bundle.units = units.first(count);
  bundle.rows.resize(rows);
  for_each_unit(bundle, [&](std::uint64_t unit, std::size_t first, std::size_t size) {
    std::iota(bundle.rows.begin() + static_cast<std::ptrdiff_t>(first),
              bundle.rows.begin() + static_cast<std::ptrdiff_t>(first + size), units_->first(unit));
  });
  prefetch_rows(*rows_, bundle.rows);
  return count;
}

template <class Loss>
template <class Use>
void UnitObjective<Loss>::for_each_bundle(const Batch& batch, std::span<double> totals, const Use& use) {
  require_batch(batch);
  const Numbers drawn = batch.rows;
  constexpr std::size_t kUnitsWorthAThread = 2048;
  const std::size_t blocks = std::clamp<std::size_t>(drawn.size() / kUnitsWorthAThread, 1, kMostBlocks);
  if (scratch_.size() < blocks) scratch_.resize(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    scratch_[block].sums.assign(totals.size(), 0.0);
    scratch_[block].totals.assign(totals.size(), 0.0);
  }
  for_each_block(blocks, threads_, [&](std::size_t block) {
    Scratch& scratch = scratch_[block];
    const std::size_t end = drawn.size() * (block + 1) / blocks;
    std::size_t rows_of_stretch = 0;
    std::size_t first = drawn.size() * block / blocks;
    first += next_bundle(drawn.subspan(first, end - first), scratch.next);
    while (!scratch.next.units.empty()) {
      std::swap(scratch.bundle, scratch.next);
      first += next_bundle(drawn.subspan(first, end - first), scratch.next);
      if (scratch.bundle.rows.empty()) continue;
      take_labels(scratch.bundle);
      use(scratch);
      rows_of_stretch += scratch.bundle.rows.size();
      if (rows_of_stretch < kStretch) continue;
      scratch.end_stretch();
      rows_of_stretch = 0;
    }
    scratch.end_stretch();
  });
  std::copy(scratch_[0].totals.begin(), scratch_[0].totals.end(), totals.begin());
  for (std::size_t block = 1; block < blocks; ++block) {
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += scratch_[block].totals[i];
  }
}

template <class Loss>
void UnitObjective<Loss>::find_slopes(Parameters w, Scratch& scratch) const {
  const std::size_t outputs = loss_.outputs();
  const std::size_t count = scratch.bundle.rows.size();
  scratch.factors.resize(count * outputs);
  scratch.norms.resize(count);
  multiply_rows(*rows_, scratch.bundle.rows, w, outputs, scratch.factors.data());
  const std::span<double> slopes = scratch.factors;
  if constexpr (kHasKernels) {
    to_slopes(loss_, slopes, scratch.bundle.labels.data());
    for (std::size_t r = 0; r < count; ++r) scratch.norms[r] = std::abs(slopes[r]);
  } else {
    for (std::size_t r = 0; r < count; ++r)
      scratch.norms[r] = loss_.to_slopes(slopes.subspan(r * outputs, outputs), scratch.bundle.labels[r]);
  }
}

// A factor that is not finite would leave the unit's sum longer than it was found to be, so the whole unit is
// left out then. So is a single row, which may be as long as it likes, if its slope has lost its digits
// (LinearObjective::add_clipped); rows of larger units are too short for that to count.
template <class Loss>
template <ClipRule Rule>
void UnitObjective<Loss>::clip_unit(const Rule& rule, std::uint64_t unit, std::span<double> factors,
                                    std::size_t outputs, std::span<const double> norms,
                                    std::vector<double>& shares) const {
  const double weight = units_->weight(unit);
  const double length = weight * lengths_.of(unit, factors, outputs, norms, shares);
  const double factor = weight * clip_factor(rule, length);
  bool finite = true;
  for (double& one : factors) {
    one *= factor;
    finite = finite && std::isfinite(one);
  }
  const bool lost = norms.size() == 1 && !has_all_digits(norms[0] * factor);
  if (!finite || lost || !(factor > 0)) std::fill(factors.begin(), factors.end(), 0.0);
}

// Rows whose factors are 0 are left out, since 0 times what they hold might not be 0.
template <class Loss>
void UnitObjective<Loss>::add_rows(Scratch& scratch, std::size_t outputs) const {
  const std::vector<std::uint64_t>& rows = scratch.bundle.rows;
  if (std::find(scratch.factors.begin(), scratch.factors.end(), 0.0) == scratch.factors.end())
    return add_weighted_rows(*rows_, rows, scratch.factors.data(), outputs, scratch.sums);
  scratch.kept.clear();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double* const of_row = scratch.factors.data() + r * outputs;
    if (std::all_of(of_row, of_row + outputs, [](double factor) { return factor == 0; })) continue;
    std::copy(of_row, of_row + outputs,
              scratch.factors.begin() + static_cast<std::ptrdiff_t>(scratch.kept.size() * outputs));
    scratch.kept.push_back(rows[r]);
  }
  add_weighted_rows(*rows_, scratch.kept, scratch.factors.data(), outputs, scratch.sums);
}

template <class Loss>
void UnitObjective<Loss>::clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& any_rule,
                                               std::span<double> sum) {
  require_size("places for the sum", sum.size(), parameters());
  const Parameters at = for_rows(w, at_);
  const std::size_t outputs = loss_.outputs();
  of_rows_.resize(linear_.parameters());
  any_rule.visit([&](const auto& rule) {
    for_each_bundle(batch, of_rows_, [&](Scratch& scratch) {
      find_slopes(at, scratch);
      for_each_unit(scratch.bundle, [&](std::uint64_t unit, std::size_t first, std::size_t size) {
        clip_unit(rule, unit, std::span(scratch.factors).subspan(first * outputs, size * outputs), outputs,
                  std::span<const double>(scratch.norms).subspan(first, size), scratch.shares);
      });
      add_rows(scratch, outputs);
    });
  });
  give(of_rows_, sum);
}

// Overwrites the outputs. No loss is below 0, so that rows may be clipped to the bound first.
template <class Loss>
double UnitObjective<Loss>::unit_loss(std::uint64_t unit, std::span<double> outputs,
                                      std::span<const double> labels, double bound) const {
  const double weight = units_->weight(unit);
  const double most = bound / weight;
  double sum = 0;
  if constexpr (kHasKernels) {
    sum = clipped_loss_sum(loss_, outputs, labels.data(), most);
  } else {
    const std::size_t per_row = loss_.outputs();
    for (std::size_t r = 0; r < labels.size(); ++r) {
      const double loss = loss_.loss_at(outputs.subspan(r * per_row, per_row), labels[r]);
      if (std::isfinite(loss)) sum += std::clamp(loss, 0.0, most);
    }
  }
  return std::min(weight * sum, bound);
}

template <class Loss>
void UnitObjective<Loss>::add_unit_losses(Scratch& scratch, double bound, double& sum) const {
  const std::size_t outputs = loss_.outputs();
  for_each_unit(scratch.bundle, [&](std::uint64_t unit, std::size_t first, std::size_t size) {
    sum += unit_loss(unit, std::span(scratch.factors).subspan(first * outputs, size * outputs),
                     std::span<const double>(scratch.bundle.labels).subspan(first, size), bound);
  });
}

template <class Loss>
void UnitObjective<Loss>::clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch,
                                            double bound, std::span<double> sums) {
  require("units", "loss bound", bound, greater_than(0));
  require_size("places for the sums", sums.size(), candidates.size());
  std::vector<std::vector<double>> places(candidates.size(), at_);
  std::vector<Parameters> weights;
  for (std::size_t k = 0; k < candidates.size(); ++k) weights.push_back(for_rows(candidates[k], places[k]));
  for_each_bundle(batch, sums, [&](Scratch& scratch) {
    scratch.factors.resize(scratch.bundle.rows.size() * loss_.outputs());
    for (std::size_t k = 0; k < weights.size(); ++k) {
      multiply_rows(*rows_, scratch.bundle.rows, weights[k], loss_.outputs(), scratch.factors.data());
      add_unit_losses(scratch, bound, scratch.sums[k]);
    }
  });
}

template <class Loss>
void UnitObjective<Loss>::clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                                                  std::span<double> sums) {
  require("units", "loss bound", bound, greater_than(0));
  require_size("places for the sums", sums.size(), line.steps.size());
  const Parameters start = for_rows(line.start, at_);
  const Parameters direction = for_rows(line.direction, direction_);
  for_each_bundle(batch, sums, [&](Scratch& scratch) {
    const std::size_t values = scratch.bundle.rows.size() * loss_.outputs();
    scratch.factors.resize(values);
    scratch.starts.resize(values);
    scratch.directions.resize(values);
    multiply_rows_by_two(*rows_, scratch.bundle.rows, start, direction, loss_.outputs(),
                         scratch.starts.data(), scratch.directions.data());
    for (std::size_t k = 0; k < line.steps.size(); ++k) {
      for (std::size_t i = 0; i < values; ++i)
        scratch.factors[i] = scratch.starts[i] - line.steps[k] * scratch.directions[i];
      add_unit_losses(scratch, bound, scratch.sums[k]);
    }
  });
}

template <class Loss>
std::uint64_t UnitObjective<Loss>::count_norms_at_most(Parameters w, const Batch& batch, double bound) {
  const Parameters at = for_rows(w, at_);
  const std::size_t outputs = loss_.outputs();
  double count = 0;
  for_each_bundle(batch, std::span(&count, 1), [&](Scratch& scratch) {
    find_slopes(at, scratch);
    for_each_unit(scratch.bundle, [&](std::uint64_t unit, std::size_t first, std::size_t size) {
      const double length =
          units_->weight(unit) *
          lengths_.of(unit, std::span(scratch.factors).subspan(first * outputs, size * outputs), outputs,
                      std::span<const double>(scratch.norms).subspan(first, size), scratch.shares);
      scratch.sums[0] += length <= bound ? 1 : 0;
    });
  });
  return static_cast<std::uint64_t>(count);
}

template <class Loss>
void UnitObjective<Loss>::label_counts(const Batch& batch, std::span<double> counts) const {
  if (loss_.label_classes() == 0) return Objective::label_counts(batch, counts);
  constexpr double kShares = 1 << 20;
  require_size("places for the counts", counts.size(), loss_.label_classes());
  require_batch(batch);
  std::fill(counts.begin(), counts.end(), 0.0);
  std::vector<std::size_t> of_unit(counts.size(), 0);
  for (const std::uint64_t unit : batch.rows) {
    const std::size_t first = units_->first(unit);
    const std::size_t size = units_->size(unit);
    const auto label = [&](std::size_t row) { return static_cast<std::size_t>(rows_->labels()[row]); };
    for (std::size_t row = first; row < first + size; ++row) ++of_unit[label(row)];
    for (std::size_t row = first; row < first + size; ++row) {
      const auto rows = static_cast<double>(std::exchange(of_unit[label(row)], std::size_t{0}));
      counts[label(row)] += std::floor(kShares * rows / static_cast<double>(size)) / kShares;
    }
  }
}

template <class Loss>
void UnitObjective<Loss>::shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) {
  require_size("places for the sum", sum.size(), view_ ? view_->coordinates() : rows_->columns());
  const Abadi rule{bound};
  std::vector<double> of_rows(rows_->columns());
  for_each_bundle(batch, of_rows, [&](Scratch& scratch) {
    scratch.factors.assign(scratch.bundle.rows.size(), 1.0);
    scratch.norms.assign(scratch.bundle.rows.size(), 1.0);
    for_each_unit(scratch.bundle, [&](std::uint64_t unit, std::size_t first, std::size_t size) {
      clip_unit(rule, unit, std::span(scratch.factors).subspan(first, size), 1,
                std::span<const double>(scratch.norms).subspan(first, size), scratch.shares);
    });
    add_rows(scratch, 1);
  });
  give(of_rows, sum);
}

template <class Loss>
void UnitObjective<Loss>::second_moment_sum(const Batch& batch, double bound, std::span<double> upper) {
  if (!view_) return Objective::second_moment_sum(batch, bound, upper);
  std::vector<double> total(triangle_size(view_->used().size()));
  for_each_bundle(batch, total, [&](Scratch& scratch) {
    scratch.factors.assign(scratch.bundle.rows.size(), 0.0);
    for_each_unit(scratch.bundle, [&](std::uint64_t unit, std::size_t first, std::size_t size) {
      const double weight = units_->weight(unit);
      const std::size_t row = units_->first(unit);
      const double length = size == 1 ? norms_[row] : std::sqrt(weight * lengths_.sum_of_squares(unit));
      const double factor = clip_factor(Abadi{bound}, length) * std::sqrt(weight);
      for (std::size_t r = 0; r < size; ++r)
        scratch.factors[first + r] = size == 1 || lengths_.counts(row + r) ? factor : 0;
    });
    add_weighted_products(*rows_, *view_, scratch.bundle.rows, scratch.factors, scratch.sums);
  });
  view_->look_twice(total, upper);
}

}  // namespace ration
