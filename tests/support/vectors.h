#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

// The reference numbers of tests/vectors/public.json; its README says what each kind means.
namespace ration::testing {

// The whole file, parsed once.
const nlohmann::json& vectors();

// The cases of these kinds, in the file's order. Throws if there is none: a misspelt kind must not pass.
std::vector<nlohmann::json> vector_cases(std::initializer_list<std::string> kinds);

// params.orders: a list, or the name of one of the file's grids.
std::vector<double> orders_of(const nlohmann::json& vector_case);

// Whether |got - expected[key]| <= abs + rel |expected[key]|, with the case's tolerance for that key.
::testing::AssertionResult within(const nlohmann::json& vector_case, const std::string& key, double got);

// The same for a list that runs parallel to the orders.
::testing::AssertionResult within(const nlohmann::json& vector_case, const std::string& key,
                                  const std::vector<double>& got);

// For INSTANTIATE_TEST_SUITE_P: the case's name with every character GoogleTest dislikes replaced.
std::string test_name(const ::testing::TestParamInfo<nlohmann::json>& info);

}  // namespace ration::testing
