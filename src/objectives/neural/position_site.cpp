#include "objectives/neural/position_site.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "objectives/neural/portable.h"
#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

constexpr std::int64_t kTouch = 8;       // what writing and reading a kept number costs, in multiply-adds
constexpr std::int64_t kRowsAtOnce = 1;  // grain of the parallel loops

enum Slot : std::size_t { kByPosition, kByNumber, kGram, kForm };

// products (p x p) = M M^T, M p x width by position.
void gram_of(const float* by_position, std::int64_t p, std::int64_t width, float* by_number,
             float* products) {
  transpose(by_position, p, width, by_number);
  SmallProduct(p, p, width, false)(by_number, by_position, products);
}

// max(0, sum), which is NaN where the sum is: a row without a finite norm has to be known as one.
double not_negative(double sum) {
  return sum < 0 ? 0 : sum;
}

double squared_length_of_row(const torch::Tensor& rows_of, std::int64_t row) {
  const std::int64_t size = rows_of.numel() / rows_of.size(0);
  return squared_length(rows_of.data_ptr<float>() + row * size, size);
}

// Squared lengths of the positions' vectors from the diagonal of their Gram matrix. False if some of them is
// so short that its square has lost its digits in 32 bits: the matrix is not to be used then.
bool take_lengths(const float* products, const float* by_position, std::int64_t p, std::int64_t width,
                  std::vector<double>& squared) {
  const double smallest = smallest_exact_square(width);
  bool exact = true;
  squared.resize(static_cast<std::size_t>(p));
  for (std::int64_t i = 0; i < p; ++i) {
    double& length = squared[static_cast<std::size_t>(i)];
    length = static_cast<double>(products[i * (p + 1)]);
    if (!(length < smallest)) continue;
    length = squared_length(by_position + i * width, width);
    exact = exact && length == 0;
  }
  return exact;
}

// Along the positions.
torch::Tensor side_by_side(const std::vector<torch::Tensor>& uses) {
  return uses.size() == 1 ? uses[0] : torch::cat(uses, 2);
}

}  // namespace

Way cheapest_way(const PositionShape& shape, bool room) {
  const std::int64_t area = shape.inputs * shape.outputs;
  const std::int64_t form = shape.positions * area;
  const std::int64_t gram = shape.positions * shape.positions * (shape.inputs + shape.outputs);
  if (room && kTouch * area < std::min(gram, form)) return Way::keep;
  return gram < form ? Way::gram : Way::direct;
}

double gram_room(std::int64_t width) {
  return 0x1p-24 * (2 + std::sqrt(static_cast<double>(width)));
}

double sum_room(std::int64_t terms) {
  return 0x1p-23 * static_cast<double>(terms + 2);
}

PositionSite::PositionSite(std::int64_t rows, torch::Tensor weight, torch::Tensor bias, Kernels kernels)
    : Site(rows), weight_(std::move(weight)), bias_(std::move(bias)), kernels_(kernels) {}

std::vector<torch::Tensor> PositionSite::parameters() const {
  std::vector<torch::Tensor> trained;
  if (has_weight()) trained.push_back(weight_);
  if (has_bias()) trained.push_back(bias_);
  return trained;
}

void PositionSite::keep(Use use) {
  require_rows(use.x, rows());
  require_rows(use.g, rows());
  uses_.push_back(std::move(use));
}

float* PositionSite::scratch(std::size_t slot, std::int64_t size) {
  thread_local std::vector<float> memory[8];
  std::vector<float>& chosen = memory[slot];
  if (chosen.size() < static_cast<std::size_t>(size)) chosen.resize(static_cast<std::size_t>(size));
  return chosen.data();
}

PositionShape PositionSite::whole() const {
  PositionShape sum = shape(0);
  for (std::size_t use = 1; use < uses_.size(); ++use) sum.positions += shape(use).positions;
  return sum;
}

