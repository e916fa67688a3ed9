#include "ration/objectives/neural/neural.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/keyed_bits.h"
#include "objectives/neural/convert.h"
#include "objectives/neural/device.h"
#include "objectives/neural/flat_parameters.h"
#include "objectives/neural/row_draws.h"
#include "objectives/neural/row_losses.h"
#include "objectives/neural/soundness.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/tape.h"
#include "ration/objectives/row_outputs.h"

namespace ration::nn {
namespace {

using torch::Tensor;
using RowNumbers = std::span<const std::uint64_t>;

// Which rows hold something else than tokens 0, ..., ids_below - 1; empty if none does.
std::vector<bool> rows_with_unknown_tokens(const Rows& rows, std::size_t inputs, std::int64_t ids_below) {
  std::vector<bool> bad;
  if (ids_below == 0) return bad;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    rows.for_each_entry(row, [&](std::size_t column, double token) {
      if (column >= inputs || (token >= 0 && token < static_cast<double>(ids_below))) return;
      bad.resize(rows.count());
      bad[row] = true;
    });
  }
  return bad;
}

class NeuralObjective final : public Objective, public RowOutputs {
 public:
  // `masks`: where layers that draw have their bits from; null: the secure source.
  NeuralObjective(Network network, std::shared_ptr<const Rows> rows, const NeuralOptions& options,
                  RandomSource* masks);

  std::size_t rows() const override { return rows_->count(); }
  std::size_t parameters() const override { return flat_.size(); }
  std::uint64_t longest_chain(std::uint64_t rows) const override;
  PublicFacts facts() const override { return losses_.facts(); }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override;
  std::span<const float> clipped_gradient_float_sum(const AnyWeights& w, const Batch& batch,
                                                    const AnyClipRule& rule) override;
  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override;
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override;
  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override;
  void label_counts(const Batch& batch, std::span<double> counts) const override;
  double mean_loss(Parameters w) override;
  void predict(Parameters w, std::span<double> predictions) override;
  void outputs(Parameters w, std::span<double> outputs) override;

 private:
  void require_size(const char* what, std::size_t size, std::size_t expected) const;
  void load(Parameters w);
  void load(const FloatWeights& w);
  // Of about rows_at_once rows each: a batch that is a little larger by chance is still one.
  std::size_t parts_of(std::size_t rows) const {
    if (rows == 0) return 0;
    return std::max<std::size_t>(1, (rows + options_.rows_at_once / 2) / options_.rows_at_once);
  }
  // part(rows) for each part of the batch.
  template <class Use>
  void for_each_part(RowNumbers drawn, const Use& use) const;
  Tensor gather(RowNumbers part);
  void gather_row(std::uint64_t row, float* to) const;
  // use(place in the part, its outputs) for each row; outputs may be overwritten.
  template <class Use>
  void for_each_output(RowNumbers part, const Use& use);
  double clipped_loss_sum(Parameters w, const Batch& batch, double bound);

  Kernels kernels() const { return device_.is_cpu() ? options_.kernels : Kernels::portable; }
  // Random bits of one query: whatever is drawn for a row is the same in any batch that has it.
  KeyedBits new_masks() { return KeyedBits(masks_ != nullptr ? *masks_ : SecureRandom::for_this_thread()); }
  // The network's outputs in the mode that it is in.
  Tensor outputs_of(RowNumbers part);
  // The slopes that a backward pass begins with.
  Tensor slopes_of(const Tensor& outputs, RowNumbers part);
  // NaN in the rows that hold a token that there is not.
  void blot_out(RowNumbers part, Tensor& values) const;
  void require_known_tokens() const;
  // The backward pass of one part of a batch, which leaves what clipping needs on the tape.
  void record(const Tape& tape, RowNumbers part, KeyedBits& masks);
  // One squared norm per row, over all layers, times the square of the row's scale.
  void flat_norms(const Tape& tape, std::span<double> squared) const;
  // The clipped sum of one part, in flat_.
  void write_part(RowNumbers part, const AnyClipRule& rule, KeyedBits& masks);
  void write_flat(const Tape& tape, const AnyClipRule& rule);
  void write_per_layer(const Tape& tape, const AnyClipRule& rule);
  Tensor factors_of(const AnyClipRule& rule, std::span<const double> squared, Site* only,
                    const Tape& tape) const;
  void add_row_by_row(RowNumbers part, const AnyClipRule& rule, KeyedBits& masks, std::span<double> sum);
  double norm_of_gradients();

