#include "objectives/neural/embedding_site.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "objectives/neural/portable.h"
#include "objectives/neural/position_site.h"
#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

// |sum of the vectors of equal tokens|^2, summed over tokens, with the room of each sum.
double squared_norm_of_row(const std::int64_t* ids, const float* gradients, std::int64_t positions,
                           std::int64_t width) {
  thread_local std::vector<std::int64_t> order;
  thread_local std::vector<float> sum;
  order.resize(static_cast<std::size_t>(positions));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return ids[a] < ids[b]; });
  double squared = 0;
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first, order.end(), [&](std::int64_t p) { return ids[p] != ids[*first]; });
    if (last - first == 1) {
      squared += squared_length(gradients + *first * width, width);
    } else {
      double reach = 0;
      sum.assign(static_cast<std::size_t>(width), 0);
      for (auto p = first; p != last; ++p) {
        const float* const vector = gradients + *p * width;
        reach += std::sqrt(squared_length(vector, width));
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += vector[j];
      }
      const double longest = std::sqrt(squared_length(sum.data(), width)) + sum_room(last - first) * reach;
      squared += longest * longest;
    }
    first = last;
  }
  return squared;
}

}  // namespace

void EmbeddingSite::add_use(const torch::Tensor& ids, const torch::Tensor& gradient) {
  require_rows(ids, rows());
  require_rows(gradient, rows());
  ids_.push_back(ids.reshape({ids.size(0), -1}));
  gradients_.push_back(gradient.detach().reshape({gradient.size(0), -1, gradient.size(-1)}));
}

void EmbeddingSite::join() {
  ids_ = {(ids_.size() == 1 ? ids_[0] : torch::cat(ids_, 1)).contiguous()};
  gradients_ = {(gradients_.size() == 1 ? gradients_[0] : torch::cat(gradients_, 1)).contiguous()};
}

void EmbeddingSite::add_squared_norms(std::span<double> squared) {
  if (ids_.empty()) return;
  join();
  if (kernels_ == Kernels::portable) return add_portable_norms(squared);
  const std::int64_t positions = gradients_[0].size(1);
  const std::int64_t width = gradients_[0].size(2);
  const std::int64_t* const ids = ids_[0].data_ptr<std::int64_t>();
  const float* const gradients = gradients_[0].data_ptr<float>();
  at::parallel_for(0, gradients_[0].size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      squared[static_cast<std::size_t>(row)] +=
          squared_norm_of_row(ids + row * positions, gradients + row * positions * width, positions, width);
    }
  });
}

void EmbeddingSite::add_portable_norms(std::span<double> squared) {
  const std::int64_t positions = gradients_[0].size(1);
  const std::int64_t of_row = positions * (positions + gradients_[0].size(2));
  for_row_ranges(ids_[0].size(0), of_row, Tape::current()->room(),
                 [&](std::int64_t first, std::int64_t count) {
                   add_embedding_norms(
                       ids_[0].narrow(0, first, count), gradients_[0].narrow(0, first, count),
                       squared.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
                 });
}

void EmbeddingSite::write_weighted(const torch::Tensor& factors) {
  torch::Tensor out = weight_.mutable_grad();
  out.zero_();
  if (ids_.empty()) return;
  const torch::Tensor weighted = gradients_[0] * factors.view({-1, 1, 1});
  if (kernels_ == Kernels::portable) {
    out.index_add_(0, ids_[0].flatten(), weighted.flatten(0, 1));
    return;
  }
  const std::int64_t width = weighted.size(2);
  const std::int64_t* const ids = ids_[0].data_ptr<std::int64_t>();
  const float* from = weighted.data_ptr<float>();
  float* const to = out.data_ptr<float>();
  for (std::int64_t place = 0; place < ids_[0].numel(); ++place, from += width) {
    float* const vector = to + ids[place] * width;
    for (std::int64_t j = 0; j < width; ++j) vector[j] += from[j];
  }
}

void EmbeddingSite::forget_rows(const torch::Tensor& rows) {
  for (torch::Tensor& gradients : gradients_) gradients = gradients.index_fill(0, rows, 0);
}

}  // namespace ration::nn
