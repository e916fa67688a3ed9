#pragma once

namespace ration::bench {

// Trains 100 steps on a generated table of 10 million rows x 50, dense, 4 GB, and prints its own peak memory:
// what `ration_bench --large-table` does, in a process of its own, since a peak is that of a process.
//
// Prints one line: "ok <seconds of training> <peak bytes> <bytes of the encoded table>", or "skipped <why>".
int train_large_table();

}  // namespace ration::bench
