#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <string>

namespace ration::nn {

// Moves the network there. InputError if this libtorch cannot compute there (require_device, neural.h).
torch::Device move_to(const std::string& device, torch::nn::Module& network);

}  // namespace ration::nn
