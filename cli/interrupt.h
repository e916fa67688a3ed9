#pragma once

#include <atomic>

namespace ration::cli {

// While it lives, the first Ctrl-C (or SIGTERM) only raises a flag, so that a run can be left in good order; the second
// ends the process.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& flag() const;
};

}  // namespace ration::cli
