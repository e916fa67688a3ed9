#pragma once

#include <atomic>
#include <span>
#include <string_view>

namespace ration {

// The vector instructions that the program's loops use. Each set contains those before it. avx2 is what every
// x86 processor of Intel since 2013 and of AMD since 2015 has, with fused multiply-adds; avx512 has vectors
// of 512 bits.
enum class InstructionSet : int { portable, avx2, avx512 };

std::string_view to_string(InstructionSet set);

// Those that this processor and its operating system have, the best last.
std::span<const InstructionSet> available_instruction_sets();

// What the environment variable RATION_CPU=portable|avx2|avx512 asks for; the best one if it is not set or
// empty. Throws InputError for another word, and for a set that this machine does not have: a program calls
// this first.
InstructionSet requested_instruction_set();

namespace detail {
inline constexpr int kNotChosenYet = -1;
inline std::atomic<int> chosen_instruction_set{kNotChosenYet};
InstructionSet choose_instruction_set() noexcept;
}  // namespace detail

// The set in use: the requested one or, if the request is wrong, the best one. It is chosen at the first
// call.
inline InstructionSet instruction_set() noexcept {
  const int chosen = detail::chosen_instruction_set.load(std::memory_order_relaxed);
  return chosen == detail::kNotChosenYet ? detail::choose_instruction_set()
                                         : static_cast<InstructionSet>(chosen);
}

// For tests and benchmarks: another set, which the machine must have, as long as this lives. All threads see
// it.
class UseInstructionSet {
 public:
  explicit UseInstructionSet(InstructionSet set) noexcept;
  ~UseInstructionSet();
  UseInstructionSet(const UseInstructionSet&) = delete;
  UseInstructionSet& operator=(const UseInstructionSet&) = delete;

 private:
  InstructionSet before_;
};

}  // namespace ration
