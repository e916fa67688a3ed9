#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ration/data/rows.h"
#include "ration/train/model.h"

namespace ration {

// What a model says of rows that are encoded as it sees them, knots included: the class or value of each.
// Labels are not looked at.
std::vector<double> predict_rows(const Model& model, const std::shared_ptr<const Rows>& rows);

// How well a model does on such rows, by their labels. Exact, so for rows that are public only. 0 threads:
// one per processor.
Evaluation evaluate_rows(const Model& model, const std::shared_ptr<const Rows>& rows,
                         std::size_t threads = 0);

}  // namespace ration
