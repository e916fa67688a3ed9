#include "base/library_kernels.h"

#include <array>
#include <cstddef>
#include <cstdlib>

#include "base/instruction_set.h"

namespace ration {
namespace {

bool set_unless_set(const char* variable, const char* value) {
  if (std::getenv(variable) != nullptr) return false;
  return setenv(variable, value, 0) == 0;
}

bool is_intel() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

// The same for each set: their own word for it.
using Words = std::array<const char*, 3>;
constexpr Words kOpenblas = {"Prescott", "Haswell", "SkylakeX"};
constexpr Words kLibxsmm = {"sse", "hsw", "skx"};
constexpr Words kLibtorch = {"default", "avx2", "avx512"};
constexpr Words kOnednn = {"SSE41", "AVX2", "AVX512_CORE"};

// A few microseconds.
bool keep_spinning_short() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return false;
  return set_unless_set("GOMP_SPINCOUNT", "1000");
}

}  // namespace

bool choose_library_kernels() {
  const InstructionSet best = available_instruction_sets().back();
  const InstructionSet set = instruction_set();
  const auto of_set = static_cast<std::size_t>(set);
  const bool lowered = set < best;
  bool told = keep_spinning_short();
  if (lowered || (is_intel() && set > InstructionSet::portable))
    told |= set_unless_set("OPENBLAS_CORETYPE", kOpenblas[of_set]);
  if (!lowered) return told;
  told |= set_unless_set("LIBXSMM_TARGET", kLibxsmm[of_set]);
  told |= set_unless_set("ATEN_CPU_CAPABILITY", kLibtorch[of_set]);
  told |= set_unless_set("ONEDNN_MAX_CPU_ISA", kOnednn[of_set]);
  return told;
}

}  // namespace ration
