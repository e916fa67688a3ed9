#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

// Renyi differential privacy [Mironov17]: a mechanism is (a, rdp(a))-RDP for orders a > 1, and curves add up
// under adaptive composition. All functions return upper bounds.

// From one order to (epsilon, delta). `classic` is the papers' form, rdp + ln(1/delta) / (a - 1); `improved`
// is rdp + ln(1 - 1/a) - (ln delta + ln a) / (a - 1) [Balle20, Thm 21; CKS20, Prop. 12], never worse and the
// default. Never below 0.
enum class RdpConversion { classic, improved };
double rdp_to_epsilon(double rdp, double order, double delta,
                      RdpConversion conversion = RdpConversion::improved);
// What the conversion adds to the Renyi divergence: epsilon - rdp. May be negative.
double rdp_conversion_term(double order, double delta, RdpConversion conversion = RdpConversion::improved);

// A curve as a function of the order.
using RdpFunction = std::function<double(double order)>;

// Gaussian on a Poisson sample, add_remove, any real order > 1. [Mironov19, Sec. 3.3]
double rdp_poisson_gaussian(double rate, double noise, double order);

// Any mechanism on a Poisson sample, add_remove, integer orders >= 2. `tail_factor` multiplies the terms l >=
// 3: 3 is what is proven for every mechanism, 1 only for some, so 1 is for comparison and never certified.
// [Zhu19, Thm 5 and 6]
double rdp_poisson_general(double rate, const RdpFunction& base, int order, double tail_factor = 3);

// Any mechanism on a fixed-size subset without replacement, replace_one, integer orders >= 2. [Wang19, Thm 9]
double rdp_fixed_size_general(double rate, const RdpFunction& base, int order);

// The Gaussian on a fixed-size subset: the general bound, sharpened by the mechanism's own central moments.
// [Wang19, Thm 27]
double rdp_fixed_size_gaussian(double rate, double noise, int order);

struct RdpOptimum {
  double epsilon;
  double order;
};

// The curve of a whole composition.
class RdpCurve {
 public:
  // Throws InputError when no theorem covers the event under the relation (see accountant.h: refusal).
  RdpCurve(const Event& event, Relation relation);
  RdpCurve(RdpCurve&&) noexcept;
  RdpCurve& operator=(RdpCurve&&) noexcept;
  ~RdpCurve();

  // At one order: real and > 1, or integer and >= 2 when needs_integer_orders().
  double operator()(double order);
  bool needs_integer_orders() const;

  // The smallest epsilon over all orders, up to max_order. With t = a - 1 and D the divergence itself, t *
  // epsilon(t) is convex in t, so epsilon has one minimum. An upper bound on D may have more, next to each
  // other: for real orders the whole range is looked at on a grid, and what is close to the least by Brent.
  RdpOptimum epsilon(double delta, RdpConversion conversion = RdpConversion::improved,
                     double max_order = 1e10);
  // The smallest epsilon over the given orders, which must increase.
  RdpOptimum epsilon(double delta, std::span<const double> orders,
                     RdpConversion conversion = RdpConversion::improved);

 private:
  struct Part;
  std::vector<Part> parts_;
};

// The order infinity: the epsilon of a composition of mechanisms that are all pure epsilon-DP, delta 0.
// Nothing if one is not. Rounded up.
std::optional<double> pure_epsilon(const Event& event, Relation relation);

// 2, 3, ..., 128 and then about every 4 percent to 4096: the orders used where only integers are proven.
const std::vector<double>& integer_orders();

}  // namespace ration
