#pragma once

namespace ration::bench {

// The largest size of this program so far, in bytes. Not getrusage's: that of a process which starts another
// program counts for the new one too, so that a child of a large benchmark would seem large.
double peak_bytes();

}  // namespace ration::bench
