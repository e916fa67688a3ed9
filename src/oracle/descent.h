#pragma once

#include <cstddef>
#include <span>

#include "base/ahead.h"
#include "ration/objectives/weights.h"
#include "ration/oracle/oracle.h"

namespace ration {

// What moves the weights along a noisy gradient, block by block.
class PrivateOracle::Descent {
 public:
  // Takes the gradient's coordinates from `first` on, and moves those of the weights.
  virtual void move(std::size_t first, std::span<const double> gradient, AnyNumbers weights) = 0;
  // The memory that this will touch, beside its arguments: asked for while the noise is computed.
  virtual void expect(std::size_t first, std::size_t count, Ahead& ahead) const = 0;

 protected:
  ~Descent() = default;
};

}  // namespace ration
