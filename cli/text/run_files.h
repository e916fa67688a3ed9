#pragma once

#include <vector>

#include "flags/explain.h"

namespace ration::cli {

// What the folder of a finished run holds.
std::vector<KnownFile> run_files();

}  // namespace ration::cli
