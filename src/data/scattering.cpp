#include "data/scattering.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/parallel.h"
#include "data/wavelets.h"

namespace ration::data {
namespace {

constexpr std::size_t kFold = 2;           // the second scale is kept at every second point
constexpr double kLowPassWidth = 0.8 * 2;  // pixels

// exp(sign 2 pi i row column / period) * factor.
ComplexMatrix fourier_matrix(std::size_t rows, std::size_t columns, std::size_t period, double sign,
                             double factor) {
  ComplexMatrix matrix{.rows = rows, .columns = columns, .real = {}, .imaginary = {}};
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double turn = static_cast<double>(row * column % period) / static_cast<double>(period);
      matrix.real.push_back(static_cast<float>(factor * std::cos(2 * std::numbers::pi * turn)));
      matrix.imaginary.push_back(static_cast<float>(factor * sign * std::sin(2 * std::numbers::pi * turn)));
    }
  }
  return matrix;
}

// The window around every fourth pixel of the image, on a grid whose points are `spacing` pixels apart.
RealMatrix low_pass_matrix(std::size_t length, std::size_t spacing) {
  const std::size_t points = length / spacing;
  const std::vector<double> window = gaussian_window(points, spacing, kLowPassWidth);
  RealMatrix matrix{
      .rows = (length - 2 * Scattering::kBorder) / Scattering::kStep, .columns = points, .values = {}};
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const std::size_t centre = (Scattering::kBorder + row * Scattering::kStep) / spacing;
    for (std::size_t i = 0; i < points; ++i)
      matrix.values.push_back(static_cast<float>(window[(i + points - centre) % points]));
  }
  return matrix;
}

std::vector<std::vector<float>> wavelet_spectra(std::size_t height, std::size_t width, std::size_t scale) {
  std::vector<std::vector<float>> spectra;
  for (std::size_t angle = 0; angle < Scattering::kAngles; ++angle) {
    const std::vector<double> spectrum =
        morlet_spectrum({.height = height, .width = width, .angles = Scattering::kAngles}, scale, angle);
    spectra.emplace_back(spectrum.begin(), spectrum.end());
  }
  return spectra;
}

// The pixel that stands at a place of the enlarged line: -1 is 1, and so on.
std::size_t reflected(std::size_t place, std::size_t length) {
  if (place < Scattering::kBorder) return Scattering::kBorder - place;
  place -= Scattering::kBorder;
  return place < length ? place : 2 * (length - 1) - place;
}

// Fills the front of `out` and leaves the rest.
void append(const RealPlane& channel, std::span<float>& out) {
  std::copy(channel.values.begin(), channel.values.end(), out.begin());
  out = out.subspan(channel.values.size());
}

}  // namespace

Scattering::Axis::Axis(std::size_t points)
    : length(points),
      forward(fourier_matrix(points, points, points, -1, 1)),
      backward(fourier_matrix(points, points, points, 1, 1 / static_cast<double>(points))),
      coarse_backward(
          fourier_matrix(points / kFold, points / kFold, points / kFold, 1, 1 / static_cast<double>(points))),
      low_pass(low_pass_matrix(points, 1)),
      coarse_low_pass(low_pass_matrix(points, kFold)) {}

Scattering::Scattering(std::size_t height, std::size_t width)
    : down_(height + 2 * kBorder),
      across_(width + 2 * kBorder),
      low_height_(height / kStep),
      low_width_(width / kStep),
      fine_(wavelet_spectra(down_.length, across_.length, 0)),
      coarse_(wavelet_spectra(down_.length, across_.length, 1)) {}

Scattering::Workspace::Workspace(const Scattering& t)
    : image_spectrum(t.down_.length, t.across_.length),
      spectrum(image_spectrum),
      wave(image_spectrum),
      half(image_spectrum),
      coarse_spectrum(t.down_.length / kFold, t.across_.length / kFold),
      coarse_wave(coarse_spectrum),
      coarse_half(coarse_spectrum),
      modulus(image_spectrum.real),
      coarse_modulus(coarse_spectrum.real),
      low(t.low_height_, t.low_width_),
      low_half(t.low_height_, t.across_.length),
      coarse_low_half(t.low_height_, t.across_.length / kFold) {}

void Scattering::pad(const RealPlane& images, RealPlane& grid) const {
  for (std::size_t y = 0; y < grid.height; ++y) {
    for (std::size_t x = 0; x < grid.width; ++x) {
      const std::size_t from = reflected(y, images.height) * images.width + reflected(x, images.width);
      std::copy_n(images.values.begin() + static_cast<std::ptrdiff_t>(from * kLanes), kLanes,
                  grid.values.begin() + static_cast<std::ptrdiff_t>((y * grid.width + x) * kLanes));
    }
  }
}

void Scattering::to_spectrum(const RealPlane& plane, ComplexPlane& spectrum, Workspace& work) const {
  work.wave.real.values = plane.values;
  std::fill(work.wave.imaginary.values.begin(), work.wave.imaginary.values.end(), 0.0f);
  multiply(down_.forward, across_.forward, work.wave, work.half, spectrum);
}

void Scattering::low_pass(const RealPlane& plane, std::span<float>& out, Workspace& work) const {
  multiply(down_.low_pass, across_.low_pass, plane, work.low_half, work.low);
  append(work.low, out);
}

