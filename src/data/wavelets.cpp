#include "data/wavelets.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <unsupported/Eigen/FFT>

namespace ration::data {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

// How often a filter is wrapped around the grid, on each side: what is further away is below the rounding of
// a float.
constexpr int kWraps = 2;

struct Gabor {
  double width;
  double direction;
  double frequency;
  double slant;

  // At a point of the plane, with its window alone if `frequency` is 0.
  Complex at(double y, double x) const {
    const double along = y * std::cos(direction) + x * std::sin(direction);
    const double across = x * std::cos(direction) - y * std::sin(direction);
    const double distance = along * along + slant * slant * across * across;
    return std::polar(std::exp(-distance / (2 * width * width)), frequency * along) * slant /
           (2 * pi * width * width);
  }
};

// The sum over all copies of the grid.
std::vector<Complex> sampled(const Gabor& gabor, const WaveletGrid& grid) {
  std::vector<Complex> values(grid.height * grid.width);
  const auto height = static_cast<double>(grid.height);
  const auto width = static_cast<double>(grid.width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto y = static_cast<double>(i / grid.width);
    const auto x = static_cast<double>(i % grid.width);
    for (int down = -kWraps; down <= kWraps; ++down) {
      for (int right = -kWraps; right <= kWraps; ++right)
        values[i] += gabor.at(y + down * height, x + right * width);
    }
  }
  return values;
}

std::vector<Complex> morlet(Gabor gabor, const WaveletGrid& grid) {
  std::vector<Complex> wave = sampled(gabor, grid);
  gabor.frequency = 0;
  const std::vector<Complex> window = sampled(gabor, grid);
  const Complex mean = std::accumulate(wave.begin(), wave.end(), Complex()) /
                       std::accumulate(window.begin(), window.end(), Complex());
  for (std::size_t i = 0; i < wave.size(); ++i) wave[i] -= mean * window[i];
  return wave;
}

// One line of the grid, in place.
void transform_line(Complex* values, std::size_t count, std::size_t step, Eigen::FFT<double>& fft) {
  std::vector<Complex> line(count);
  std::vector<Complex> spectrum(count);
  for (std::size_t i = 0; i < count; ++i) line[i] = values[i * step];
  fft.fwd(spectrum, line);
  for (std::size_t i = 0; i < count; ++i) values[i * step] = spectrum[i];
}

}  // namespace

std::vector<double> morlet_spectrum(const WaveletGrid& grid, std::size_t scale, std::size_t angle) {
  const double stretch = std::exp2(static_cast<double>(scale));
  const auto angles = static_cast<double>(grid.angles);
  std::vector<Complex> values =
      morlet({.width = 0.8 * stretch,
              .direction = pi * (angles / 2 - 1 - static_cast<double>(angle)) / angles,
              .frequency = 0.75 * pi / stretch,
              .slant = 4 / angles},
             grid);
  Eigen::FFT<double> fft;
  for (std::size_t y = 0; y < grid.height; ++y) transform_line(&values[y * grid.width], grid.width, 1, fft);
  for (std::size_t x = 0; x < grid.width; ++x) transform_line(&values[x], grid.height, grid.width, fft);
  std::vector<double> spectrum(values.size());
  std::transform(values.begin(), values.end(), spectrum.begin(), [](const Complex& z) { return z.real(); });
  return spectrum;
}

std::vector<double> gaussian_window(std::size_t points, std::size_t spacing, double width) {
  std::vector<double> window(points);
  for (std::size_t i = 0; i < points; ++i) {
    for (int wrap = -kWraps; wrap <= kWraps; ++wrap) {
      const double distance =
          (static_cast<double>(i) + wrap * static_cast<double>(points)) * static_cast<double>(spacing);
      window[i] += std::exp(-distance * distance / (2 * width * width));
    }
  }
  const double total = std::accumulate(window.begin(), window.end(), 0.0);
  for (double& value : window) value /= total;
  return window;
}

}  // namespace ration::data
