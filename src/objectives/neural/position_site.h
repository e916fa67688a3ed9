#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ration/objectives/neural/tape.h"

namespace ration::nn {

// A layer y = W a at several positions of each row (tokens, pixels), with a the layer's inputs at a position: the gradient
// of row i is W_i = sum_p g_p a_p^T. There are three ways to its norm and to the weighted sum over rows:
//
//   keep    form W_i for all rows, as large as rows x parameters, and weigh them: one weight pass. For small layers.
//   gram    |W_i|^2 = sum_{p, q} <a_p, a_q> <g_p, g_q>; then one weighted weight pass. For few positions.
//   direct  form W_i, take its norm, throw it away; then one weighted weight pass.
enum class Way { keep, gram, direct };

struct PositionShape {
  std::int64_t rows = 0;
  std::int64_t positions = 0;
  std::int64_t inputs = 0;   // of a position, in one group
  std::int64_t outputs = 0;  // in one group
  std::int64_t groups = 1;

  std::int64_t parameters() const { return groups * inputs * outputs; }
};

// From the shapes alone.
Way cheapest_way(const PositionShape& shape);

// What Linear and convolutions share; they say how to get at a row's positions in the tensors of a use.
class PositionSite : public Site {
 public:
  // `weight` is trained; `bias` too, or undefined.
  PositionSite(torch::Tensor weight, torch::Tensor bias);

  void add_squared_norms(std::span<double> squared) final;
  void write_weighted(const torch::Tensor& factors) final;
  void forget_rows(const torch::Tensor& rows) final;

 protected:
  // One use of the layer: its inputs and the gradient of its outputs, rows first.
  struct Use {
    torch::Tensor x;
    torch::Tensor g;
  };
  void keep(Use use) { uses_.push_back(std::move(use)); }
  const std::vector<Use>& uses() const { return uses_; }

  virtual PositionShape shape(std::size_t use) const = 0;
  // Inputs of the positions first, ..., first + count - 1, one after the other.
  virtual void load_inputs(std::size_t use, std::int64_t row, std::int64_t group, std::int64_t first,
                           std::int64_t count, float* to) const = 0;
  // Gradients output by output, the positions of each next to each other; in `scratch` if they do not lie so.
  virtual const float* gradients(std::size_t use, std::int64_t row, std::int64_t group,
                                 float* scratch) const = 0;
  // Sum over positions: rows x all outputs.
  virtual torch::Tensor bias_gradients() const = 0;
  // weight.grad = sum_i factors[i] W_i.
  virtual void write_weighted_product(const torch::Tensor& factors) = 0;

  const torch::Tensor& weight() const { return weight_; }
  bool has_weight() const { return weight_.requires_grad(); }
  bool has_bias() const { return bias_.defined() && bias_.requires_grad(); }

 private:
  PositionShape whole() const;
  void form_row(std::int64_t row, float* gradient) const;
  double single_position_norm(std::int64_t row, const PositionShape& one) const;
  double gram_norm(std::int64_t row) const;
  void add_weight_norms(std::span<double> squared);

  torch::Tensor weight_;
  torch::Tensor bias_;
  std::vector<Use> uses_;
  torch::Tensor kept_;       // rows x parameters
  torch::Tensor bias_rows_;  // rows x outputs
  Way way_ = Way::direct;
};

// out (as one row) = sum_i factors[i] * rows_of[i]
void weigh_rows(const torch::Tensor& rows_of, const torch::Tensor& factors, torch::Tensor out);
// squared[i] += |rows_of[i]|^2
void add_squared_rows(const torch::Tensor& rows_of, std::span<double> squared);

}  // namespace ration::nn