  Network network_;
  std::shared_ptr<torch::nn::Module> module_;
  std::shared_ptr<const Rows> rows_;
  NeuralOptions options_;
  RandomSource* masks_;
  RowLosses losses_;
  torch::Device device_;
  FlatParameters flat_;
  std::size_t layers_;
  std::size_t inputs_;
  std::vector<bool> is_bad_;  // rows with a token that there is not; empty if all are well
  std::vector<float> inputs_of_part_;
  std::vector<double> squared_;
  std::vector<double> point_;
};

NeuralObjective::NeuralObjective(Network network, std::shared_ptr<const Rows> rows,
                                 const NeuralOptions& options, RandomSource* masks)
    : network_(std::move(network)),
      module_(network_.module),
      rows_(std::move(rows)),
      options_(options),
      masks_(masks),
      losses_(options.classes),
      device_(move_to(options.device, *module_)),
      flat_((require_sound_layers(*module_, options.row_by_row), *module_)),
      layers_(count_layers(*module_)),
      inputs_(std::accumulate(
          options.input.begin(), options.input.end(), std::size_t{1},
          [](std::size_t product, std::int64_t size) { return product * static_cast<std::size_t>(size); })) {
  if (!rows_) throw InputError("network: expected rows, got none");
  require("network", "rows_at_once", static_cast<double>(options.rows_at_once), at_least(1));
  if (options.classes == 1)
    throw InputError("network: expected two classes or more, or 0 for numbers, got 1");
  if (inputs_ > rows_->columns()) {
    throw InputError(fmt::format("network: expected at least {} columns, got {}", inputs_, rows_->columns()));
  }
  require_rows_apart(network_, options_, kernels(), flat_);
  if (options.labels) losses_.require_labels(rows_->labels());
  is_bad_ = rows_with_unknown_tokens(*rows_, inputs_, options.ids_below);
}

// A row's loss is added up within its part, and the parts then; a row's gradient too, or it goes into the sum
// by itself and is rounded when it is weighed. No part has more than one and a half times rows_at_once.
std::uint64_t NeuralObjective::longest_chain(std::uint64_t rows) const {
  const std::uint64_t at_once = std::min<std::uint64_t>(rows, options_.rows_at_once);
  const std::uint64_t in_a_part = std::min(rows, at_once + at_once / 2 + 1);
  return (options_.row_by_row ? rows : in_a_part) + rows / options_.rows_at_once + 3;
}

void NeuralObjective::require_size(const char* what, std::size_t size, std::size_t expected) const {
  if (size != expected)
    throw InputError(fmt::format("network: expected {} {}, got {}", expected, what, size));
}

void NeuralObjective::load(Parameters w) {
  require_size("parameters", w.size(), parameters());
  use_threads(options_.threads);
  flat_.load(w);
}

void NeuralObjective::load(const FloatWeights& w) {
  require_size("parameters", w->size(), parameters());
  use_threads(options_.threads);
  flat_.look_at(w);
}

template <class Use>
void NeuralObjective::for_each_part(RowNumbers drawn, const Use& use) const {
  if (!drawn.empty() && drawn.back() >= rows()) {
    throw InputError(fmt::format("network: expected rows below {}, got row {}", rows(), drawn.back()));
  }
  const std::size_t parts = parts_of(drawn.size());
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * drawn.size() / parts;
    use(drawn.subspan(first, (part + 1) * drawn.size() / parts - first));
  }
}

// Tokens that there are not stay here: no network is asked what it makes of them.
void NeuralObjective::gather_row(std::uint64_t row, float* to) const {
  if (!is_bad_.empty() && is_bad_[row]) {
    std::fill(to, to + inputs_, 0.0f);
    return;
  }
  if (rows_->is_dense()) return to_floats(rows_->dense_row(row).data(), inputs_, to);
  std::fill(to, to + inputs_, 0.0f);
  const Rows::SparseRow from = rows_->sparse_row(row);
  for (std::size_t k = 0; k < from.indices.size(); ++k) {
    const auto column = static_cast<std::size_t>(from.indices[k]);
    if (column < inputs_) to[column] = static_cast<float>(from.values[k]);
  }
}

