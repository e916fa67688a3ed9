// For extensions: may change between minor versions.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ration/data/rows.h"
#include "ration/objectives/neural/tape.h"
#include "ration/objectives/objective.h"

namespace ration::nn {

// Any torch module whose forward takes a tensor of rows and gives one of outputs.
struct Network {
  Network() = default;
  // From a module's holder: Sequential, or whatever TORCH_MODULE made.
  template <class Holder>
  Network(Holder holder)  // NOLINT: a network is a network
      : module(holder.ptr()),
        forward([holder](const torch::Tensor& x) mutable -> torch::Tensor { return holder->forward(x); }) {}

  std::shared_ptr<torch::nn::Module> module;                   // holds the parameters
  std::function<torch::Tensor(const torch::Tensor&)> forward;  // from rows to outputs
};

// What the rows of a network are, and how it is computed.
struct NeuralOptions {
  // Shape of one row: {784}, {1, 28, 28}; the first so many columns of the table.
  std::vector<std::int64_t> input;
  std::size_t classes = 2;  // >= 2: softmax over so many outputs; 0: one output and the squared loss
  // Inputs are tokens 0, ..., ids_below - 1, and a row with any other contributes nothing; 0: they are any
  // numbers.
  std::int64_t ids_below = 0;
  std::int64_t most_kept = Tape::kMostKept;  // numbers that clipping may keep beside the activations
  std::size_t rows_at_once = 512;            // >= 1: larger batches are worked on in parts of about so many
  std::size_t threads = 0;                   // 0: one per processor
  std::string device = "cpu";                // "cuda", "cuda:1", ..., where libtorch has them
  Kernels kernels = Kernels::fastest;        // portable on any other device than "cpu"
  bool row_by_row = false;  // opt in to a backward pass for each row, for networks with other layers
  bool labels = true;       // false: labels are not looked at; only predict() has a meaning
};

// A network on rows: l_i(w) = loss(network(w, x_i), y_i). Parameters are the network's trained ones, in the
// order of named_parameters(), in one flat buffer that torch's tensors look into.
//
// Cost        one forward and one backward pass for activations; a norm per row and layer by the cheapest way
//             its shapes allow; one weighted product per layer. No gradient of a row is formed, unless that
//             is the cheapest way.
// Refused     networks whose rows mix (BatchNorm), found by name, by trying public numbers, and in every step
//             by the shapes that layers see; modules with parameters of another kind than layers.h, or that
//             autograd computes a gradient of by itself, unless `row_by_row`; parameters that two modules
//             share; random numbers by torch's generator.
// Not found   code that mixes rows only where they hold certain numbers: a forward() must treat each row by
//             itself.
// Device      the network's passes and the clipped sums are computed there; weights, noise and steps stay
//             with the processor, so that what is promised is the same everywhere.
// Precision   32 bits within a part of a batch, 64 bits from there on. A row's factor leaves room for the
//             rounding of its norm (kSinglePrecisionRoom); the rounding of sums in 32 bits is not in the
//             sensitivity, and the certificate says so (PublicFacts::single_precision).
// Edge cases  a row without a finite norm, or with a token that there is not, contributes 0; mean_loss() and
//             predict() throw InputError for such a token. If torch fails on a batch, InputError says so
//             without torch's words, which may quote a row. Results may differ in the last digits with the
//             number of threads, as torch's do.
std::unique_ptr<Objective> make_neural(Network network, std::shared_ptr<const Rows> rows,
                                       const NeuralOptions& options);

// By how much a row's factor is smaller than its rule says.
inline constexpr double kSinglePrecisionRoom = 0x1p-18;

// The trained parameters as they stand.
std::vector<double> trained_parameters(const torch::nn::Module& network);

// InputError, with the reason, unless this libtorch can compute there: "cpu", "cuda", "cuda:1", ...
void require_device(const std::string& device);

// Torch and its algebra use so many threads from now on; 0: one per processor.
void use_threads(std::size_t threads);

}  // namespace ration::nn
