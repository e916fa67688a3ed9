#include "data/numpy_array.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "data/complaint.h"

namespace ration::data {
namespace {

struct Header {
  std::string type;  // such as <f8
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// The value of a key in the header's Python dictionary, up to the text that ends it.
std::string_view value_of(std::string_view dictionary, std::string_view key, std::string_view end,
                          const std::string& file) {
  const std::size_t at = dictionary.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) refuse(file, fmt::format("the .npy header has no key '{}'", key));
  std::string_view rest = dictionary.substr(at + key.size() + 3);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::size_t length = rest.find_first_of(end);
  if (length == std::string_view::npos) refuse(file, fmt::format("the .npy header ends within '{}'", key));
  return rest.substr(0, length);
}

std::vector<std::size_t> parse_shape(std::string_view text, const std::string& file) {
  std::vector<std::size_t> shape;
  std::string_view rest = text;
  if (rest.starts_with('(')) rest.remove_prefix(1);
  while (!rest.empty()) {
    if (rest.front() == ' ' || rest.front() == ',') {
      rest.remove_prefix(1);
      continue;
    }
    std::size_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc())
      refuse(file, fmt::format("expected a shape of whole numbers, got {}", in_quotes(text)));
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    shape.push_back(extent);
  }
  return shape;
}

// Splits off the header and parses it; `bytes` is left with the data.
Header take_header(std::span<const char>& bytes, const std::string& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (bytes.size() < 10 || std::string_view(bytes.data(), kMagic.size()) != kMagic) {
    refuse(file, "expected a .npy file, which begins with \\x93NUMPY");
  }
  const int version = bytes[6];
  if (version < 1 || version > 3)
    refuse(file, fmt::format("expected .npy version 1, 2 or 3, got {}", version));
  const std::size_t width = version == 1 ? 2 : 4;
  std::uint64_t length = 0;
  if (bytes.size() < 8 + width) refuse(file, "the .npy header is truncated");
  for (std::size_t i = 0; i < width; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  if (length > bytes.size() - 8 - width)
    refuse(file, fmt::format("the .npy header says {} bytes, more than there are", length));
  const std::string_view text(bytes.data() + 8 + width, length);
  bytes = bytes.subspan(8 + width + length);
  Header header;
  const std::string_view type = value_of(text, "descr", ",}", file);
  const bool is_text = type.size() >= 2 && type.front() == '\'' && type.back() == '\'';
  header.type = is_text ? type.substr(1, type.size() - 2) : type;
  header.fortran_order = value_of(text, "fortran_order", ",}", file) == "True";
  header.shape = parse_shape(value_of(text, "shape", ")", file), file);
  return header;
}

template <typename Number>
double load(const char* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

struct ElementType {
  std::size_t size;
  double (*load)(const char*);
};

std::optional<ElementType> element_type(std::string_view name) {
  if (name == "<f8") return ElementType{8, load<double>};
  if (name == "<f4") return ElementType{4, load<float>};
  if (name == "<i8") return ElementType{8, load<std::int64_t>};
  if (name == "<i4") return ElementType{4, load<std::int32_t>};
  if (name == "<i2") return ElementType{2, load<std::int16_t>};
  if (name == "|i1") return ElementType{1, load<std::int8_t>};
  if (name == "<u8") return ElementType{8, load<std::uint64_t>};
  if (name == "<u4") return ElementType{4, load<std::uint32_t>};
  if (name == "<u2") return ElementType{2, load<std::uint16_t>};
  if (name == "|u1" || name == "|b1") return ElementType{1, load<std::uint8_t>};
  return std::nullopt;
}

// rows * columns, checked against the bytes that are there.
std::size_t checked_count(const NumpyArray& array, std::size_t element, std::size_t bytes,
                          const std::string& file) {
  std::size_t count = 0;
  std::size_t size = 0;
  const bool overflows = __builtin_mul_overflow(array.rows, array.columns, &count) ||
                         __builtin_mul_overflow(count, element, &size);
  if (overflows || size != bytes) {
    refuse(file, fmt::format("the .npy header says {} x {} elements of {} bytes, but {} bytes follow",
                             array.rows, array.columns, element, bytes));
  }
  return count;
}

}  // namespace

NumpyArray parse_numpy(std::span<const char> bytes, const std::string& file) {
  const Header header = take_header(bytes, file);
  const auto type = element_type(header.type);
  if (!type) {
    refuse(file, fmt::format("expected little-endian float32/64, (u)int8 to 64 or bool, got dtype {}",
                             in_quotes(header.type)));
  }
  if (header.shape.empty() || header.shape.size() > 2) {
    refuse(file, fmt::format("expected one or two dimensions, got {}", header.shape.size()));
  }
  NumpyArray array{
      .rows = header.shape[0], .columns = header.shape.size() == 2 ? header.shape[1] : 1, .values = {}};
  if (header.fortran_order && array.columns > 1 && array.rows > 1) {
    refuse(file, "expected C order, got Fortran order; save numpy.ascontiguousarray(array)");
  }
  array.values.resize(checked_count(array, type->size, bytes.size(), file));
  for (std::size_t i = 0; i < array.values.size(); ++i)
    array.values[i] = type->load(bytes.data() + i * type->size);
  return array;
}

}  // namespace ration::data
