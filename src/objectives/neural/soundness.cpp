#include "objectives/neural/soundness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "ration/base/error.h"
#include "ration/objectives/neural/layers.h"

namespace ration::nn {
namespace {

using torch::nn::Module;

constexpr std::int64_t kRows = 3;  // that a network is tried on

bool has_own_trained_parameters(const Module& module) {
  const auto own = module.parameters(false);
  return std::any_of(own.begin(), own.end(), [](const torch::Tensor& one) { return one.requires_grad(); });
}

// torch::nn::LinearImpl -> Linear
std::string short_name(const Module& module) {
  std::string name = module.name();
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name = name.substr(colons + 2);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

bool mixes_rows(const Module& module) {
  return short_name(module).find("BatchNorm") != std::string::npos;
}

std::string instead_of(const std::string& name) {
  constexpr std::array<std::string_view, 6> kSame = {"Linear",    "Conv1d",    "Conv2d",
                                                     "Embedding", "LayerNorm", "GroupNorm"};
  if (std::find(kSame.begin(), kSame.end(), name) != kSame.end()) return "ration::nn::" + name;
  if (name.starts_with("InstanceNorm")) return "ration::nn::InstanceNorm";
  if (name == "MultiheadAttention" || name == "GRUCell" || name == "LSTMCell") return "ration::nn::" + name;
  if (name == "GRU" || name == "LSTM" || name == "RNN")
    return "ration::nn::GRUCell or LSTMCell, step by step";
  return "layers of ration/objectives/neural/layers.h";
}

void require_sound_layer(const std::string& where, const Module& module, bool row_by_row) {
  const std::string name = short_name(module);
  if (mixes_rows(module)) {
    throw InputError(fmt::format(
        "network: module '{}' is a {}, which mixes rows, so that no row's influence is bounded; use "
        "ration::nn::GroupNorm",
        where, name));
  }
  if (row_by_row || dynamic_cast<const PrivateLayer*>(&module) != nullptr) return;
  if (!has_own_trained_parameters(module)) return;
  throw InputError(fmt::format(
      "network: module '{}' is a {} with parameters that clipping does not know; use {}, freeze it, or set "
      "row_by_row, which is slow",
      where, name, instead_of(name)));
}

void require_no_sharing(const Module& network) {
  std::set<const void*> seen;
  for (const auto& module : network.modules()) {
    for (const torch::Tensor& parameter : module->parameters(false)) {
      if (!parameter.requires_grad() || parameter.numel() == 0) continue;
      if (!seen.insert(parameter.data_ptr()).second) {
        throw InputError(
            fmt::format("network: two modules share a parameter, one of them a {}; give each its own",
                        short_name(*module)));
      }
    }
  }
}

// Numbers that nobody drew from any data.
torch::Tensor public_rows(const NeuralOptions& options, std::int64_t rows) {
  std::vector<std::int64_t> shape{rows};
  shape.insert(shape.end(), options.input.begin(), options.input.end());
  torch::Tensor x = torch::empty(shape);
  float* const values = x.data_ptr<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const std::int64_t mixed = (i * 7919 + i / 13) % 1009;
    values[i] = options.ids_below > 0 ? static_cast<float>(mixed % options.ids_below)
                                      : static_cast<float>(mixed) / 1009;
  }
  return x;
}

std::vector<torch::Tensor> copies_of(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> out;
  for (const torch::Tensor& tensor : tensors) out.push_back(tensor.clone());
  return out;
}

torch::Tensor outputs_of(const Network& network, const torch::Tensor& x) {
  try {
    return network.forward(x);
  } catch (const c10::Error& error) {
    throw InputError(
        fmt::format("network: it does not run on rows of this shape: {}", error.what_without_backtrace()));
  }
}

void require_outputs(const torch::Tensor& y, std::int64_t rows, std::size_t classes) {
  const auto expected = static_cast<std::int64_t>(std::max<std::size_t>(1, classes));
  if (y.dim() == 2 && y.size(0) == rows && y.size(1) == expected) return;
  throw InputError(fmt::format("network: expected outputs of shape {} x {}, got {}", rows, expected,
                               fmt::join(y.sizes().vec(), " x ")));
}

void require_same_alone(const Network& network, const torch::Tensor& x, const torch::Tensor& together) {
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    const torch::Tensor alone = outputs_of(network, x.narrow(0, row, 1));
    if (!torch::allclose(alone, together.narrow(0, row, 1), 1e-3, 1e-4)) {
      throw InputError(
          "network: the outputs of a row change with the rows beside it, so that no row's influence is "
          "bounded");
    }
  }
}

void require_unchanged(const std::vector<torch::Tensor>& before, const std::vector<torch::Tensor>& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!torch::equal(before[i], after[i])) {
      throw InputError("network: a buffer changes with the rows it sees, which no noise would protect");
    }
  }
}

}  // namespace

void require_sound_layers(const Module& network, bool row_by_row) {
  for (const auto& named : network.named_modules("", true)) {
    require_sound_layer(named.key().empty() ? "network" : named.key(), *named.value(), row_by_row);
  }
  require_no_sharing(network);
}

void require_rows_apart(const Network& network, const NeuralOptions& options) {
  const torch::NoGradGuard no_gradient;
  const torch::Tensor x = public_rows(options, kRows).to(torch::Device(options.device));
  const std::vector<torch::Tensor> before = copies_of(network.module->buffers());
  network.module->train();
  for (const auto& module : network.module->modules()) {
    if (short_name(*module).find("Dropout") != std::string::npos) module->eval();
  }
  const torch::Tensor trained = outputs_of(network, x);
  require_outputs(trained, kRows, options.classes);
  // Of a network that draws numbers by itself, as by dropout in its own forward, no two passes are alike.
  if (torch::equal(trained, outputs_of(network, x))) require_same_alone(network, x, trained);
  require_unchanged(before, network.module->buffers());
  network.module->eval();
  require_same_alone(network, x, outputs_of(network, x));
}

std::size_t count_layers(const Module& network) {
  std::size_t count = 0;
  for (const auto& module : network.modules()) count += has_own_trained_parameters(*module) ? 1 : 0;
  return count;
}

}  // namespace ration::nn
