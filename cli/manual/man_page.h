#pragma once

#include <string>
#include <vector>

#include "manual/describe.h"

namespace ration::cli {

struct ManPage {
  std::string file;  // "ration-train.1"
  std::string text;  // in man(7) macros
};

// One page for the program and one for each of its commands. `version` is "ration 1.2.3".
std::vector<ManPage> man_pages(const Command& ration, const std::string& version);

}  // namespace ration::cli
