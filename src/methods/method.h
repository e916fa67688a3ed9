#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "methods/known_noise.h"
#include "ration/methods/step_report.h"
#include "ration/oracle/oracle.h"

namespace ration {

// Everything a method must remember between two steps, by name: what a checkpoint stores.
using MethodState = std::map<std::string, std::vector<double>>;

// A training algorithm. It never sees a row: all it knows of the data are the oracle's answers, so whatever
// it does with them is post-processing and costs nothing more.
class Method {
 public:
  virtual ~Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;

  // One step; false, and the weights have not changed, if there is none left to do or the budget refuses it.
  // A step of several queries may have been granted some of them first: those are paid for and lost.
  [[nodiscard]] virtual bool step(PrivateOracle& oracle) = 0;
  virtual StepReport report() const = 0;
  // The model as of now: the last iterate, or an average of several.
  virtual void weights(std::span<double> out) const = 0;
  // What the noise did to them, if the method knows.
  virtual std::optional<KnownNoise> known_noise() const { return std::nullopt; }

  virtual MethodState save() const = 0;
  // Throws InputError if it is not a state of such a method.
  virtual void restore(const MethodState& state) = 0;

 protected:
  Method() = default;
};

}  // namespace ration
