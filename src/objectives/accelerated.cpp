#include "objectives/accelerated.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ration/base/error.h"

namespace ration {

void minimise_accelerated(const GradientFunction& gradient, const Convexity& convexity, double tolerance,
                          std::span<double> w) {
  const double condition = std::sqrt(convexity.smooth / convexity.strong);
  const double momentum = (condition - 1) / (condition + 1);
  const double enough = 1000 + 100 * condition;  // the theorem asks for less to gain 40 digits
  std::vector<double> slope(w.size()), point(w.begin(), w.end()), before(w.begin(), w.end());
  for (double t = 0; t < enough; ++t) {
    if (gradient(point, slope) <= tolerance) {
      std::copy(point.begin(), point.end(), w.begin());
      return;
    }
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double next = point[i] - slope[i] / convexity.smooth;
      point[i] = next + momentum * (next - before[i]);
      before[i] = next;
    }
  }
  throw InternalError(fmt::format("minimise: no point with a gradient of {} was found", tolerance));
}

}  // namespace ration
