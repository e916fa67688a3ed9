#include <cmath>

#include "base/check.h"
#include "base/distributions.h"

namespace ration {
namespace {

constexpr double kLargestScale = 1e300;  // so that no value overflows

}  // namespace

double exponential(RandomSource& random, double mean) {
  require("exponential", "mean", mean, greater_than(0).at_most(kLargestScale));
  return -std::log(uniform(random)) * mean;
}

double laplace(RandomSource& random, double scale) {
  require("laplace", "scale", scale, greater_than(0).at_most(kLargestScale));
  const double magnitude = -std::log(uniform(random)) * scale;
  return (random.next_word() & 1) != 0 ? magnitude : -magnitude;
}

}  // namespace ration