Tensor NeuralObjective::gather(RowNumbers part) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(part.size())};
  shape.insert(shape.end(), options_.input.begin(), options_.input.end());
  inputs_of_part_.resize(part.size() * inputs_);
  at::parallel_for(0, shape[0], 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      gather_row(part[static_cast<std::size_t>(r)],
                 inputs_of_part_.data() + static_cast<std::size_t>(r) * inputs_);
    }
  });
  return torch::from_blob(inputs_of_part_.data(), shape).to(device_);
}

// What torch says of an error may quote what the rows hold.
template <class Run>
auto without_a_word_of_the_rows(const Run& run) {
  try {
    return run();
  } catch (const c10::Error&) {
    throw InputError(
        "network: it failed on a batch, although it ran on public numbers; what torch says of it is left "
        "out, "
        "because it may quote the rows");
  }
}

void NeuralObjective::blot_out(RowNumbers part, Tensor& values) const {
  if (is_bad_.empty()) return;
  for (std::size_t r = 0; r < part.size(); ++r) {
    if (is_bad_[part[r]])
      values[static_cast<std::int64_t>(r)].fill_(std::numeric_limits<double>::quiet_NaN());
  }
}

void NeuralObjective::require_known_tokens() const {
  if (is_bad_.empty()) return;
  throw InputError(fmt::format("network: expected tokens 0, ..., {}, got others", options_.ids_below - 1));
}

Tensor NeuralObjective::outputs_of(RowNumbers part) {
  const Tensor outputs = network_.forward(gather(part));
  require_outputs(outputs, static_cast<std::int64_t>(part.size()), options_.classes);
  return outputs;
}

Tensor NeuralObjective::slopes_of(const Tensor& outputs, RowNumbers part) {
  Tensor slopes = losses_.slopes(outputs, rows_->labels(), part);
  blot_out(part, slopes);
  return slopes;
}

template <class Use>
void NeuralObjective::for_each_output(RowNumbers part, const Use& use) {
  const torch::NoGradGuard no_gradient;
  module_->eval();
  Tensor outputs = without_a_word_of_the_rows(
      [&] { return outputs_of(part).to(torch::kCPU, torch::kDouble).contiguous(); });
  blot_out(part, outputs);
  const auto width = static_cast<std::size_t>(outputs.size(1));
  for (std::size_t r = 0; r < part.size(); ++r) {
    use(r, std::span(outputs.data_ptr<double>() + r * width, width));
  }
}

void NeuralObjective::record(const Tape& tape, RowNumbers part, KeyedBits& masks) {
  const RowDraws draws(part, masks);
  module_->train();
  flat_.hide_gradients();
  without_a_word_of_the_rows([&] {
    const Tensor outputs = outputs_of(part);
    outputs.backward(slopes_of(outputs, part));
  });
  flat_.show_gradients();
  const torch::NoGradGuard no_gradient;
  flat_.clear_all_but(reported_by(tape));
  if (tape.sites().size() > layers_) {
    throw InputError(
        "network: a layer leaves more than one site, so that layers cannot be clipped one by one");
  }
}

void NeuralObjective::flat_norms(const Tape& tape, std::span<double> squared) const {
  std::fill(squared.begin(), squared.end(), 0.0);
  for (const auto& site : tape.sites()) site->add_squared_norms(squared);
}

// A factor that 32 bits hold with all its digits, or none.
float in_32_bits(double factor) {
  using Limits = std::numeric_limits<float>;
  return factor >= static_cast<double>(Limits::min()) && factor <= static_cast<double>(Limits::max())
             ? static_cast<float>(factor)
             : 0.0f;
}

