#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ration::data {

// The numbers of a .npy file: float32/64, (u)int8 ... 64 or bool, little-endian, C order, one or two
// dimensions.
struct NumpyArray {
  std::size_t rows = 0;
  std::size_t columns = 1;
  std::vector<double> values;  // row after row
};

// `file` is named in messages. Refuses whatever does not have exactly the size its header says.
NumpyArray parse_numpy(std::span<const char> bytes, const std::string& file);

}  // namespace ration::data
