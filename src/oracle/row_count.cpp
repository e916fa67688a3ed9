#include "oracle/row_count.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "mechanisms/gaussian.h"
#include "ration/clipping/sensitivity.h"

namespace ration {

std::optional<double> noisy_row_count(std::uint64_t rows, double noise_multiplier, BudgetFilter& filter,
                                      RandomSource& random) {
  const GaussianMechanism mechanism(
      {.sensitivity = count_sensitivity(Relation::add_remove), .noise_multiplier = noise_multiplier});
  if (!filter.spend(mechanism.event())) return std::nullopt;
  auto released = static_cast<double>(rows);
  mechanism.add_noise(std::span(&released, 1), random);
  return std::max(1.0, std::round(released));
}

}  // namespace ration
