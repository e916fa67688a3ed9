// The corners of the supported range under the PLD: finite, ordered, below the Renyi bound, and monotone.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "privacy/exact.h"
#include "privacy/plans.h"
#include "privacy/pld.h"
#include "ration/privacy/accountant.h"

namespace ration {
namespace {

using testing::Corner;
using testing::poisson_gaussian;
using testing::words;

// Both search orders near 1 only so far, which shows only where epsilon is in the millions.
double renyi_tolerance(double epsilon) {
  return epsilon < 1e4 ? 1e-6 : 1e-3;
}

PldBounds checked_bounds(const Corner& c) {
  const SampledGaussianPlan plan = {{c.rate, c.noise, c.steps}};
  const PldBounds bounds = pld_epsilon(plan, c.delta);
  EXPECT_TRUE(std::isfinite(bounds.upper)) << words(c);
  EXPECT_GE(bounds.lower, 0) << words(c);
  EXPECT_LE(bounds.lower, bounds.upper) << words(c);
  const double rdp =
      account(poisson_gaussian(c.rate, c.noise, c.steps), Relation::add_remove, Accountant::rdp, c.delta)
          .epsilon;
  EXPECT_LE(bounds.upper, rdp * (1 + renyi_tolerance(rdp)) + 1e-9) << words(c);
  if (const auto exact = exact_epsilon(plan, c.delta)) {
    EXPECT_GE(*exact, bounds.lower * (1 - 1e-8) - 1e-12) << words(c);
    EXPECT_LE(*exact, bounds.upper * (1 + 1e-8) + 1e-12) << words(c);
  }
  return bounds;
}

// Of two plans the dearer one's true epsilon is the larger; the brackets must allow that.
void expect_in_order(const PldBounds& cheaper, const PldBounds& dearer, const Corner& c) {
  EXPECT_LE(cheaper.lower, dearer.upper * (1 + 1e-9)) << words(c);
}

TEST(PldExtremes, AreFiniteOrderedAndMonotone) {
  const std::vector<double> noises = {0.05, 1, 1e4}, rates = {1e-7, 1e-4, 0.3}, deltas = {1e-300, 1e-5, 0.1};
  const std::vector<std::int64_t> steps = {2, 1000, 100'000'000};
  std::map<std::array<std::size_t, 4>, PldBounds> known;
  for (std::size_t n = 0; n < noises.size(); ++n) {
    for (std::size_t r = 0; r < rates.size(); ++r) {
      for (std::size_t s = 0; s < steps.size(); ++s) {
        for (std::size_t d = 0; d < deltas.size(); ++d) {
          const Corner corner{noises[n], rates[r], steps[s], deltas[d]};
          const PldBounds here = checked_bounds(corner);
          known[{n, r, s, d}] = here;
          if (n > 0) expect_in_order(here, known[{n - 1, r, s, d}], corner);
          if (r > 0) expect_in_order(known[{n, r - 1, s, d}], here, corner);
          if (s > 0) expect_in_order(known[{n, r, s - 1, d}], here, corner);
          if (d > 0) expect_in_order(here, known[{n, r, s, d - 1}], corner);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ration
