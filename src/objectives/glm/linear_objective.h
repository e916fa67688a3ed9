#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "objectives/glm/loss_kernels.h"
#include "objectives/glm/row_products.h"
#include "ration/base/error.h"
#include "ration/clipping/abadi.h"
#include "ration/objectives/glm/glm.h"

namespace ration {

// make_glm's objective: rows, a loss of losses.h, and scratch memory.
//
// A batch is cut into blocks by its size alone, each block into tiles of a few rows that stay in the cache
// between the two products. Blocks are summed in their order, so the number of threads does not change the
// result.
//
// Neighbours  what a row contributes is computed from the row, w and the table's storage (a public choice,
//             rows.h), to the last bit: each row has its own accumulators, and its place in a tile decides
//             nothing (tests/objectives/storage_test.cpp). At a kink, or with large weights, a product that
//             is rounded otherwise could move a contribution by its whole bound, of every row at once; no
//             room covers that. What may depend on other rows is how contributions are added up: tiles,
//             stretches and blocks, whose number goes by the mean row length. Each takes at most
//             longest_chain() roundings on its way, however it is cut, and that is what the oracle's room is
//             for: sums over neighbours are each within sum_error() of the exact sums of the same
//             contributions (oracle/sum_error.h).
template <class Loss>
class LinearObjective final : public Objective {
 public:
  // Labels that are unused may be anything; then only predict() has a meaning.
  enum class Labels { checked, unused };
  // `norms`, one for each row, take the place of the rows' own, and must outlive the objective: those of rows
  // that are seen through a map. Empty: the rows' own.
  LinearObjective(std::shared_ptr<const Rows> rows, Loss loss, std::size_t threads,
                  Labels labels = Labels::checked, std::span<const double> norms = {});

  std::size_t rows() const override { return rows_->count(); }
  std::size_t parameters() const override { return rows_->columns() * loss_.outputs(); }
  // Within a stretch, over the stretches, over the blocks.
  std::uint64_t longest_chain(std::uint64_t rows) const override {
    return std::min<std::uint64_t>(rows, stretch()) + kTile + rows / stretch() + kMostBlocks + 2;
  }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override;
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override;
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override;
  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override;
  PublicFacts facts() const override;
  void label_counts(const Batch& batch, std::span<double> counts) const override;
  double mean_loss(Parameters w) override;
  void predict(Parameters w, std::span<double> predictions) override;
  // For rows that are public: output k of row r at [r * outputs + k].
  void outputs(Parameters w, std::span<double> outputs);
  void shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) override;
  std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const override;
  void require_batch(const Batch& batch) const;

 private:
  using RowNumbers = std::span<const std::uint64_t>;
  static constexpr std::size_t kTile = 64;
  // Of losses with one output there are vectorised forms.
  static constexpr bool kHasKernels = requires(const Loss& loss, std::span<double> outputs, double* labels) {
    to_slopes(loss, outputs, labels);
  };
  static constexpr std::size_t kMostBlocks = 64;

  // What one block needs: outputs of a tile's rows, then slopes, then factors, at [r * outputs + k].
  struct Scratch {
    std::vector<double> outputs;
    std::vector<double> sums;    // of the current stretch
    std::vector<double> totals;  // of the stretches before

    void end_stretch() {
      for (std::size_t i = 0; i < sums.size(); ++i) totals[i] += std::exchange(sums[i], 0.0);
    }
  };

  void require_size(const char* what, std::size_t size, std::size_t expected) const;
  // Rows that are summed one after the other before the sum is put aside, so that the error of a sum over
  // millions of rows stays small; long enough for that to cost nothing.
  std::size_t stretch() const { return std::max<std::size_t>(8192, parameters()); }
  // Rows that are worked on together: they stay in the nearest cache.
  std::size_t tile() const { return rows_->is_dense() ? kTile / 4 : kTile; }
  std::size_t blocks_for(std::size_t drawn, std::size_t sums_per_block) const;

