#pragma once

#include <cstdint>
#include <memory>

#include "ration/data/rows.h"
#include "ration/objectives/objective.h"

namespace ration::e2 {

struct NetOptions {
  std::size_t hidden = 100;  // >= 1
  std::uint64_t start = 1;   // seed of the first weights, which are public
};

// One hidden layer of ReLUs and a logistic loss on top, for two classes: z = v . max(0, W x + b) + c.
//
// Parameters  the distance of (W, b, v, c) from the first weights, He's [He15], drawn from the seed: a method
//             may start at 0.
// Norms       of a row's gradient without forming it: |d|^2 (|x|^2 + 1) + s^2 (|a|^2 + 1), s the slope of the
//             loss, a the hidden outputs, d = s v where a > 0.
std::unique_ptr<Objective> make_two_layer_net(std::shared_ptr<const Rows> rows, const NetOptions& options);

}  // namespace ration::e2
