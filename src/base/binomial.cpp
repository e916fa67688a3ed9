#include "ration/base/check.h"
#include "ration/base/distributions.h"

namespace ration {

std::uint64_t binomial(RandomSource& random, std::uint64_t n, double p) {
  std::uint64_t successes = 0;
  for (std::uint64_t i = 0; i < n; ++i) successes += bernoulli(random, p) ? 1 : 0;
  return successes;
}

}  // namespace ration