  // use(block's scratch, tile) for every tile of every block; each block's sums start at 0 and are
  // `sums_per_block` many.
  // `tiles_of_outputs`: how many numbers per output of a tile's rows the scratch memory has room for.
  template <class Use>
  std::size_t for_each_tile(RowNumbers drawn, std::size_t sums_per_block, const Use& use,
                            std::size_t tiles_of_outputs = 1);
  // Rows that follow each other are fetched by the processor itself, and better.
  void prefetch_tile(RowNumbers drawn, std::size_t first) const {
    if (first >= drawn.size()) return;
    const RowNumbers next = drawn.subspan(first, std::min(tile(), drawn.size() - first));
    if (next.back() - next.front() >= next.size()) prefetch_rows(*rows_, next);
  }
  // Sums of the blocks, in their order.
  void add_up(std::size_t blocks, std::span<double> totals) const;

  template <ClipRule Rule>
  void add_clipped(Parameters w, const Rule& rule, RowNumbers tile, Scratch& scratch) const;
  // Replaces each row's outputs by its slopes, and gives the norms of those.
  void slopes_of_tile(RowNumbers tile, std::span<double> outputs, std::span<double> norms) const;
  // Overwrites the outputs.
  double clipped_losses(std::span<double> outputs, std::span<const double> labels, double bound) const;
  std::span<const double> labels_of(RowNumbers tile, std::array<double, kTile>& place) const {
    for (std::size_t r = 0; r < tile.size(); ++r) place[r] = rows_->labels()[tile[r]];
    return std::span(place).first(tile.size());
  }
  template <class Use>
  void for_each_output(Parameters w, const Use& use);

  std::shared_ptr<const Rows> rows_;
  Loss loss_;
  std::size_t threads_;
  std::span<const double> norms_;
  std::vector<Scratch> scratch_;
};

template <class Loss>
LinearObjective<Loss>::LinearObjective(std::shared_ptr<const Rows> rows, Loss loss, std::size_t threads,
                                       Labels labels, std::span<const double> norms)
    : rows_(std::move(rows)), loss_(loss), threads_(thread_count(threads)) {
  if (!rows_) throw InputError("linear model: expected rows, got none");
  norms_ = norms.empty() ? rows_->norms() : norms;
  require_size("norms", norms_.size(), rows_->count());
  if (labels == Labels::unused) return;
  for (std::size_t row = 0; row < rows_->count(); ++row) {
    const double label = rows_->labels()[row];
    if (!loss_.accepts(label)) {
      throw InputError(fmt::format("linear model: row {}: expected the label to be {}, got {}", row,
                                   Loss::kLabels, label));
    }
  }
}

template <class Loss>
void LinearObjective<Loss>::require_size(const char* what, std::size_t size, std::size_t expected) const {
  if (size == expected) return;
  throw InputError(fmt::format("linear model: expected {} {}, got {}", expected, what, size));
}

template <class Loss>
void LinearObjective<Loss>::require_batch(const Batch& batch) const {
  if (batch.rows.empty() || batch.rows.back() < rows()) return;
  throw InputError(
      fmt::format("linear model: expected rows below {}, got row {}", rows(), batch.rows.back()));
}

// As many blocks as are worth a thread each, as long as adding up their sums is little beside the work
// itself.
template <class Loss>
std::size_t LinearObjective<Loss>::blocks_for(std::size_t drawn, std::size_t sums_per_block) const {
  constexpr double kWorthAThread = 1 << 20;  // multiplications: some 0.3 ms
  const double cost_of_entry = rows_->is_dense() ? 1 : 1 / Rows::kDenseFrom;
  const double work = static_cast<double>(drawn) * rows_->mean_row_length() * cost_of_entry *
                      static_cast<double>(loss_.outputs());
  const double worth = work / std::max(kWorthAThread, 8.0 * static_cast<double>(sums_per_block));
  return static_cast<std::size_t>(std::clamp(worth, 1.0, static_cast<double>(kMostBlocks)));
}

