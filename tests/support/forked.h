#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ration::testing {

// Runs `work` in a forked child and returns the words it gives back; an exception there fails the test here.
std::vector<std::uint64_t> in_child(const std::function<std::vector<std::uint64_t>()>& work);

}  // namespace ration::testing
