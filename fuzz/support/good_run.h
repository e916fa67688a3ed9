#pragma once

#include <string>
#include <vector>

#include "support/fuzz.h"

namespace ration::fuzz {

// The files of fuzz/good_run/: a small run with a ledger, signed, as `ration train` wrote it, and its rows.
const std::vector<std::string>& names_in_good_run();
const std::string& read_good_run(const std::string& name);

}  // namespace ration::fuzz
