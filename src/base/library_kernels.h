#pragma once

namespace ration {

// Tells OpenBLAS, libxsmm, libtorch and oneDNN, which computes libtorch's convolutions, by the environment
// variables that they read when they are loaded, for which instruction set to compute: the one in use
// (RATION_CPU); and the threads they share not to spin for long. What somebody has told them already stays.
// True if any of them was told something now.
//
// OpenBLAS  where nothing is forced, it is told on Intel processors only. Versions older than the processor
//           (0.3.21 of Debian 12 on an Intel model of 2023) otherwise take it for one of 2004 and
//           multiply 3.5 times as slowly. Others are known by their family or features: for an AMD EPYC with
//           AVX-512 it chooses Cooperlake, and Haswell, Zen and SkylakeX are within 5 % of that.
// OpenMP    a thread that waits for others spins a millisecond before it sleeps, which is in the way where
//           processors are shared: of three small networks trained at once on two processors, each took 80 s
//           in place of 11. A program that has the processors for itself loses nothing measurable.
bool choose_library_kernels();

}  // namespace ration
