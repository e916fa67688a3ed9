#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ration::testing {

// Binary files made by hand, right or wrong as a test wants them.

template <typename Number>
std::string little_endian(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string big_endian(std::uint32_t value);

// A .npy file with this dictionary and these bytes.
std::string npy(const std::string& dictionary, const std::string& bytes);
// The usual dictionary: npy_header("<f8", "(2, 3)").
std::string npy_header(const std::string& type, const std::string& shape,
                       const std::string& fortran = "False");
template <typename Number>
std::string bytes_of(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

struct ZipEntry {
  std::string name;
  std::string bytes;
  bool deflated = false;
};
std::string zip(const std::vector<ZipEntry>& entries);

std::string idx_images(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                       const std::string& pixels, std::uint32_t magic = 0x803);
std::string idx_labels(std::uint32_t count, const std::string& labels, std::uint32_t magic = 0x801);

}  // namespace ration::testing
