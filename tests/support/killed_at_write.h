#pragma once

#include <string>
#include <vector>

namespace ration::testing {

struct KilledAtWrite {
  bool killed = false;   // false: it ended by itself before
  int writes = 0;        // calls that change the disk, until then
  std::string err = "";  // what it said
};

// Runs a program and kills it (SIGKILL) just before or just after the n-th of its calls, from 1, that change
// the disk: write, rename, flush, remove, make, lock. Every moment at which a crash can leave something else
// than the moment before, without a clock. Follows the first thread. Throws if this process may not trace its
// children.
KilledAtWrite kill_at_write(const std::string& program, const std::vector<std::string>& arguments, int n,
                            bool before);

// Whether it may.
bool can_trace_children();

}  // namespace ration::testing
