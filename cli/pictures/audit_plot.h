#pragma once

#include <string>

#include "audit/audit.h"

namespace ration::cli {

// The SVG of how often each attack catches the row against how often it raises a false alarm, beside the most
// that the claim allows.
std::string plot_audit(const audit::Report& report);

}  // namespace ration::cli
