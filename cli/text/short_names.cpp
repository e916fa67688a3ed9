#include "text/short_names.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace ration::cli {

std::string with_short_number(const std::string& name) {
  constexpr std::string_view kNear = "near ";
  const std::size_t at = name.rfind(kNear);
  if (at == std::string::npos || (at > 0 && name[at - 1] != ' ')) return name;
  const std::size_t number = at + kNear.size();
  double value = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + number, end, value);
  return read.ec == std::errc() && read.ptr == end ? fmt::format("{}{:.4g}", name.substr(0, number), value)
                                                   : name;
}

}  // namespace ration::cli