// forms: one for each group.
void PositionSite::form_row(std::int64_t row, float* forms) const {
  for (std::size_t use = 0; use < uses_.size(); ++use) {
    const PositionShape one = shape(use);
    for (std::int64_t group = 0; group < one.groups; ++group) {
      form(use, row, group, use > 0, forms + group * one.inputs * one.outputs);
    }
  }
}

// |g a^T| = |g| |a|, and the gradient of a bias is g.
double PositionSite::single_position_norm(std::int64_t row, const PositionShape& one) const {
  float* const memory = scratch(kByPosition, std::max(one.inputs, one.outputs));
  const double of_inputs = squared_length(inputs(0, row, 0, memory), one.inputs) + (has_bias() ? 1 : 0);
  return of_inputs * squared_length(gradients(0, row, 0, memory), one.outputs);
}

template <class Load>
const float* PositionSite::join(const Load& load, std::int64_t width) const {
  float* const all = scratch(kByPosition, whole().positions * width);
  if (uses_.size() == 1) return load(0, all);
  float* to = all;
  for (std::size_t use = 0; use < uses_.size(); ++use) {
    const float* const from = load(use, to);
    const std::int64_t size = shape(use).positions * width;
    if (from != to) std::copy_n(from, size, to);
    to += size;
  }
  return all;
}

double PositionSite::gram_norm(std::int64_t row, const PositionShape& all) const {
  const std::int64_t p = all.positions;
  float* const by_number = scratch(kByNumber, p * std::max(all.inputs, all.outputs));
  float* const products = scratch(kGram, 2 * p * p);
  thread_local std::vector<double> of_inputs, of_gradients;
  double squared = 0;
  for (std::int64_t group = 0; group < all.groups; ++group) {
    const auto load_inputs = [&](std::size_t use, float* to) { return inputs(use, row, group, to); };
    const auto load_gradients = [&](std::size_t use, float* to) { return gradients(use, row, group, to); };
    const float* const a = join(load_inputs, all.inputs);
    gram_of(a, p, all.inputs, by_number, products);
    bool exact = take_lengths(products, a, p, all.inputs, of_inputs);
    const float* const g = join(load_gradients, all.outputs);
    gram_of(g, p, all.outputs, by_number, products + p * p);
    exact = take_lengths(products + p * p, g, p, all.outputs, of_gradients) && exact;
    double reach = 0;
    for (std::size_t i = 0; i < of_inputs.size(); ++i) reach += std::sqrt(of_inputs[i] * of_gradients[i]);
    const double room = gram_room(std::max(all.inputs, all.outputs)) * reach * reach;
    // |W_i| <= reach, whatever was lost.
    squared += exact ? not_negative(dot(products, products + p * p, p * p)) + room : reach * reach;
  }
  return squared;
}

// sum_p |a_p| |g_p|, which the room is a share of, is at most the root of the product of their squares' sums.
double PositionSite::direct_norm(const float* forms, std::int64_t row, const PositionShape& all) const {
  double of_inputs = 0, of_gradients = 0;
  for (const Use& use : uses_) {
    of_inputs += squared_length_of_row(use.x, row);
    of_gradients += squared_length_of_row(use.g, row);
  }
  const double reach = std::sqrt(static_cast<double>(readers()) * of_inputs * of_gradients);
  const double norm = std::sqrt(squared_length(forms, all.parameters())) + sum_room(all.positions) * reach;
  return norm * norm;
}

void PositionSite::add_portable_norms(std::span<double> squared) {
  const PositionShape all = whole();
  way_ = cheapest_way(all, false);
  const std::int64_t of_form =
      way_ == Way::gram ? 2 * all.positions * all.positions : all.inputs * all.outputs;
  const std::int64_t of_row = all.groups * (all.positions * (all.inputs + all.outputs) + of_form);
  for_row_ranges(all.rows, of_row, Tape::current()->room(), [&](std::int64_t first, std::int64_t count) {
    std::vector<torch::Tensor> inputs, gradients;
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      inputs.push_back(inputs_of_rows(use, first, count));
      gradients.push_back(gradients_of_rows(use, first, count));
    }
    add_position_norms(side_by_side(inputs), side_by_side(gradients), way_ == Way::gram,
                       squared.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  });
}

