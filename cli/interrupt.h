#pragma once

#include <atomic>
#include <stdexcept>

namespace ration::cli {

// A run was left in good order because somebody asked for it. (Exit status 130, as shells expect.)
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// While it lives, the first Ctrl-C (or SIGTERM) only raises a flag, so that a run can be left in good order;
// the second ends the process.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& flag() const;
};

}  // namespace ration::cli
