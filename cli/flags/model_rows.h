#pragma once

#include <string>

#include "ration/data/table.h"
#include "ration/train/model.h"

namespace ration::cli {

// Rows for a model that is trained. Its schema is fixed, so that complaints advise to mend the rows, never
// the schema. NOT PRIVATE: complaints quote rows.
data::Table read_model_rows(const Model& model, const std::string& data, const data::ReadOptions& options);

}  // namespace ration::cli
