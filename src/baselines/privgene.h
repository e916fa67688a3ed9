#pragma once

#include <cstdint>
#include <memory>

#include "methods/method.h"
#include "ration/base/random.h"

namespace ration {

struct PrivGeneOptions {
  std::uint64_t rounds = 8;        // >= 1; one selection each
  std::uint64_t population = 16;   // >= 2
  double selection_epsilon = 0.1;  // > 0; of each selection
  double loss_bound = 1;           // > 0; each row's loss is clipped into [0, loss_bound]
  double mutation = 2;             // > 0; the size of the first round's mutations
  double mutation_decay = 0.8;     // 0 < decay <= 1; from round to round
};

// PrivGene: a population of weight vectors, of which the exponential mechanism selects one per round (the
// noisy minimum of the losses, with Gumbel noise); its children replace the population. [ZhangXYZW13]
//
// Children    the selected vector itself; the others are that vector, every second of them crossed with the
//             one selected before (each coordinate is either's with probability 1/2), plus a normal mutation
//             of length about `mutation`, which falls by mutation_decay per round. The first population are
//             mutations of 0.
// Guarantee   `rounds` selections, each BoundedRange(selection_epsilon); their number and epsilon are fixed
//             before the run. Which children there are is chance and what was selected before, so
//             post-processing.
// Unlike the paper, one vector is selected per round and not several, the sensitivity is that of clipped
// losses (no "enhanced" mechanism), and the cost is kept at rounds * population losses.
//
// `random` is for the children only; it need not be secret, and must outlive the method.
std::unique_ptr<Method> make_privgene(const PrivGeneOptions& options, std::size_t parameters,
                                      RandomSource& random);

// The event of the whole run.
Event privgene_event(const PrivGeneOptions& options);

}  // namespace ration
