#include "base/instruction_set.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "ration/base/error.h"

namespace ration {
namespace {

constexpr std::array kAll = {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512};

// The features that per_processor.h compiles for. The compiler's function also asks whether the operating
// system saves the wide registers.
InstructionSet best_of_this_processor() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                        __builtin_cpu_supports("popcnt");
  if (!has_avx2) return InstructionSet::portable;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl");
  return has_avx512 ? InstructionSet::avx512 : InstructionSet::avx2;
#else
  return InstructionSet::portable;
#endif
}

std::string_view request() noexcept {
  const char* const value = std::getenv("RATION_CPU");
  return value == nullptr ? "" : value;
}

std::optional<InstructionSet> set_named(std::string_view name) noexcept {
  for (const InstructionSet set : kAll) {
    if (name == to_string(set)) return set;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::portable:
      return "portable";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
  }
  return "unknown";
}

std::span<const InstructionSet> available_instruction_sets() {
  static const InstructionSet best = best_of_this_processor();
  return std::span(kAll).first(static_cast<std::size_t>(best) + 1);
}

InstructionSet requested_instruction_set() {
  const auto available = available_instruction_sets();
  const std::string_view name = request();
  if (name.empty()) return available.back();
  const auto set = set_named(name);
  if (!set) {
    throw InputError(fmt::format("RATION_CPU: expected portable, avx2 or avx512, got '{}'", name));
  }
  if (*set > available.back()) {
    throw InputError(fmt::format("RATION_CPU: this processor does not have {}; its best set is {}", name,
                                 to_string(available.back())));
  }
  return *set;
}

InstructionSet detail::choose_instruction_set() noexcept {
  const auto wanted = set_named(request());
  const InstructionSet best = available_instruction_sets().back();
  const InstructionSet chosen = wanted && *wanted <= best ? *wanted : best;
  chosen_instruction_set.store(static_cast<int>(chosen), std::memory_order_relaxed);
  return chosen;
}

UseInstructionSet::UseInstructionSet(InstructionSet set) noexcept : before_(instruction_set()) {
  detail::chosen_instruction_set.store(static_cast<int>(set), std::memory_order_relaxed);
}

UseInstructionSet::~UseInstructionSet() {
  detail::chosen_instruction_set.store(static_cast<int>(before_), std::memory_order_relaxed);
}

}  // namespace ration
