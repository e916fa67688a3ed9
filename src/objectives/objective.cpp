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

}  // namespace ration
