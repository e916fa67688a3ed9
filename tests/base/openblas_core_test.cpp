#include "base/openblas_core.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ration {
namespace {

TEST(OpenblasCore, IsNamedOnceAndNeverAgainstTheUsersWill) {
  setenv("OPENBLAS_CORETYPE", "Nehalem", 1);
  EXPECT_FALSE(name_core_for_openblas());
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), "Nehalem");
  unsetenv("OPENBLAS_CORETYPE");
  const bool named = name_core_for_openblas();
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE") != nullptr, named);
  EXPECT_FALSE(name_core_for_openblas());
  unsetenv("OPENBLAS_CORETYPE");
}

}  // namespace
}  // namespace ration