// Of rows that hold no finite norm, nothing may remain: 0 times what they hold might not be 0.
Tensor NeuralObjective::factors_of(const AnyClipRule& rule, std::span<const double> squared, Site* only,
                                   const Tape& tape) const {
  Tensor factors = torch::empty({static_cast<std::int64_t>(squared.size())});
  std::vector<std::int64_t> lost;
  for (std::size_t r = 0; r < squared.size(); ++r) {
    factors.data_ptr<float>()[r] = in_32_bits(losses_.factor(r, squared[r], rule));
    if (!std::isfinite(squared[r])) lost.push_back(static_cast<std::int64_t>(r));
  }
  if (lost.empty()) return factors.to(device_);
  const Tensor rows = torch::tensor(lost, torch::kLong).to(device_);
  if (only != nullptr) {
    only->forget_rows(rows);
  } else {
    for (const auto& site : tape.sites()) site->forget_rows(rows);
  }
  return factors.to(device_);
}

void NeuralObjective::write_flat(const Tape& tape, const AnyClipRule& rule) {
  flat_norms(tape, squared_);
  const Tensor factors = factors_of(rule, squared_, nullptr, tape);
  for (const auto& site : tape.sites()) site->write_weighted(factors);
}

void NeuralObjective::write_per_layer(const Tape& tape, const AnyClipRule& rule) {
  const AnyClipRule of_layer = rule.of_layer(layers_);
  for (const auto& site : tape.sites()) {
    std::fill(squared_.begin(), squared_.end(), 0.0);
    site->add_squared_norms(squared_);
    site->write_weighted(factors_of(of_layer, squared_, site.get(), tape));
  }
}

double NeuralObjective::norm_of_gradients() {
  double squared = 0;
  for (const float value : flat_.gradients())
    squared += static_cast<double>(value) * static_cast<double>(value);
  return squared;
}

void NeuralObjective::add_row_by_row(RowNumbers part, const AnyClipRule& rule, KeyedBits& masks,
                                     std::span<double> sum) {
  module_->train();
  for (const std::uint64_t& row : part) {
    const RowNumbers alone(&row, 1);
    const RowDraws draws(alone, masks);
    flat_.clear_gradients();
    without_a_word_of_the_rows([&] {
      const Tensor outputs = outputs_of(alone);
      outputs.backward(slopes_of(outputs, alone));
    });
    const double factor = losses_.factor(0, norm_of_gradients(), rule);
    if (factor == 0) continue;
    const std::span<const float> gradient = flat_.gradients();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * static_cast<double>(gradient[i]);
  }
}

void NeuralObjective::write_part(RowNumbers part, const AnyClipRule& rule, KeyedBits& masks) {
  Tape tape(static_cast<std::int64_t>(part.size()), options_.most_kept, kernels());
  record(tape, part, masks);
  const torch::NoGradGuard no_gradient;
  squared_.resize(part.size());
  if (rule.is_per_layer()) {
    write_per_layer(tape, rule);
  } else {
    write_flat(tape, rule);
  }
}

// A batch of one part needs no sum in 64 bits.
std::span<const float> NeuralObjective::clipped_gradient_float_sum(const AnyWeights& w, const Batch& batch,
                                                                   const AnyClipRule& rule) {
  if (options_.row_by_row || parts_of(batch.rows.size()) != 1) return {};
  std::visit([this](const auto& chosen) { load(chosen); }, w);
  KeyedBits masks = new_masks();
  for_each_part(batch.rows, [&](RowNumbers part) { write_part(part, rule, masks); });
  return flat_.gradients();
}

void NeuralObjective::clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                                           std::span<double> sum) {
  require_size("places for the sum", sum.size(), parameters());
  if (options_.row_by_row && rule.is_per_layer())
    throw InputError("network: row_by_row clips whole gradients, not layer by layer");
  load(w);
  std::fill(sum.begin(), sum.end(), 0.0);
  KeyedBits masks = new_masks();
  for_each_part(batch.rows, [&](RowNumbers part) {
    if (options_.row_by_row) return add_row_by_row(part, rule, masks, sum);
    write_part(part, rule, masks);
    flat_.add_gradients_to(sum);
  });
}

double NeuralObjective::clipped_loss_sum(Parameters w, const Batch& batch, double bound) {
  load(w);
  double sum = 0;
  for_each_part(batch.rows, [&](RowNumbers part) {
    double of_part = 0;
    for_each_output(part, [&](std::size_t r, std::span<double> outputs) {
      const double loss = losses_.loss(outputs, rows_->labels()[part[r]]);
      if (std::isfinite(loss)) of_part += std::clamp(loss, 0.0, bound);
    });
    sum += of_part;
  });
  return sum;
}

