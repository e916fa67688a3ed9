#pragma once

namespace ration {

// Tells OpenBLAS, libxsmm and libtorch, by the environment variables that they read when they are loaded, for
// which instruction set to compute: the one in use (RATION_CPU). What somebody has told them already stays.
// True if any of them was told something now.
//
// OpenBLAS  where nothing is forced, it is told on Intel processors only. Versions older than the processor
//           (0.3.21 of Debian 12 on an Intel model of 2023) otherwise take it for one of 2004 and
//           multiply 3.5 times as slowly. Others are known by their family or features: for an AMD EPYC with
//           AVX-512 it chooses Cooperlake, and Haswell, Zen and SkylakeX are within 5 % of that.
bool choose_library_kernels();

}  // namespace ration
