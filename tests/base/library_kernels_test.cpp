#include "base/library_kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/instruction_set.h"

namespace ration {
namespace {

constexpr const char* kVariables[] = {"OPENBLAS_CORETYPE",  "LIBXSMM_TARGET", "ATEN_CPU_CAPABILITY",
                                      "ONEDNN_MAX_CPU_ISA", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"};

void forget() {
  for (const char* const variable : kVariables) unsetenv(variable);
}

TEST(LibraryKernels, AreChosenOnceAndNeverAgainstTheUsersWill) {
  forget();
  setenv("OPENBLAS_CORETYPE", "Nehalem", 1);
  choose_library_kernels();
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), "Nehalem");
  forget();
  const bool told = choose_library_kernels();
  bool any = false;
  for (const char* const variable : kVariables) any = any || std::getenv(variable) != nullptr;
  EXPECT_EQ(any, told);
  EXPECT_FALSE(choose_library_kernels());
  forget();
}

TEST(LibraryKernels, AreThoseOfALowerSetIfOneIsForced) {
  if (available_instruction_sets().size() < 3) GTEST_SKIP() << "no set to lower to";
  forget();
  const UseInstructionSet use(InstructionSet::avx2);
  EXPECT_TRUE(choose_library_kernels());
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), "Haswell");
  EXPECT_STREQ(std::getenv("LIBXSMM_TARGET"), "hsw");
  EXPECT_STREQ(std::getenv("ATEN_CPU_CAPABILITY"), "avx2");
  EXPECT_STREQ(std::getenv("ONEDNN_MAX_CPU_ISA"), "AVX2");
  forget();
}

TEST(LibraryKernels, DoNotSpinForLongUnlessTheUserWantsIt) {
  forget();
  EXPECT_TRUE(choose_library_kernels());
  EXPECT_STREQ(std::getenv("GOMP_SPINCOUNT"), "1000");
  forget();
  setenv("OMP_WAIT_POLICY", "active", 1);
  choose_library_kernels();
  EXPECT_EQ(std::getenv("GOMP_SPINCOUNT"), nullptr);
  forget();
}

}  // namespace
}  // namespace ration