void NeuralObjective::clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch,
                                        double bound, std::span<double> sums) {
  require("network", "bound", bound, greater_than(0));
  require_size("places for the sums", sums.size(), candidates.size());
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = clipped_loss_sum(candidates[k], batch, bound);
}

void NeuralObjective::clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                                              std::span<double> sums) {
  require("network", "bound", bound, greater_than(0));
  require_size("places for the sums", sums.size(), line.steps.size());
  require_size("parameters", line.start.size(), parameters());
  require_size("parameters of the direction", line.direction.size(), parameters());
  point_.resize(parameters());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    for (std::size_t i = 0; i < point_.size(); ++i)
      point_[i] = line.start[i] - line.steps[k] * line.direction[i];
    sums[k] = clipped_loss_sum(point_, batch, bound);
  }
}

std::uint64_t NeuralObjective::count_norms_at_most(Parameters w, const Batch& batch, double bound) {
  load(w);
  KeyedBits masks = new_masks();
  std::uint64_t count = 0;
  for_each_part(batch.rows, [&](RowNumbers part) {
    squared_.assign(part.size(), 0.0);
    if (options_.row_by_row) {
      throw InputError("network: row_by_row does not count norms; use another clip rule than adaptive");
    }
    Tape tape(static_cast<std::int64_t>(part.size()), options_.most_kept, kernels());
    record(tape, part, masks);
    const torch::NoGradGuard no_gradient;
    flat_norms(tape, squared_);
    for (std::size_t r = 0; r < part.size(); ++r) count += losses_.norm(r, squared_[r]) <= bound ? 1 : 0;
  });
  return count;
}

void NeuralObjective::label_counts(const Batch& batch, std::span<double> counts) const {
  if (options_.classes == 0) return Objective::label_counts(batch, counts);
  require_size("places for the counts", counts.size(), options_.classes);
  std::fill(counts.begin(), counts.end(), 0.0);
  for (const std::uint64_t row : batch.rows) counts[static_cast<std::size_t>(rows_->labels()[row])] += 1;
}

double NeuralObjective::mean_loss(Parameters w) {
  if (rows() == 0) return 0;
  require_known_tokens();
  load(w);
  std::vector<std::uint64_t> all(rows());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  double sum = 0;
  for_each_part(all, [&](RowNumbers part) {
    for_each_output(part, [&](std::size_t r, std::span<double> outputs) {
      sum += losses_.loss(outputs, rows_->labels()[part[r]]);
    });
  });
  return sum / static_cast<double>(rows());
}

void NeuralObjective::predict(Parameters w, std::span<double> predictions) {
  require_size("places for the predictions", predictions.size(), rows());
  require_known_tokens();
  load(w);
  std::vector<std::uint64_t> all(rows());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  for_each_part(all, [&](RowNumbers part) {
    for_each_output(part, [&](std::size_t r, std::span<double> outputs) {
      predictions[part[r]] = losses_.prediction(outputs);
    });
  });
}

void NeuralObjective::outputs(Parameters w, std::span<double> outputs) {
  require_known_tokens();
  load(w);
  std::vector<std::uint64_t> all(rows());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  for_each_part(all, [&](RowNumbers part) {
    for_each_output(part, [&](std::size_t r, std::span<double> of_row) {
      require_size("places for the outputs", outputs.size(), rows() * of_row.size());
      std::copy(of_row.begin(), of_row.end(),
                outputs.begin() + static_cast<std::ptrdiff_t>(part[r] * of_row.size()));
    });
  });
}

}  // namespace

std::unique_ptr<Objective> make_neural(Network network, std::shared_ptr<const Rows> rows,
                                       const NeuralOptions& options) {
  return std::make_unique<NeuralObjective>(std::move(network), std::move(rows), options, nullptr);
}

std::unique_ptr<Objective> make_neural_drawing_from(RandomSource& masks, Network network,
                                                    std::shared_ptr<const Rows> rows,
                                                    const NeuralOptions& options) {
  return std::make_unique<NeuralObjective>(std::move(network), std::move(rows), options, &masks);
}

}  // namespace ration::nn
