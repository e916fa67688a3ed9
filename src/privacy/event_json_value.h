#pragma once

#include <nlohmann/json.hpp>

#include "ration/privacy/event.h"

namespace ration {

// The same as in event_json.h, as a part of a larger JSON value.
nlohmann::ordered_json to_json_value(const Event& event);
Event event_from_json_value(const nlohmann::ordered_json& json);

}  // namespace ration
