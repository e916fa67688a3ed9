#include "base/squared_length.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

TEST(SquaredLength, CountsEveryCoordinateOnce) {
  for (const std::size_t size : {0u, 1u, 2u, 31u, 32u, 33u, 1000u}) {
    std::vector<double> values;
    double expected = 0;
    for (std::size_t i = 1; i <= size; ++i) {
      values.push_back(static_cast<double>(i));
      expected += static_cast<double>(i * i);
    }
    EXPECT_EQ(squared_length(values), expected) << size;
  }
}

TEST(SquaredLength, IsNotFiniteIfACoordinateIsNot) {
  std::vector<double> values(100, 1.0);
  values[77] = std::nan("");
  EXPECT_TRUE(std::isnan(squared_length(values)));
}

TEST(SquaredLength, IsTheSameUnderEachInstructionSet) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::sin(i));
  expect_same_under_each_set([&] { return std::vector<double>{squared_length(values)}; }, 1e-14);
}

}  // namespace
}  // namespace ration::testing
