#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ration/objectives/neural/tape.h"

namespace ration::nn {

// A layer y = W a at several positions of each row (tokens, pixels), with a the layer's inputs at a position:
// the gradient of row i is W_i = sum_p g_p a_p^T. There are three ways to its norm and to the weighted sum
// over rows:
//
//   keep    form W_i for all rows, as large as rows x parameters, and weigh them: one weight pass. For small
//           layers.
//   gram    |W_i|^2 = sum_{p, q} <a_p, a_q> <g_p, g_q>; then one weighted weight pass. For few positions.
//           Where positions cancel, the sum is small beside its terms and their rounding: gram_room() of them
//           is added, so that no norm is too small.
//   direct  form W_i, take its norm, throw it away; then one weighted weight pass, which adds up the
//   positions
//           in another order than W_i did: sum_room() of what was added up goes on top of the norm.
enum class Way { keep, gram, direct };

struct PositionShape {
  std::int64_t rows = 0;
  std::int64_t positions = 0;
  std::int64_t inputs = 0;   // of a position, in one group
  std::int64_t outputs = 0;  // in one group
  std::int64_t groups = 1;

  std::int64_t parameters() const { return groups * inputs * outputs; }
};

// From the shapes alone. `keep` counts only if there is room to keep.
Way cheapest_way(const PositionShape& shape, bool room = true);

// What rounding to 32 bits may take from a Gram sum, as a share of (sum_p |a_p| |g_p|)^2. Products over
// `width` numbers are added up one after the other, so that errors grow with its root.
double gram_room(std::int64_t width);

// By how much two sums in 32 bits of the same `terms` vectors may differ in length, at worst, as a share of
// the sum of the vectors' lengths: each is off by at most (terms + 1) 2^-24 of it, to first order, whatever
// the order; the second order is in the one term more.
double sum_room(std::int64_t terms);

// What Linear and convolutions share; they say how to get at a row's positions in the tensors of a use.
class PositionSite : public Site {
 public:
  // `weight` is trained; `bias` too, or undefined.
  PositionSite(std::int64_t rows, torch::Tensor weight, torch::Tensor bias, Kernels kernels);

  std::vector<torch::Tensor> parameters() const final;
  void add_squared_norms(std::span<double> squared) final;
  void write_weighted(const torch::Tensor& factors) final;
  void forget_rows(const torch::Tensor& rows) final;

 protected:
  // One use of the layer: its inputs and the gradient of its outputs, rows first.
  struct Use {
    torch::Tensor x;
    torch::Tensor g;
  };
  void keep(Use use);
  const std::vector<Use>& uses() const { return uses_; }

  virtual PositionShape shape(std::size_t use) const = 0;
  // How many positions may read the same number of x.
  virtual std::int64_t readers() const { return 1; }
  // form (+)= sum_p g_p a_p^T over the positions of one use, in an order of its own: inputs x outputs
  // numbers.
  virtual void form(std::size_t use, std::int64_t row, std::int64_t group, bool add, float* form) const = 0;
  // A sum of such forms as the weight is laid out.
  virtual torch::Tensor as_weight(const torch::Tensor& forms) const = 0;
  // Inputs, and gradients of the outputs, position by position; in `scratch` if they do not lie so.
  virtual const float* inputs(std::size_t use, std::int64_t row, std::int64_t group,
                              float* scratch) const = 0;
  virtual const float* gradients(std::size_t use, std::int64_t row, std::int64_t group,
                                 float* scratch) const = 0;
  // The same for `count` rows from `first` on and all groups: rows x groups x positions x numbers. For
  // portable kernels.
  virtual torch::Tensor inputs_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const = 0;
  virtual torch::Tensor gradients_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const = 0;
  // Sum over positions: rows x all outputs.
  virtual torch::Tensor bias_gradients() const = 0;
  // weight.grad = sum_i factors[i] W_i.
  virtual void write_weighted_product(const torch::Tensor& factors) = 0;
  // Whether that also writes the gradient of the bias, if there is one.
  virtual bool product_has_bias() const { return false; }

  Kernels kernels() const { return kernels_; }
  const torch::Tensor& weight() const { return weight_; }
  const torch::Tensor& bias() const { return bias_; }
  bool has_weight() const { return weight_.requires_grad(); }
  bool has_bias() const { return bias_.defined() && bias_.requires_grad(); }

  // Memory of this thread for intermediate results, which grows and stays.
  static float* scratch(std::size_t slot, std::int64_t size);

 private:
  PositionShape whole() const;
  void form_row(std::int64_t row, float* forms) const;
  double single_position_norm(std::int64_t row, const PositionShape& one) const;
  // What `load` gives for each use, next to each other.
  template <class Load>
  const float* join(const Load& load, std::int64_t width) const;
  double gram_norm(std::int64_t row, const PositionShape& all) const;
  double direct_norm(const float* forms, std::int64_t row, const PositionShape& all) const;
  bool is_single(const PositionShape& all) const { return all.positions == 1 && all.groups == 1; }
  void add_weight_norms(std::span<double> squared);
  void add_portable_norms(std::span<double> squared);
  void add_bias_norms(std::span<double> squared);

  torch::Tensor weight_;
  torch::Tensor bias_;
  Kernels kernels_;
  std::vector<Use> uses_;
  torch::Tensor kept_;       // rows x parameters
  torch::Tensor bias_rows_;  // rows x outputs
  Way way_ = Way::direct;
};

// out (as one row) = sum_i factors[i] * rows_of[i]
void weigh_rows(const torch::Tensor& rows_of, const torch::Tensor& factors, torch::Tensor out);
// squared[i] += |rows_of[i]|^2
void add_squared_rows(const torch::Tensor& rows_of, Kernels kernels, std::span<double> squared);

}  // namespace ration::nn
