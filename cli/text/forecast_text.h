#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ration/train/forecast.h"

namespace ration::cli {

std::string to_text(const Forecast& forecast);
void write_to(nlohmann::ordered_json& json, const Forecast& forecast);

}  // namespace ration::cli
