#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ration/train/model.h"
#include "train/evaluation.h"

namespace ration::cli {

// An evaluation on public rows, for programs: the keys that the model has.
nlohmann::ordered_json evaluation_to_json(const Model& model, const Evaluation& found);

// The same for people, in a few lines; `left_out` more rows broke the schema.
std::string evaluation_to_text(const Model& model, const Evaluation& found, std::size_t left_out);
// Which class was taken for which, and how often what was likely came so; nothing for a numeric label.
std::string details_to_text(const Model& model, const Evaluation& found);
// A line for each value of a column.
std::string groups_to_text(const std::string& column, const std::vector<GroupEvaluation>& groups);

}  // namespace ration::cli
