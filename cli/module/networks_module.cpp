#include <malloc.h>

#include "ration/objectives/neural/models.h"

namespace {

// A step asks for the same tens of megabytes as the one before. Left to itself, the C library gives them back
// to the system in between, which hands out and clears each page anew: a fifth of the time of a training of
// cnn:papernot.
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

// The module's one entry (cli/networks.cpp).
extern "C" const ration::Networks* ration_networks() {
  keep_freed_memory();
  return &ration::nn::all_networks();
}
