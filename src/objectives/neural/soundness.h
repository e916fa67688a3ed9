#pragma once

#include <cstdint>
#include <vector>

#include "objectives/neural/flat_parameters.h"
#include "ration/objectives/neural/neural.h"
#include "ration/objectives/neural/tape.h"

namespace ration::nn {

// Throws InputError, naming the module and what to use in its place, unless every gradient of a row is that
// row's alone and the tape sees all of it.
void require_sound_layers(const torch::nn::Module& network, bool row_by_row);

// Tries the network on public numbers, as it is trained and as it is used, at weights near its own, and
// throws InputError unless
//   the outputs of a row are the same alone and in batches of different size and order, and so are the
//   gradients that each site sees of it (a layer may see rows in another order although the outputs do not
//   show it); all that trains in a layer in use is reported by its site, and autograd computes no gradient by
//   itself; no buffer changes, nothing is remembered, and nothing is drawn by torch's generator; there is one
//   output per class.
// No trial finds a network that mixes rows only where they hold some numbers; that rows keep to themselves
// there too is for whoever writes the network to see to.
void require_rows_apart(const Network& network, const NeuralOptions& options, Kernels kernels,
                        FlatParameters& flat);

// InputError unless there is one row of outputs for each row, and one output for each class; 0 classes: one.
void require_outputs(const torch::Tensor& y, std::int64_t rows, std::size_t classes);

// The parameters that the tape's sites write the gradients of.
std::vector<torch::Tensor> reported_by(const Tape& tape);

// Layers with something to train.
std::size_t count_layers(const torch::nn::Module& network);

}  // namespace ration::nn
