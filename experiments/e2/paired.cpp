#include "paired.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "ration/base/error.h"

namespace ration::e2 {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_error(std::span<const double> values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1) / n);
}

RelativeDifference relative_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) throw InputError("e2: expected two or more pairs");
  const double base = mean(b);
  const double ratio = mean(a) / base;
  std::vector<double> rest(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) rest[i] = (a[i] - ratio * b[i]) / base;
  const boost::math::students_t student(static_cast<double>(a.size() - 1));
  const double half = boost::math::quantile(student, 0.975) * standard_error(rest);
  return {ratio - 1, ratio - 1 - half, ratio - 1 + half};
}

}  // namespace ration::e2
