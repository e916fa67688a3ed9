// For extensions: may change between minor versions.
#pragma once

#include <span>

namespace ration {

// What an objective's model says of each row before a class is chosen: an objective may be this, too. Exact,
// so for rows that are public, or scores that are released with noise; training never asks for it.
class RowOutputs {
 public:
  virtual ~RowOutputs() = default;

  // Output k of row r at [r * outputs + k]; as many outputs as classes. Labels are not looked at.
  virtual void outputs(std::span<const double> w, std::span<double> outputs) = 0;
};

}  // namespace ration
