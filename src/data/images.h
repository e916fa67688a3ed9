#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ration/data/table.h"

namespace ration::data {

// Images of one size with a class each, as bytes: image after image, channel after channel, row after row.
struct Images {
  std::size_t channels = 1;
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::size_t count() const { return labels.size(); }
  std::size_t pixels_each() const { return channels * height * width; }
};

// IDX (MNIST, Fashion-MNIST), gzip or not: 00 00 08 03, count, height, width (big-endian), then bytes; labels
// 00 00 08 01, count, bytes. Refused: another magic number, a size other than the header's, labels that do
// not match the images in number, a label not below `classes`.
Images read_idx(const std::string& images_path, const std::string& labels_path, std::size_t classes = 10);

// CIFAR-10 binary, gzip or not: records of one label byte and 3 x 32 x 32 bytes. Refused: a size that is no
// whole number of records, a label not below `classes`.
Images read_cifar10(const std::vector<std::string>& paths, std::size_t classes = 10);

// Encoded by a schema of the format `images`. Refused: images of another size. A label that is none of the
// classes makes a bad row.
Table image_table(Images images, const Schema& schema, OnBadRow on_bad_row = OnBadRow::refuse);

}  // namespace ration::data