template <class Loss>
template <class Use>
std::size_t LinearObjective<Loss>::for_each_tile(RowNumbers drawn, std::size_t sums_per_block, const Use& use,
                                                 std::size_t tiles_of_outputs) {
  const std::size_t blocks = blocks_for(drawn.size(), sums_per_block);
  if (scratch_.size() < blocks) scratch_.resize(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    scratch_[block].outputs.resize(tiles_of_outputs * kTile * loss_.outputs());
    scratch_[block].sums.assign(sums_per_block, 0.0);
    scratch_[block].totals.assign(sums_per_block, 0.0);
  }
  for_each_block(blocks, threads_, [&](std::size_t block) {
    const std::size_t end = drawn.size() * (block + 1) / blocks;
    std::size_t first = drawn.size() * block / blocks;
    while (first < end) {
      const std::size_t end_of_stretch = std::min(end, first + stretch());
      for (; first < end_of_stretch; first += tile()) {
        prefetch_tile(drawn.subspan(0, end), first + tile());
        use(scratch_[block], drawn.subspan(first, std::min(tile(), end_of_stretch - first)));
      }
      first = end_of_stretch;
      scratch_[block].end_stretch();
    }
  });
  return blocks;
}

template <class Loss>
void LinearObjective<Loss>::add_up(std::size_t blocks, std::span<double> totals) const {
  std::copy(scratch_[0].totals.begin(), scratch_[0].totals.end(), totals.begin());
  for (std::size_t block = 1; block < blocks; ++block) {
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += scratch_[block].totals[i];
  }
}

template <class Loss>
void LinearObjective<Loss>::slopes_of_tile(RowNumbers tile, std::span<double> outputs,
                                           std::span<double> norms) const {
  std::array<double, kTile> place;
  const std::span<const double> labels = labels_of(tile, place);
  if constexpr (kHasKernels) {
    to_slopes(loss_, outputs, labels.data());
    for (std::size_t r = 0; r < tile.size(); ++r) norms[r] = std::abs(outputs[r]);
  } else {
    const std::size_t per_row = loss_.outputs();
    for (std::size_t r = 0; r < tile.size(); ++r) {
      norms[r] = loss_.to_slopes(outputs.subspan(r * per_row, per_row), labels[r]);
    }
  }
}

// Rows that contribute nothing are left out, since 0 times what they hold might not be 0. So are those whose
// clipped slopes are too small to have all their digits: times numbers near the largest, their rounding would
// count.
template <class Loss>
template <ClipRule Rule>
void LinearObjective<Loss>::add_clipped(Parameters w, const Rule& rule, RowNumbers tile,
                                        Scratch& scratch) const {
  const std::size_t per_row = loss_.outputs();
  const std::span<double> outputs = std::span(scratch.outputs).first(tile.size() * per_row);
  multiply_rows(*rows_, tile, w, per_row, outputs.data());
  std::array<double, kTile> norms;
  slopes_of_tile(tile, outputs, norms);
  std::array<std::uint64_t, kTile> kept;
  std::size_t count = 0;
  for (std::size_t r = 0; r < tile.size(); ++r) {
    const double factor = clip_factor(rule, norms[r] * norms_[tile[r]]);
    bool finite = true;
    for (std::size_t k = 0; k < per_row; ++k) {
      const double scaled = outputs[r * per_row + k] * factor;
      outputs[count * per_row + k] = scaled;
      finite = finite && std::isfinite(scaled);
    }
    kept[count] = tile[r];
    count += finite && has_all_digits(norms[r] * factor) ? 1 : 0;
  }
  add_weighted_rows(*rows_, std::span(kept).first(count), outputs.data(), per_row, scratch.sums);
}

template <class Loss>
void LinearObjective<Loss>::clipped_gradient_sum(Parameters w, const Batch& batch,
                                                 const AnyClipRule& any_rule, std::span<double> sum) {
  require_size("parameters", w.size(), parameters());
  require_size("places for the sum", sum.size(), parameters());
  require_batch(batch);
  const std::size_t blocks = any_rule.visit([&](const auto& rule) {
    return for_each_tile(batch.rows, parameters(),
                         [&](Scratch& scratch, RowNumbers tile) { add_clipped(w, rule, tile, scratch); });
  });
  add_up(blocks, sum);
}