void PositionSite::add_weight_norms(std::span<double> squared) {
  if (kernels_ == Kernels::portable) return add_portable_norms(squared);
  const PositionShape all = whole();
  const std::int64_t size = all.parameters();
  way_ = cheapest_way(all);
  if (way_ == Way::keep && !Tape::current()->may_keep(all.rows * size)) way_ = cheapest_way(all, false);
  if (way_ == Way::keep) kept_ = torch::empty({all.rows, size});
  float* const kept = way_ == Way::keep ? kept_.data_ptr<float>() : nullptr;
  const bool single = is_single(all);
  at::parallel_for(0, all.rows, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      double& sum = squared[static_cast<std::size_t>(row)];
      if (way_ == Way::gram) {
        sum += single ? single_position_norm(row, all) : gram_norm(row, all);
        continue;
      }
      float* const forms = kept != nullptr ? kept + row * size : scratch(kForm, size);
      form_row(row, forms);
      sum += kept != nullptr ? squared_length(forms, size) : direct_norm(forms, row, all);
    }
  });
}

void PositionSite::add_squared_norms(std::span<double> squared) {
  if (uses_.empty()) return;
  if (has_weight()) add_weight_norms(squared);
  if (has_bias()) add_bias_norms(squared);
}

// Those of a single position are in the weight's.
void PositionSite::add_bias_norms(std::span<double> squared) {
  bias_rows_ = bias_gradients();
  const bool is_done =
      kernels_ == Kernels::fastest && has_weight() && way_ == Way::gram && is_single(whole());
  if (!is_done) add_squared_rows(bias_rows_, kernels_, squared);
}

void PositionSite::write_weighted(const torch::Tensor& factors) {
  if (uses_.empty()) {
    if (has_weight()) weight_.mutable_grad().zero_();
    if (has_bias()) bias_.mutable_grad().zero_();
    return;
  }
  const bool by_product = has_weight() && way_ != Way::keep && product_has_bias();
  if (has_bias() && !by_product) weigh_rows(bias_rows_, factors, bias_.mutable_grad());
  if (!has_weight()) return;
  if (way_ == Way::keep) {
    weight_.mutable_grad().copy_(as_weight(at::mv(kept_.t(), factors)));
  } else {
    write_weighted_product(factors);
  }
}

void PositionSite::forget_rows(const torch::Tensor& rows) {
  if (kept_.defined()) kept_.index_fill_(0, rows, 0);
  if (bias_rows_.defined()) bias_rows_.index_fill_(0, rows, 0);
  for (Use& use : uses_) {
    use.x = use.x.index_fill(0, rows, 0);
    use.g = use.g.index_fill(0, rows, 0);
  }
}

void weigh_rows(const torch::Tensor& rows_of, const torch::Tensor& factors, torch::Tensor out) {
  torch::Tensor flat = out.view({-1});
  at::mv_out(flat, rows_of.reshape({rows_of.size(0), -1}).t(), factors);
}

void add_squared_rows(const torch::Tensor& rows_of, Kernels kernels, std::span<double> squared) {
  if (kernels == Kernels::portable) return add_row_norms(rows_of, squared);
  const torch::Tensor flat = rows_of.reshape({rows_of.size(0), -1}).contiguous();
  const std::int64_t size = flat.size(1);
  const float* const values = flat.data_ptr<float>();
  at::parallel_for(0, flat.size(0), 1 + 16384 / std::max<std::int64_t>(1, size),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       squared[static_cast<std::size_t>(row)] += squared_length(values + row * size, size);
                     }
                   });
}

}  // namespace ration::nn
