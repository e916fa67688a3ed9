#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "methods/method.h"

namespace ration::methods {

// Parts of a method's state, by name; `method` is who asks. Each throws InputError if the part is missing or
// of another size, or a number is not allowed.
const std::vector<double>& saved(const MethodState& state, std::string_view method, const std::string& name);
const std::vector<double>& saved_vector(const MethodState& state, std::string_view method,
                                        const std::string& name, std::size_t size);
double saved_number(const MethodState& state, std::string_view method, const std::string& name,
                    const Interval& allowed);
std::int64_t saved_count(const MethodState& state, std::string_view method, const std::string& name);

}  // namespace ration::methods
