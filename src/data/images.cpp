#include "ration/data/images.h"

#include <fmt/format.h>

#include <algorithm>

namespace ration::data {
namespace {

std::vector<double> scaled_pixels(const Images& images, bool bias) {
  constexpr double kLargest = 255;
  const std::size_t each = images.pixels_each();
  std::vector<double> values;
  values.reserve(images.count() * (each + (bias ? 1 : 0)));
  for (std::size_t i = 0; i < images.count(); ++i) {
    for (std::size_t k = 0; k < each; ++k) values.push_back(images.pixels[i * each + k] / kLargest);
    if (bias) values.push_back(1.0);
  }
  return values;
}

}  // namespace

Table image_table(const Images& images, bool bias) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < images.pixels_each(); ++k) names.push_back(fmt::format("pixel {}", k));
  if (bias) names.push_back("(bias)");
  std::vector<std::string> classes;
  const std::size_t last =
      images.labels.empty() ? 0 : *std::max_element(images.labels.begin(), images.labels.end());
  for (std::size_t c = 0; c <= std::max<std::size_t>(last, 9); ++c) classes.push_back(std::to_string(c));
  std::vector<double> labels(images.labels.begin(), images.labels.end());
  return {Rows::dense(names.size(), scaled_pixels(images, bias), std::move(labels)), names, classes};
}

}  // namespace ration::data
