#pragma once

#include "ration/objectives/neural/neural.h"

namespace ration::nn {

// Throws InputError, naming the module and what to use in its place, unless every gradient of a row is that
// row's alone and the tape sees all of it.
void require_sound_layers(const torch::nn::Module& network, bool row_by_row);

// Tries the network on public numbers, as it is trained and as it is used: the outputs of a row must not
// change with the rows beside it, no buffer may change, and there must be one output per class. Throws
// InputError.
void require_rows_apart(const Network& network, const NeuralOptions& options);

// Layers with something to train.
std::size_t count_layers(const torch::nn::Module& network);

}  // namespace ration::nn
