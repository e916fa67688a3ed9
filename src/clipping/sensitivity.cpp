#include "ration/clipping/sensitivity.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace ration {
namespace {

double contribution(double bound) {
  return require("sensitivity", "bound", bound, greater_than(0));
}

double if_replaced(Relation relation, double replaced, double otherwise) {
  return relation == Relation::replace_one ? replaced : otherwise;
}

}  // namespace

double gradient_sum_sensitivity(double bound, Relation relation) {
  return contribution(bound) * if_replaced(relation, 2, 1);
}

double loss_sum_sensitivity(double bound, Relation) {
  return contribution(bound);
}

double loss_difference_sensitivity(double bound, Relation relation) {
  return contribution(bound) * if_replaced(relation, 2, 1);
}

double squared_norm_sensitivity(double bound, std::uint64_t rows, Relation relation) {
  const double m = require("sensitivity", "rows", static_cast<double>(rows), at_least(1));
  return contribution(bound) * bound * if_replaced(relation, 4 * m - 3, 2 * m - 1);
}

double second_moment_sensitivity(double bound, Relation relation) {
  return contribution(bound) * bound * if_replaced(relation, std::numbers::sqrt2, 1);
}

double count_sensitivity(Relation) {
  return 1;
}

double histogram_sensitivity_l1(Relation relation) {
  return if_replaced(relation, 2, 1);
}

double histogram_sensitivity_l2(Relation relation) {
  return if_replaced(relation, std::numbers::sqrt2, 1);
}

double joint_bound(std::span<const double> layer_bounds) {
  double squares = 0;
  for (const double bound : layer_bounds) squares += contribution(bound) * bound;
  return std::sqrt(squares);
}

}  // namespace ration
