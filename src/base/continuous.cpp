#include <cmath>

#include "ration/base/check.h"
#include "ration/base/distributions.h"

namespace ration {

double exponential(RandomSource& random, double mean) {
  require("exponential", "mean", mean, greater_than(0));
  return -std::log(uniform(random)) * mean;
}

double laplace(RandomSource& random, double scale) {
  require("laplace", "scale", scale, greater_than(0));
  const double magnitude = -std::log(uniform(random)) * scale;
  return (random.next_word() & 1) != 0 ? magnitude : -magnitude;
}

}  // namespace ration
