#include "base/instruction_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/per_processor.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

class RequestedSet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* const value = std::getenv("RATION_CPU")) before_ = value;
  }
  void TearDown() override { request(before_); }

  static void request(const std::string& value) { setenv("RATION_CPU", value.c_str(), 1); }

 private:
  std::string before_;
};

TEST_F(RequestedSet, IsTheBestUnlessOneIsNamed) {
  request("");
  EXPECT_EQ(requested_instruction_set(), available_instruction_sets().back());
  for (const InstructionSet set : available_instruction_sets()) {
    request(std::string(to_string(set)));
    EXPECT_EQ(requested_instruction_set(), set);
  }
}

TEST_F(RequestedSet, RefusesAnotherWordAndWhatTheMachineDoesNotHave) {
  for (const char* const word : {"haswell", "AVX2", "avx", "1"}) {
    request(word);
    EXPECT_THAT([] { requested_instruction_set(); },
                ThrowsMessage<InputError>(
                    StrEq("RATION_CPU: expected portable, avx2 or avx512, got '" + std::string(word) + "'")));
  }
  if (available_instruction_sets().size() == 3) return;
  request("avx512");
  EXPECT_THAT([] { requested_instruction_set(); },
              ThrowsMessage<InputError>(HasSubstr("this processor does not have avx512; its best set is ")));
}

TEST(InstructionSets, AreThoseOfTheProcessorFromThePortableOneUp) {
  const auto sets = available_instruction_sets();
  ASSERT_FALSE(sets.empty());
  for (std::size_t i = 0; i < sets.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(sets[i]), i);
#if defined(__x86_64__)
  EXPECT_EQ(sets.size() > 1, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
#endif
}

TEST(UseInstructionSet, EndsWithItsScope) {
  const InstructionSet before = instruction_set();
  {
    const UseInstructionSet portable(InstructionSet::portable);
    EXPECT_EQ(instruction_set(), InstructionSet::portable);
    const UseInstructionSet best(available_instruction_sets().back());
    EXPECT_EQ(instruction_set(), available_instruction_sets().back());
  }
  EXPECT_EQ(instruction_set(), before);
}

template <InstructionSet Set>
RATION_INLINE InstructionSet own_set(int& calls, int by) {
  calls += by;
  return Set;
}

// Bodies that tell who they are.
TEST(PerProcessor, CallsTheBodyOfTheSetInUse) {
  using Told = PerProcessor<own_set<InstructionSet::portable>, own_set<InstructionSet::avx2>,
                            own_set<InstructionSet::avx512>>;
  int calls = 0;
  for (const InstructionSet set : available_instruction_sets()) {
    const UseInstructionSet use(set);
    EXPECT_EQ(Told::call(calls, 3), set);
  }
  EXPECT_EQ(calls, 3 * static_cast<int>(available_instruction_sets().size()));
}

}  // namespace
}  // namespace ration::testing
