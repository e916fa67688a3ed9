#pragma once

#include <type_traits>

#include "base/instruction_set.h"

// RATION_INLINE: what a loop of PerProcessor calls must become part of it, or it stays code for the oldest
// processor.
#if defined(__GNUC__)
#define RATION_INLINE [[gnu::always_inline]] inline
#else
#define RATION_INLINE inline
#endif

// Features, not "arch=": the compiler inlines no function into one for another architecture, and a name such
// as haswell also asks who made the processor.
#if defined(__x86_64__) && defined(__GNUC__)
#define RATION_HAS_INSTRUCTION_SETS 1
#define RATION_FOR_AVX2 [[gnu::target("avx2,fma,bmi,bmi2,popcnt")]]
#define RATION_FOR_AVX512 \
  [[gnu::target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]]
#else
#define RATION_HAS_INSTRUCTION_SETS 0
#endif

namespace ration {

// A function compiled once for each instruction set; call() takes the one in use. `Body` is a RATION_INLINE
// function, as is everything that it calls in its loops. Where lanes are written out, one body for each set
// can be named, with as many lanes as its vectors have.
//
//   RATION_INLINE double sum_body(const double* values, std::size_t count) { ... }
//   double sum(const double* values, std::size_t count) { return PerProcessor<sum_body>::call(values, count);
//   }
//
// Results     differ between sets by rounding only: a product and the sum that takes it may be rounded once
// in
//             place of twice, and lanes may be added up in another order.
// Privacy     no bound depends on the set. Clip factors leave room for any rounding of norms and products
//             (clip_rule.h), sensitivities for that of sums of any order with at most longest_chain()
//             roundings (objective.h), of which fusing only takes some away; noise is rounded to the grid,
//             whose drift is in its scale, and its series are accurate with and without fusing
//             (bits_to_reals.h).
template <auto Body, auto Avx2Body = Body, auto Avx512Body = Avx2Body,
          class Signature = std::decay_t<decltype(Body)>>
struct PerProcessor;

template <auto Body, auto Avx2Body, auto Avx512Body, class Result, class... Arguments>
struct PerProcessor<Body, Avx2Body, Avx512Body, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
#if RATION_HAS_INSTRUCTION_SETS
    switch (instruction_set()) {
      case InstructionSet::avx512:
        return with_avx512(arguments...);
      case InstructionSet::avx2:
        return with_avx2(arguments...);
      case InstructionSet::portable:
        break;
    }
#endif
    return portable(arguments...);
  }

 private:
  [[gnu::noinline]] static Result portable(Arguments... arguments) {
    return Body(arguments...);
  }
#if RATION_HAS_INSTRUCTION_SETS
  RATION_FOR_AVX2 [[gnu::noinline]] static Result with_avx2(Arguments... arguments) {
    return Avx2Body(arguments...);
  }
  RATION_FOR_AVX512 [[gnu::noinline]] static Result with_avx512(Arguments... arguments) {
    return Avx512Body(arguments...);
  }
#endif
};

}  // namespace ration
