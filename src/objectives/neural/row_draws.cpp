#include "objectives/neural/row_draws.h"

#include <cmath>
#include <utility>
#include <vector>

#include "ration/objectives/neural/tape.h"

namespace ration::nn {
namespace {

thread_local RowDraws* current_draws = nullptr;

}  // namespace

RowDraws::RowDraws(std::span<const std::uint64_t> rows, KeyedBits& bits)
    : outer_(std::exchange(current_draws, this)), rows_(rows), bits_(bits) {}

RowDraws::~RowDraws() {
  current_draws = outer_;
}

RowDraws* RowDraws::current() {
  return current_draws;
}

torch::Tensor RowDraws::mask(const torch::Tensor& x, double p) {
  const auto rows = static_cast<std::int64_t>(rows_.size());
  require_rows(x, rows);
  const auto size = static_cast<std::size_t>(x.numel() / std::max<std::int64_t>(1, rows));
  const auto dropped_below = static_cast<std::uint64_t>(std::llround(std::ldexp(p, 32)));
  const auto kept = static_cast<float>(1 / (1 - p));
  torch::Tensor mask = torch::empty(x.sizes(), torch::kFloat);
  std::vector<std::uint32_t> words(size);
  float* to = mask.data_ptr<float>();
  for (const std::uint64_t row : rows_) {
    bits_.fill(row, draws_, words);
    for (const std::uint32_t word : words) *to++ = word < dropped_below ? 0.0f : kept;
  }
  ++draws_;
  return mask.to(x.options());
}

}  // namespace ration::nn
