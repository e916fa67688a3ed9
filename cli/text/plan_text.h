#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ration/train/resolve.h"

namespace ration::cli {

// What a run does and spends, for people and for programs.
std::string to_text(const ResolvedPlan& plan);
// What a reader should be warned of, as far as the plan tells.
std::vector<std::string> cautions(const ResolvedPlan& plan);
void write_to(nlohmann::ordered_json& json, const ResolvedPlan& plan);

}  // namespace ration::cli
