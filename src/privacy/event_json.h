#pragma once

#include <string>
#include <string_view>

#include "ration/privacy/event.h"

namespace ration {

// An event as JSON, without loss: every number reads back as the same double.
//   {"event": "poisson_sampled", "rate": 0.01, "base": {"event": "gaussian", "noise_multiplier": 1.1}}
std::string to_json(const Event& event);

// Throws InputError for text that is no JSON, an unknown kind, a missing, unknown or wrongly typed key, a
// value that the event's own constructor refuses, or events nested deeper than 32.
Event event_from_json(std::string_view text);

}  // namespace ration
