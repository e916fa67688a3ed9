#include "base/openblas_core.h"

#include <cstdlib>

namespace ration {
namespace {

// What OpenBLAS itself chooses for the Intel processors it knows.
const char* core_of_this_processor() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (!__builtin_cpu_is("intel")) return nullptr;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512cd");
  if (has_avx512) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

bool name_core_for_openblas() {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  const char* const core = core_of_this_processor();
  if (core == nullptr || std::getenv(kVariable) != nullptr) return false;
  return setenv(kVariable, core, 0) == 0;
}

}  // namespace ration
