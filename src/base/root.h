#pragma once

#include <boost/math/tools/toms748_solve.hpp>
#include <cstdint>
#include <utility>

namespace ration {

// Ends of an interval, a few ulps wide, in which f changes its sign; f must change it between low and high.
// The caller takes the end that lies on the safe side.
template <class Function>
std::pair<double, double> enclose_root(Function f, double low, double high) {
  const double at_low = f(low);
  if (at_low == 0) return {low, low};
  const double at_high = f(high);
  if (at_high == 0) return {high, high};
  std::uintmax_t iterations = 200;
  return boost::math::tools::toms748_solve(f, low, high, at_low, at_high,
                                           boost::math::tools::eps_tolerance<double>(52), iterations);
}

}  // namespace ration