void Scattering::coarse_low_pass(const ComplexPlane& spectrum, std::size_t angle, std::span<float>& out,
                                 Workspace& work) const {
  filter(spectrum, coarse_[angle], kFold, work.coarse_spectrum);
  multiply(down_.coarse_backward, across_.coarse_backward, work.coarse_spectrum, work.coarse_half,
           work.coarse_wave);
  data::modulus(work.coarse_wave, work.coarse_modulus);
  multiply(down_.coarse_low_pass, across_.coarse_low_pass, work.coarse_modulus, work.coarse_low_half,
           work.low);
  append(work.low, out);
}

void Scattering::transform(const RealPlane& images, std::span<float> out, Workspace& work) const {
  const std::size_t channel = low_height_ * low_width_ * kLanes;
  std::span<float> second_order = out.subspan((1 + 2 * kAngles) * channel);
  pad(images, work.modulus);
  to_spectrum(work.modulus, work.image_spectrum, work);
  low_pass(work.modulus, out, work);
  for (std::size_t angle = 0; angle < kAngles; ++angle) {
    filter(work.image_spectrum, fine_[angle], 1, work.spectrum);
    multiply(down_.backward, across_.backward, work.spectrum, work.half, work.wave);
    data::modulus(work.wave, work.modulus);
    low_pass(work.modulus, out, work);
    to_spectrum(work.modulus, work.spectrum, work);
    for (std::size_t second = 0; second < kAngles; ++second)
      coarse_low_pass(work.spectrum, second, second_order, work);
  }
  for (std::size_t angle = 0; angle < kAngles; ++angle)
    coarse_low_pass(work.image_spectrum, angle, out, work);
}

void normalise_groups(std::span<double> features, std::size_t groups) {
  constexpr double kStability = 1e-5;
  const std::size_t length = features.size() / groups;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::span<double> some = features.subspan(group * length, length);
    double sum = 0;
    for (const double value : some) sum += value;
    const double mean = sum / static_cast<double>(length);
    double squares = 0;
    for (const double value : some) squares += (value - mean) * (value - mean);
    const double unit = std::sqrt(squares / static_cast<double>(length) + kStability);
    for (double& value : some) value = (value - mean) / unit;
  }
}

std::size_t scatter_features(const ImageShape& shape) {
  return shape.channels * Scattering::kChannels * (shape.height / Scattering::kStep) *
         (shape.width / Scattering::kStep);
}

namespace {

// What one thread does: kLanes images at a time.
class BatchScatter {
 public:
  BatchScatter(const Scattering& scattering, const Images& images, std::size_t row_length,
               std::span<double> values)
      : scattering_(scattering),
        images_(images),
        row_length_(row_length),
        values_(values),
        work_(scattering),
        plane_(images.height, images.width),
        features_(scattering.outputs() * kLanes) {}

  // Image `first` and those that follow it.
  void run(std::size_t first) {
    const std::size_t count = std::min(kLanes, images_.count() - first);
    for (std::size_t channel = 0; channel < images_.channels; ++channel) {
      take_pixels(first, count, channel);
      scattering_.transform(plane_, features_, work_);
      give_features(first, count, channel);
    }
    for (std::size_t i = first; i < first + count; ++i)
      normalise_groups(values_.subspan(i * row_length_, images_.channels * scattering_.outputs()));
  }

 private:
  // Lanes without an image stay black.
  void take_pixels(std::size_t first, std::size_t count, std::size_t channel) {
    constexpr float kLargest = 255;
    const std::size_t points = images_.height * images_.width;
    std::fill(plane_.values.begin(), plane_.values.end(), 0.0f);
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::size_t start = (first + lane) * images_.pixels_each() + channel * points;
      for (std::size_t i = 0; i < points; ++i)
        plane_.values[i * kLanes + lane] = static_cast<float>(images_.pixels[start + i]) / kLargest;
    }
  }

  void give_features(std::size_t first, std::size_t count, std::size_t channel) {
    const std::size_t each = scattering_.outputs();
    for (std::size_t lane = 0; lane < count; ++lane) {
      const std::span<double> row = values_.subspan((first + lane) * row_length_ + channel * each, each);
      for (std::size_t i = 0; i < each; ++i) row[i] = features_[i * kLanes + lane];
    }
  }

  const Scattering& scattering_;
  const Images& images_;
  std::size_t row_length_;
  std::span<double> values_;
  Scattering::Workspace work_;
  RealPlane plane_;
  std::vector<float> features_;
};

}  // namespace

void scatter(const Images& images, std::size_t row_length, std::span<double> values, std::size_t threads) {
  constexpr std::size_t kBlock = 16 * kLanes;  // images
  const Scattering scattering(images.height, images.width);
  const std::size_t blocks = (images.count() + kBlock - 1) / kBlock;
  for_each_block(blocks, thread_count(threads), [&](std::size_t block) {
    BatchScatter batches(scattering, images, row_length, values);
    const std::size_t end = std::min(images.count(), (block + 1) * kBlock);
    for (std::size_t first = block * kBlock; first < end; first += kLanes) batches.run(first);
  });
}

}  // namespace ration::data
