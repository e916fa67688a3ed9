#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "objectives/glm/losses.h"
#include "ration/clipping/any_clip_rule.h"
#include "ration/objectives/objective.h"

namespace ration::nn {

// The loss of a network's outputs, row by row: what the backward pass begins with, and what clipping then
// multiplies each row's gradient with.
//
// Scales      a row's slopes go into the backward pass times a power of two that brings the largest of them
//             into [1, 2). The row's gradient is in proportion to them, and where a row is classified for
//             sure they are so small that their squares vanish in 32 bits: a rule that divides by the norm
//             would let it contribute many times its bound.
class RowLosses {
 public:
  // Softmax over so many classes; 0: one output and the squared loss.
  explicit RowLosses(std::size_t classes);

  PublicFacts facts() const;
  // Throws InputError, with its row, for a label that the loss does not take.
  void require_labels(std::span<const double> labels) const;
  double loss(std::span<double> outputs, double label) const;
  double prediction(std::span<double> outputs) const;

  // The slopes of each row's loss, times the row's scale, which is kept until the next call; in 32 bits,
  // where the outputs are. `labels` are those of the whole table, `part` says which rows the outputs belong
  // to.
  torch::Tensor slopes(const torch::Tensor& outputs, std::span<const double> labels,
                       std::span<const std::uint64_t> part);
  // The norm of a row's gradient, r its place in the part, from the squared length of what came back.
  double norm(std::size_t r, double squared) const;
  // What that is to be multiplied with, the scale included.
  double factor(std::size_t r, double squared, const AnyClipRule& rule) const;

 private:
  std::variant<SoftmaxLoss, SquaredLoss> loss_;
  std::vector<double> scales_;  // of the part's rows
};

}  // namespace ration::nn