// The sum of the tile's losses, each clipped into [0, bound]; outputs at [r * outputs + k].
template <class Loss>
double LinearObjective<Loss>::clipped_losses(std::span<double> outputs, std::span<const double> labels,
                                             double bound) const {
  if constexpr (kHasKernels) {
    return clipped_loss_sum(loss_, outputs, labels.data(), bound);
  } else {
    const std::size_t per_row = loss_.outputs();
    double sum = 0;
    for (std::size_t r = 0; r < labels.size(); ++r) {
      const double loss = loss_.loss_at(outputs.subspan(r * per_row, per_row), labels[r]);
      if (std::isfinite(loss)) sum += std::clamp(loss, 0.0, bound);
    }
    return sum;
  }
}

template <class Loss>
void LinearObjective<Loss>::clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch,
                                              double bound, std::span<double> sums) {
  require("linear model", "loss bound", bound, greater_than(0));
  require_size("places for the sums", sums.size(), candidates.size());
  for (const Parameters& w : candidates) require_size("parameters", w.size(), parameters());
  require_batch(batch);
  const std::size_t blocks =
      for_each_tile(batch.rows, candidates.size(), [&](Scratch& scratch, RowNumbers tile) {
        std::array<double, kTile> place;
        const std::span<const double> labels = labels_of(tile, place);
        const std::span<double> outputs = std::span(scratch.outputs).first(tile.size() * loss_.outputs());
        for (std::size_t k = 0; k < candidates.size(); ++k) {
          multiply_rows(*rows_, tile, candidates[k], loss_.outputs(), outputs.data());
          scratch.sums[k] += clipped_losses(outputs, labels, bound);
        }
      });
  add_up(blocks, sums);
}

// The outputs along a line are those of its start minus a multiple of those of its direction: two products,
// however many points are asked for.
template <class Loss>
void LinearObjective<Loss>::clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                                                    std::span<double> sums) {
  require("linear model", "loss bound", bound, greater_than(0));
  require_size("places for the sums", sums.size(), line.steps.size());
  require_size("parameters", line.start.size(), parameters());
  require_size("parameters in the direction", line.direction.size(), parameters());
  require_batch(batch);
  const std::size_t outputs = loss_.outputs();
  const std::size_t blocks = for_each_tile(
      batch.rows, sums.size(),
      [&](Scratch& scratch, RowNumbers tile) {
        double* const starts = scratch.outputs.data();
        double* const slopes = starts + kTile * outputs;
        double* const points = slopes + kTile * outputs;
        multiply_rows_by_two(*rows_, tile, line.start, line.direction, outputs, starts, slopes);
        std::array<double, kTile> place;
        const std::span<const double> labels = labels_of(tile, place);
        if constexpr (kHasKernels) {
          add_clipped_losses(loss_, {starts, slopes, labels.data(), tile.size(), points}, line.steps, bound,
                             scratch.sums.data());
        } else {
          const std::size_t values = tile.size() * outputs;
          for (std::size_t k = 0; k < sums.size(); ++k) {
            for (std::size_t i = 0; i < values; ++i) points[i] = starts[i] - line.steps[k] * slopes[i];
            scratch.sums[k] += clipped_losses({points, values}, labels, bound);
          }
        }
      },
      3);
  add_up(blocks, sums);
}

template <class Loss>
std::uint64_t LinearObjective<Loss>::count_norms_at_most(Parameters w, const Batch& batch, double bound) {
  require_size("parameters", w.size(), parameters());
  require_batch(batch);
  const std::size_t blocks = for_each_tile(batch.rows, 1, [&](Scratch& scratch, RowNumbers tile) {
    const std::span<double> outputs = std::span(scratch.outputs).first(tile.size() * loss_.outputs());
    multiply_rows(*rows_, tile, w, loss_.outputs(), outputs.data());
    std::array<double, kTile> norms;
    slopes_of_tile(tile, outputs, norms);
    for (std::size_t r = 0; r < tile.size(); ++r) {
      scratch.sums[0] += norms[r] * norms_[tile[r]] <= bound ? 1 : 0;
    }
  });
  double count = 0;
  add_up(blocks, std::span(&count, 1));
  return static_cast<std::uint64_t>(count);
}

