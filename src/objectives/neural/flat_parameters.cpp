#include "objectives/neural/flat_parameters.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "objectives/neural/convert.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {
namespace {

struct Trained {
  std::vector<std::string> names;
  std::vector<torch::Tensor> parameters;
};

Trained trained(const torch::nn::Module& network) {
  Trained out;
  for (const auto& one : network.named_parameters()) {
    if (!one.value().requires_grad()) continue;
    out.names.push_back(one.key());
    out.parameters.push_back(one.value());
  }
  return out;
}

std::int64_t total_size(const std::vector<torch::Tensor>& tensors) {
  std::int64_t size = 0;
  for (const torch::Tensor& tensor : tensors) size += tensor.numel();
  return size;
}

template <class Work>
void for_each_range(std::size_t size, const Work& work) {
  constexpr std::int64_t kWorthAThread = 1 << 16;
  at::parallel_for(0, static_cast<std::int64_t>(size), kWorthAThread,
                   [&](std::int64_t begin, std::int64_t end) {
                     work(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
                   });
}

}  // namespace

FlatParameters::FlatParameters(torch::nn::Module& network) {
  const torch::NoGradGuard no_gradient;
  Trained found = trained(network);
  names_ = std::move(found.names);
  parameters_ = std::move(found.parameters);
  const std::int64_t size = total_size(parameters_);
  if (size == 0) throw InputError("network: expected parameters to train, got none");
  const auto on_device = torch::device(parameters_[0].device());
  torch::Tensor values = torch::empty({size}, on_device);
  gradients_ = torch::zeros({size}, on_device);
  std::int64_t first = 0;
  for (torch::Tensor& parameter : parameters_) {
    if (parameter.scalar_type() != torch::kFloat) throw InputError("network: expected parameters of 32 bits");
    values.narrow(0, first, parameter.numel()).view_as(parameter).copy_(parameter);
    places_.emplace(parameter.unsafeGetTensorImpl(), gradients_of_.size());
    gradients_of_.push_back(gradients_.narrow(0, first, parameter.numel()).view_as(parameter));
    parameter.mutable_grad() = gradients_of_.back();
    first += parameter.numel();
  }
  look_into(std::move(values));
  if (!is_here()) here_ = torch::empty({size});
}

void FlatParameters::look_into(torch::Tensor values) {
  values_ = std::move(values);
  std::int64_t first = 0;
  for (torch::Tensor& parameter : parameters_) {
    parameter.set_data(values_.narrow(0, first, parameter.numel()).view_as(parameter));
    first += parameter.numel();
  }
}

void FlatParameters::hide_gradients() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad() = torch::Tensor();
}

void FlatParameters::show_gradients() {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [](const torch::Tensor& one) { return one.grad().defined(); });
  if (found != parameters_.end()) {
    throw InputError(
        fmt::format("network: parameter '{}' is trained behind the back of its layer, so that nothing clips "
                    "its gradient; "
                    "use the layers of ration/objectives/neural/layers.h as they are, freeze it, or set "
                    "row_by_row, which "
                    "is slow",
                    names_[static_cast<std::size_t>(found - parameters_.begin())]));
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].mutable_grad() = gradients_of_[i];
}

void FlatParameters::clear_all_but(std::span<const torch::Tensor> written) {
  is_written_.assign(parameters_.size(), false);
  for (const torch::Tensor& one : written) {
    const auto found = places_.find(one.unsafeGetTensorImpl());
    if (found == places_.end() || is_written_[found->second]) {
      throw InputError(
          "network: a layer trains a parameter that is not among the network's, or that another one trains "
          "too; register each layer once");
    }
    is_written_[found->second] = true;
  }
  for (std::size_t i = 0; i < gradients_of_.size(); ++i) {
    if (!is_written_[i]) gradients_of_[i].zero_();
  }
}

void FlatParameters::load(std::span<const double> w) {
  if (lent_) look_into(torch::empty_like(values_));
  lent_ = nullptr;
  float* const to = (is_here() ? values_ : here_).data_ptr<float>();
  for_each_range(w.size(), [=](std::size_t begin, std::size_t end) {
    to_floats(w.data() + begin, end - begin, to + begin);
  });
  if (!is_here()) values_.copy_(here_);
}

// The tensors hold on to the weights: a network may be looked at after its run.
void FlatParameters::look_at(const FloatWeights& w) {
  if (w == lent_) return;
  const torch::Tensor given = torch::from_blob(const_cast<float*>(w->data()), values_.sizes(), [w](void*) {});
  if (!is_here()) {
    values_.copy_(given);
    return;
  }
  look_into(given);
  lent_ = w;
}

std::span<const float> FlatParameters::gradients() {
  if (!is_here()) here_.copy_(gradients_);
  return {(is_here() ? gradients_ : here_).data_ptr<float>(), size()};
}

void FlatParameters::add_gradients_to(std::span<double> sum) {
  const std::span<const float> from = gradients();
  for_each_range(sum.size(), [=](std::size_t begin, std::size_t end) {
    add_floats(from.data() + begin, end - begin, sum.data() + begin);
  });
}

std::vector<double> trained_parameters(const torch::nn::Module& network) {
  const std::vector<torch::Tensor> parameters = trained(network).parameters;
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(total_size(parameters)));
  for (const torch::Tensor& parameter : parameters) {
    const torch::Tensor plain = parameter.detach().cpu().contiguous();
    const float* const from = plain.data_ptr<float>();
    out.insert(out.end(), from, from + plain.numel());
  }
  return out;
}

}  // namespace ration::nn
