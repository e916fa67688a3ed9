#pragma once

#include <span>

namespace ration {

// Of a vector, long or short, in vector instructions; in some order that depends on nothing but the size.
double squared_length(std::span<const double> values);

}  // namespace ration