template <class Loss>
PublicFacts LinearObjective<Loss>::facts() const {
  return {.loss = Loss::kName,
          .slope_bound = loss_.slope_bound(),
          .curvature_bound = loss_.curvature_bound(),
          .one_sided = Loss::kOneSided,
          .row_norm_bound = rows_->norm_bound(),
          .label_classes = loss_.label_classes(),
          .columns = rows_->columns()};
}

template <class Loss>
void LinearObjective<Loss>::label_counts(const Batch& batch, std::span<double> counts) const {
  if (loss_.label_classes() == 0) return Objective::label_counts(batch, counts);
  require_size("places for the counts", counts.size(), loss_.label_classes());
  require_batch(batch);
  std::fill(counts.begin(), counts.end(), 0.0);
  for (const std::uint64_t row : batch.rows) counts[static_cast<std::size_t>(rows_->labels()[row])] += 1;
}

// Rows that contribute nothing are left out, as in add_clipped().
template <class Loss>
void LinearObjective<Loss>::shortened_row_sum(const Batch& batch, double bound, std::span<double> sum) {
  require_size("places for the sum", sum.size(), rows_->columns());
  require_batch(batch);
  const Abadi rule{bound};
  const std::size_t blocks =
      for_each_tile(batch.rows, rows_->columns(), [&](Scratch& scratch, RowNumbers tile) {
        std::array<std::uint64_t, kTile> kept;
        std::array<double, kTile> factors;
        std::size_t count = 0;
        for (const std::uint64_t row : tile) {
          kept[count] = row;
          factors[count] = clip_factor(rule, norms_[row]);
          count += factors[count] > 0 ? 1 : 0;
        }
        add_weighted_rows(*rows_, std::span(kept).first(count), factors.data(), 1, scratch.sums);
      });
  add_up(blocks, sum);
}

// use(row, its outputs) for all rows, one after the other.
template <class Loss>
template <class Use>
void LinearObjective<Loss>::for_each_output(Parameters w, const Use& use) {
  require_size("parameters", w.size(), parameters());
  std::vector<double> outputs(kTile * loss_.outputs());
  std::array<std::uint64_t, kTile> tile;
  for (std::size_t first = 0; first < rows(); first += kTile) {
    const std::size_t count = std::min(kTile, rows() - first);
    for (std::size_t r = 0; r < count; ++r) tile[r] = first + r;
    multiply_rows(*rows_, std::span(tile).first(count), w, loss_.outputs(), outputs.data());
    for (std::size_t r = 0; r < count; ++r) {
      use(first + r, std::span<const double>(outputs).subspan(r * loss_.outputs(), loss_.outputs()));
    }
  }
}

template <class Loss>
double LinearObjective<Loss>::mean_loss(Parameters w) {
  double sum = 0;
  for_each_output(w, [&](std::size_t row, std::span<const double> outputs) {
    sum += loss_.loss_at(outputs, rows_->labels()[row]);
  });
  return rows() == 0 ? 0 : sum / static_cast<double>(rows());
}

template <class Loss>
void LinearObjective<Loss>::predict(Parameters w, std::span<double> predictions) {
  require_size("places for predictions", predictions.size(), rows());
  for_each_output(w, [&](std::size_t row, std::span<const double> outputs) {
    predictions[row] = loss_.prediction(outputs);
  });
}

template <class Loss>
void LinearObjective<Loss>::outputs(Parameters w, std::span<double> outputs) {
  require_size("places for outputs", outputs.size(), rows() * loss_.outputs());
  for_each_output(w, [&](std::size_t row, std::span<const double> of_row) {
    std::copy(of_row.begin(), of_row.end(),
              outputs.begin() + static_cast<std::ptrdiff_t>(row * of_row.size()));
  });
}

}  // namespace ration
