#pragma once

#include <cstdint>

namespace ration::bench {

// Trains a protector for two epochs of so many steps and prints the peak memory of the process in bytes: what
// `ration_bench
// --protector-memory=STEPS` does, in a process of its own.
int print_protector_memory(std::int64_t steps);

}  // namespace ration::bench
