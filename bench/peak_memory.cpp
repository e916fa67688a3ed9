#include "peak_memory.h"

#include <fstream>
#include <stdexcept>
#include <string>

namespace ration::bench {

double peak_bytes() {
  constexpr std::string_view kKey = "VmHWM:";
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kKey)) return 1024 * std::stod(line.substr(kKey.size()));
  }
  throw std::runtime_error("/proc/self/status: no VmHWM");
}

}  // namespace ration::bench
