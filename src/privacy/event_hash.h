#pragma once

#include <cstddef>

#include "ration/privacy/event.h"

namespace ration {

// For unordered containers of events: equal events have equal hashes.
struct EventHash {
  std::size_t operator()(const Event& event) const;
};

}  // namespace ration
