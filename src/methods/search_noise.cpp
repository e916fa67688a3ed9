#include "methods/search_noise.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "privacy/search_curve.h"

namespace ration {

// rho is nearly proportional to 1 / noise^2, so a few corrections do, each aiming at a little too much noise.
// But it is a bound with kinks, and where it has a step the corrections would jump to and fro: each stays
// between the largest noise known to be too small and the smallest known to be enough.
GaussianSearch gaussian_search_of(double rho, std::int64_t queries) {
  require("AboveThreshold", "rho", rho, greater_than(0));
  constexpr double kCloseEnough = 0.998, kNarrow = 1.0005;
  const auto of = [](double noise) {
    return GaussianSearch{.threshold_noise = noise / std::numbers::sqrt2, .query_noise = noise};
  };
  double noise = std::sqrt(3 / rho);
  double too_small = 0, enough = std::numeric_limits<double>::infinity();
  for (;;) {
    const GaussianSearch search = of(noise);
    const double ratio =
        gaussian_search_curve(search.threshold_noise, search.query_noise, queries)->zcdp_rho() / rho;
    if (ratio <= 1) {
      enough = noise;
      if (ratio >= kCloseEnough) return search;
    } else {
      too_small = noise;
    }
    if (enough <= too_small * kNarrow) return of(enough);
    const double next = noise * std::sqrt(ratio * 1.001);
    noise = next > too_small && next < enough ? next : std::sqrt(too_small) * std::sqrt(enough);
  }
}

}  // namespace ration
