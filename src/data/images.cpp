#include "data/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "data/complaint.h"
#include "data/named_data.h"
#include "data/row_faults.h"
#include "data/scattering.h"

namespace ration::data {
namespace {

void scale_pixels(const Images& images, std::size_t row_length, std::span<double> values) {
  constexpr double kLargest = 255;
  const std::size_t each = images.pixels_each();
  for (std::size_t i = 0; i < images.count(); ++i) {
    for (std::size_t k = 0; k < each; ++k)
      values[i * row_length + k] = images.pixels[i * each + k] / kLargest;
  }
}

// Row after row; filled in place, since there may be no room for two tables.
std::vector<double> encoded(const Images& images, const Schema& schema, std::size_t columns) {
  std::vector<double> values(images.count() * columns);
  if (schema.image->features == ImageFeatures::scatter) {
    scatter(images, columns, values);
  } else {
    scale_pixels(images, columns, values);
  }
  for (std::size_t i = 1; schema.bias && i <= images.count(); ++i) values[i * columns - 1] = 1;
  return values;
}

std::string size_text(std::size_t channels, std::size_t height, std::size_t width) {
  return fmt::format("{} x {} x {} (channels, height, width)", channels, height, width);
}

void require_size(const Images& images, const Schema& schema) {
  const ImageShape& shape = *schema.image;
  if (images.channels == shape.channels && images.height == shape.height && images.width == shape.width)
    return;
  throw PublicFault(fmt::format("{}: expected images of {}, got {}", schema.file,
                                size_text(shape.channels, shape.height, shape.width),
                                size_text(images.channels, images.height, images.width)));
}

// Leaves out what has a label that is none of the classes, or refuses it; returns how many.
std::size_t leave_out_bad(Images& images, const Schema& schema, OnBadRow on_bad_row) {
  RowFaults faults(on_bad_row);
  const std::size_t classes = schema.classes();
  const std::size_t each = images.pixels_each();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < images.count(); ++i) {
    if (images.labels[i] >= classes) {
      faults.in_row(RowFault(fmt::format("{}: image {}: expected a label < {}, the number of classes, got {}",
                                         schema.file, i + 1, classes, images.labels[i])));
    }
    if (!faults.end_row()) continue;
    if (kept < i) {
      std::copy_n(images.pixels.begin() + static_cast<std::ptrdiff_t>(i * each), each,
                  images.pixels.begin() + static_cast<std::ptrdiff_t>(kept * each));
      images.labels[kept] = images.labels[i];
    }
    ++kept;
  }
  faults.finish();
  images.labels.resize(kept);
  images.pixels.resize(kept * each);
  return faults.left_out();
}

Images read_named(const std::string& name) {
  const DataKind kind = parse_data_name(name).kind;
  if (kind == DataKind::file || kind == DataKind::text) {
    refuse(name, "the schema is one of images; expected mnist:DIR, fashion-mnist or cifar10:DIR");
  }
  const std::vector<std::string> files = files_of(name);
  constexpr std::size_t kAnyByte = 256;  // image_table() looks at the labels
  return kind == DataKind::cifar10 ? read_cifar10(files, kAnyByte) : read_idx(files[0], files[1], kAnyByte);
}

}  // namespace

Table image_table(Images images, const Schema& schema, OnBadRow on_bad_row) {
  require_sound(schema);
  require_size(images, schema);
  const std::size_t left_out = leave_out_bad(images, schema, on_bad_row);
  std::vector<std::string> names = encoded_column_names(schema);
  std::vector<double> labels(images.labels.begin(), images.labels.end());
  Rows rows = Rows::dense(names.size(), encoded(images, schema, names.size()), std::move(labels));
  if (schema.max_row_norm) rows = std::move(rows).with_row_norms_at_most(*schema.max_row_norm);
  return {std::move(rows), std::move(names), schema.class_names(), left_out};
}

Table read_images(const std::string& name, const Schema& schema, const ReadOptions& options) {
  require_sound(schema);
  Table table = image_table(read_named(name), schema, options.on_bad_row);
  if (options.labels) return table;
  std::vector<double> none(table.rows.count(), std::numeric_limits<double>::quiet_NaN());
  table.rows = std::move(table.rows).with_labels(std::move(none));
  return table;
}

}  // namespace ration::data
