#include "ration/objectives/objective.h"

#include <fmt/format.h>

#include "ration/base/error.h"

namespace ration {

std::span<const float> Objective::clipped_gradient_float_sum(const AnyWeights&, const Batch&,
                                                             const AnyClipRule&) {
  return {};
}

void Objective::label_counts(const Batch&, std::span<double>) const {
  throw InputError(fmt::format("label counts: the labels of loss '{}' are no classes", facts().loss));
}

std::unique_ptr<Objective> Objective::seen_through(std::shared_ptr<const RowView>) const {
  throw InputError(fmt::format("row view: expected a linear model, got one with loss '{}'", facts().loss));
}

void Objective::shortened_row_sum(const Batch&, double, std::span<double>) {
  throw InputError(fmt::format("sum of rows: expected a linear model, got one with loss '{}'", facts().loss));
}

void Objective::second_moment_sum(const Batch&, double, std::span<double>) {
  throw InputError("second moment: expected rows that are seen through a map");
}

}  // namespace ration
