#include <fmt/format.h>

#include <array>

#include "data/byte_source.h"
#include "data/complaint.h"
#include "data/images.h"

namespace ration::data {
namespace {

constexpr std::size_t kPixels = 3 * 32 * 32;

void append_file(const std::string& path, std::size_t classes, Images& images) {
  ByteSource source(path);
  std::array<char, 1 + kPixels> record{};
  std::size_t number = 0;
  for (std::size_t got = source.read(record); got > 0; got = source.read(record)) {
    ++number;
    if (got < record.size()) {
      refuse(path, fmt::format("record {}: expected {} bytes, got {}", number, record.size(), got));
    }
    const auto label = static_cast<std::uint8_t>(record[0]);
    if (label >= classes)
      refuse(path, fmt::format("record {}: expected a label < {}, got {}", number, classes, label));
    images.labels.push_back(label);
    images.pixels.insert(images.pixels.end(), record.begin() + 1, record.end());
  }
  if (number == 0) refuse(path, "expected records, got an empty file");
}

}  // namespace

Images read_cifar10(const std::vector<std::string>& paths, std::size_t classes) {
  Images images{.channels = 3, .height = 32, .width = 32, .pixels = {}, .labels = {}};
  for (const std::string& path : paths) append_file(path, classes, images);
  return images;
}

}  // namespace ration::data
