#include "base/version.h"

namespace ration {

std::string_view version() {
  return RATION_VERSION;
}

}  // namespace ration
