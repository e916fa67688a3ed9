// For extensions: may change between minor versions.
#pragma once

#include "ration/base/random.h"
#include "ration/objectives/network.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {

// The networks that can be named:
//
//   mlp:256,256[:relu|tanh|sigmoid]  fully connected layers of these widths; any rows
//   cnn:papernot                     16 channels 8x8/2, 32 channels 4x4/2, 32 units, tanh; images
//                                    [Papernot21, Tab. 1]
//   cnn:bls                          6 and 16 channels 5x5, 256 and 128 units, ReLU; images [Chen20, Sec.
//                                    V-G]
//   cnn:bls-cifar                    32, 64, 128, 128, 256, 256 channels 3x3, 4096, 1024 and 512 units;
//                                    images [Chen20, Sec. V-G]
//   resnet9[:width]                  two residual blocks, GroupNorm and Mish; images of 32x32 and more
//                                    [Klause22]
//   transformer:small                2 layers of width 128, 4 heads, learned places; texts
//   transformer:LAYERS,WIDTH,HEADS   the same in another size
//   bag:WIDTH                        the mean of the words' vectors of this width, and a linear layer; texts
//
// InputError for a name of no such form, or rows that such a network does not take.
Network make_network(const NetworkSpec& spec);

// Uniform within 1/sqrt(inputs of a unit) for weights and biases of Linear and convolutions, normal for
// embeddings, 1 and 0 for norms. Drawn from `random`, not from torch.
void initialise(torch::nn::Module& network, RandomSource& random);

// For use_networks().
const Networks& all_networks();

}  // namespace ration::nn
