#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "objectives/neural/convert.h"
#include "objectives/neural/small_products.h"
#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

// Whole vectors, and what is left over.
TEST(NeuralKernels, AreTheSameUnderEachInstructionSet) {
  for (const std::size_t count : {1u, 63u, 64u, 5000u}) {
    std::vector<double> doubles;
    for (std::size_t i = 0; i < count; ++i) doubles.push_back(std::sin(static_cast<double>(i)));
    expect_same_under_each_set(
        [&] {
          std::vector<float> floats(count);
          nn::to_floats(doubles.data(), count, floats.data());
          std::vector<double> sums = doubles;
          nn::add_floats(floats.data(), count, sums.data());
          const auto size = static_cast<std::int64_t>(count);
          sums.push_back(nn::dot(floats.data(), floats.data(), size) / static_cast<double>(count));
          return sums;
        },
        1e-6);
  }
}

}  // namespace
}  // namespace ration::testing
