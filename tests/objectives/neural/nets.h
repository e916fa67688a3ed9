#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ration/base/error.h"
#include "ration/objectives/neural/layers.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {

inline Batch all_rows(std::size_t count) {
  Batch batch;
  batch.rows.resize(count);
  std::iota(batch.rows.begin(), batch.rows.end(), std::uint64_t{0});
  batch.divisor = static_cast<double>(count);
  return batch;
}

// Rows that depend on nothing but the seed.
inline std::shared_ptr<const Rows> made_up_rows(std::size_t count, std::size_t columns, std::size_t classes,
                                                std::uint64_t seed, std::int64_t ids_below = 0) {
  std::vector<double> values(count * columns);
  std::vector<double> labels(count);
  std::uint64_t state = seed * 2654435761U + 12345;
  const auto next = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  for (double& value : values)
    value = ids_below > 0 ? std::floor(next() * static_cast<double>(ids_below)) : 2 * next() - 1;
  for (double& label : labels)
    label = classes > 0 ? std::floor(next() * static_cast<double>(classes)) : 2 * next();
  return std::make_shared<const Rows>(Rows::dense(columns, std::move(values), std::move(labels)));
}

// A network in 64 bits for as long as this lives.
class InDoubles {
 public:
  explicit InDoubles(torch::nn::Module& network) : network_(network) {
    for (const torch::Tensor& one : network.parameters()) floats_.push_back(one.data());
    network.to(torch::kDouble);
  }
  ~InDoubles() {
    std::size_t next = 0;
    for (torch::Tensor& one : network_.parameters()) one.set_data(floats_[next++]);
  }
  InDoubles(const InDoubles&) = delete;
  InDoubles& operator=(const InDoubles&) = delete;

 private:
  torch::nn::Module& network_;
  std::vector<torch::Tensor> floats_;
};

// The same sum from one ordinary backward pass per row in 64 bits, with torch's own gradients of parameters.
// `lengths`, if given, becomes the sum of what each row contributes in length, which is what the error of a
// sum whose rows cancel is to be measured by.
inline std::vector<double> clipped_sum_row_by_row(Network network, const Rows& rows,
                                                  const NeuralOptions& options, const Batch& batch,
                                                  const AnyClipRule& rule, double* lengths = nullptr) {
  const InDoubles in_doubles(*network.module);
  std::vector<torch::Tensor> parameters;
  for (const torch::Tensor& one : network.module->parameters()) {
    if (one.requires_grad()) parameters.push_back(one);
  }
  std::vector<double> sum;
  for (const torch::Tensor& one : parameters) sum.resize(sum.size() + static_cast<std::size_t>(one.numel()));
  for (const std::uint64_t row : batch.rows) {
    std::vector<std::int64_t> shape{1};
    shape.insert(shape.end(), options.input.begin(), options.input.end());
    torch::Tensor x = torch::zeros(shape, torch::kDouble);
    for (std::int64_t j = 0; j < x.numel(); ++j)
      x.data_ptr<double>()[j] =
          static_cast<double>(static_cast<float>(rows.dense_row(row)[static_cast<std::size_t>(j)]));
    const torch::Tensor y = network.forward(x);
    torch::Tensor loss;
    if (options.classes > 0) {
      loss = torch::cross_entropy_loss(y, torch::full({1}, static_cast<std::int64_t>(rows.labels()[row])));
    } else {
      loss = 0.5 * (y - rows.labels()[row]).pow(2).sum();
    }
    const std::vector<torch::Tensor> gradients =
        torch::autograd::grad({loss}, parameters, {}, false, false, /*allow_unused=*/true);
    double squared = 0;
    for (const torch::Tensor& one : gradients) {
      if (one.defined()) squared += one.to(torch::kDouble).pow(2).sum().item<double>();
    }
    const double flat_factor =
        rule.visit([&](const auto& chosen) { return clip_factor(chosen, std::sqrt(squared)); });
    if (lengths != nullptr) *lengths += flat_factor * std::sqrt(squared);
    std::size_t place = 0;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const auto size = static_cast<std::size_t>(parameters[k].numel());
      if (gradients[k].defined()) {
        const torch::Tensor one = gradients[k].to(torch::kDouble).contiguous();
        for (std::size_t i = 0; i < size; ++i) sum[place + i] += flat_factor * one.data_ptr<double>()[i];
      }
      place += size;
    }
  }
  return sum;
}

// Why `act` was refused; empty if it was not.
inline std::string refusal(const auto& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline std::vector<double> clipped(Objective& objective, const std::vector<double>& w, const Batch& batch,
                                   const AnyClipRule& rule) {
  std::vector<double> sum(objective.parameters());
  objective.clipped_gradient_sum(w, batch, rule, sum);
  return sum;
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squared = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squared += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squared);
}

inline double length(const std::vector<double>& a) {
  return distance(a, std::vector<double>(a.size()));
}

// What a norm's room for rounding may take from a contribution in networks of this size, where positions are
// added up twice, in two orders (position_site.h).
inline constexpr double kRoomOfSums = 2e-3;

// The sum over a batch is that of its rows alone, and each of them the row's own gradient, to 1e-5 of what
// they contribute in length: as long as the rule says, or shorter by no more than `room`.
inline void expect_clipped_sum(Objective& objective, const Network& net, const Rows& rows,
                               const NeuralOptions& options, const std::vector<double>& w, const Batch& batch,
                               const AnyClipRule& rule, double room) {
  constexpr double kRounding = 1e-5;
  std::vector<double> total(w.size());
  double lengths = 0, aside = 0, shortened = 0;
  for (const std::uint64_t row : batch.rows) {
    const auto alone = clipped(objective, w, {.rows = {row}}, rule);
    const auto expected = clipped_sum_row_by_row(net, rows, options, {.rows = {row}}, rule);
    const double long_ = length(expected);
    const double share =
        long_ == 0 ? 0
                   : std::inner_product(alone.begin(), alone.end(), expected.begin(), 0.0) / (long_ * long_);
    double squared = 0;
    for (std::size_t i = 0; i < total.size(); ++i) {
      total[i] += alone[i];
      squared += (alone[i] - share * expected[i]) * (alone[i] - share * expected[i]);
    }
    lengths += long_;
    aside += std::sqrt(squared);
    shortened += (1 - share) * long_;
  }
  EXPECT_LE(aside, kRounding * lengths);
  EXPECT_GE(shortened, -kRounding * lengths);
  EXPECT_LE(shortened, (kRounding + room) * lengths);
  EXPECT_LE(distance(clipped(objective, w, batch, rule), total), kRounding * lengths);
}

}  // namespace ration::nn
