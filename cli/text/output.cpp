#include "text/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ration/base/error.h"

namespace ration::cli {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw InternalError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2) + "\n";
}

}  // namespace ration::cli
