#include <fmt/format.h>

#include <array>
#include <limits>
#include <span>

#include "data/byte_source.h"
#include "data/complaint.h"
#include "data/images.h"

namespace ration::data {
namespace {

constexpr std::uint32_t kImagesMagic = 0x00000803;
constexpr std::uint32_t kLabelsMagic = 0x00000801;

std::uint32_t take_number(ByteSource& source) {
  std::array<char, 4> bytes{};
  if (source.read(bytes) < bytes.size()) refuse(source.path(), "the IDX header is truncated");
  std::uint32_t value = 0;
  for (const char byte : bytes) value = (value << 8) | static_cast<unsigned char>(byte);
  return value;
}

void require_magic(ByteSource& source, std::uint32_t expected) {
  const std::uint32_t magic = take_number(source);
  if (magic == expected) return;
  refuse(source.path(),
         fmt::format("byte 0: expected the IDX magic number {:#010x}, got {:#010x}", expected, magic));
}

// Exactly `size` bytes to the end of the file. Memory grows with what is there, so that a lying header costs
// nothing.
std::vector<std::uint8_t> take_rest(ByteSource& source, std::uint64_t size, const std::string& claim) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::vector<std::uint8_t> bytes;
  std::size_t got = kBlock;
  while (got == kBlock && bytes.size() <= size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kBlock);
    got = source.read({reinterpret_cast<char*>(bytes.data()) + before, kBlock});
    bytes.resize(before + got);
  }
  if (bytes.size() == size) return bytes;
  refuse(source.path(), fmt::format("the header says {} = {} bytes, but {} follow", claim, size,
                                    bytes.size() > size ? "more" : std::to_string(bytes.size())));
}

std::vector<std::uint8_t> read_labels(const std::string& path, std::size_t classes) {
  ByteSource source(path);
  require_magic(source, kLabelsMagic);
  const std::uint32_t count = take_number(source);
  std::vector<std::uint8_t> labels = take_rest(source, count, fmt::format("{} labels", count));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      refuse(path, fmt::format("record {}: expected a label < {}, got {}", i + 1, classes, labels[i]));
    }
  }
  return labels;
}

}  // namespace

Images read_idx(const std::string& images_path, const std::string& labels_path, std::size_t classes) {
  ByteSource source(images_path);
  require_magic(source, kImagesMagic);
  const std::uint64_t count = take_number(source);
  Images images;
  images.height = take_number(source);
  images.width = take_number(source);
  std::uint64_t size = 0;
  const bool overflows = __builtin_mul_overflow(count * images.height, images.width, &size);
  const std::string claim = fmt::format("{} x {} x {}", count, images.height, images.width);
  if (overflows || size > std::numeric_limits<std::int64_t>::max())
    refuse(images_path, fmt::format("the header says {} bytes: impossible", claim));
  images.pixels = take_rest(source, size, claim);
  images.labels = read_labels(labels_path, classes);
  if (images.labels.size() != count) {
    refuse(labels_path,
           fmt::format("expected {} labels, one per image, got {}", count, images.labels.size()));
  }
  return images;
}

}  // namespace ration::data
