#pragma once

#include <string>
#include <vector>

#include "methods/method.h"

namespace ration {

// Parts of a saved state; InputError if they are not there or not as expected.
const std::vector<double>& saved_part(const MethodState& state, const std::string& name, std::size_t size);
// A whole number of 0 to `most`.
double saved_count(const MethodState& state, const std::string& name, double most);

void require_size(const char* what, std::size_t size, std::size_t expected);

}  // namespace ration
