#pragma once

// RATION_PER_PROCESSOR before a function: one machine code for each processor generation, chosen when the
// program starts; where that is not possible, the portable one only. (The sanitizers do not survive the
// choosing function, which runs before they are set up.)
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RATION_PER_PROCESSOR __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define RATION_PER_PROCESSOR
#endif

// RATION_INLINE: what such a function calls must become part of it, or it stays code for the oldest
// processor.
#if defined(__GNUC__)
#define RATION_INLINE [[gnu::always_inline]] inline
#else
#define RATION_INLINE inline
#endif
