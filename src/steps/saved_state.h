#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ration::steps {

// Throws InputError unless a vector has as many numbers as it should.
void require_size(std::string_view where, std::string_view what, std::size_t size, std::size_t expected);

// A count that was saved as a number. Throws InputError unless it is a whole number >= 0.
std::int64_t saved_count(std::string_view where, double value);

}  // namespace ration::steps
