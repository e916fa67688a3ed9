#pragma once

#include <string>
#include <vector>

namespace ration::testing {

// A source file of the library by its path from include/ration or src, e.g. "privacy/rdp.cpp", with its text.
struct SourceFile {
  std::string path;
  std::string text;
};

// One message per include that the architecture forbids, "privacy/rdp.cpp:3: ..."; empty if all is well. The
// rules:
//   - base includes only base; privacy only base and itself;
//   - every other folder may include itself, base, privacy, and the folders before it on the way data takes:
//     data, sampling, clipping, objectives, mechanisms, oracle, {schedules, steps}, {methods, baselines},
//     train, distributed, {compare, audit};
//   - mechanisms sees of privacy only event.h and relation.h: it emits events and knows no accountant;
//   - a folder that is not named here has no place yet, and is refused until it is given one.
std::vector<std::string> layering_violations(const std::vector<SourceFile>& files);

}  // namespace ration::testing
