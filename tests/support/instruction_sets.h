#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/instruction_set.h"

namespace ration::testing {

// What `compute` gives, a vector of numbers, is the same under every instruction set that this machine has,
// to `tolerance` of each number or, below 1, of 1.
template <class Compute>
void expect_same_under_each_set(const Compute& compute, double tolerance) {
  const auto under = [&](InstructionSet set) {
    const UseInstructionSet use(set);
    return compute();
  };
  const auto expected = under(InstructionSet::portable);
  ASSERT_FALSE(expected.empty());
  for (const InstructionSet set : available_instruction_sets()) {
    const auto values = under(set);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto one = static_cast<double>(expected[i]);
      const auto same = std::isnan(one) ? std::isnan(values[i]) : std::isinf(one) && values[i] == expected[i];
      if (same) continue;
      ASSERT_NEAR(values[i], one, tolerance * std::max(1.0, std::abs(one))) << to_string(set) << ' ' << i;
    }
  }
}

}  // namespace ration::testing
