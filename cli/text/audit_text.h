#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "audit/audit.h"

namespace ration::cli {

// A table of what each attack proves, and what follows from it.
std::string to_text(const audit::Report& report);

// The keys audited, claim, delta, relation, confidence, contradicted, findings.
nlohmann::ordered_json to_json(const audit::Report& report);

}  // namespace ration::cli
