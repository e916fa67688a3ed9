#pragma once

#include <cstddef>
#include <vector>

namespace ration::data {

// The filters of a scattering transform on a periodic grid of height x width points [Bruna13, Sec. 2;
// Oyallon15]. Centre frequency 3 pi / 4 / 2^scale, width 0.8 x 2^scale points, slant 4 / angles: those of the
// usual software.
struct WaveletGrid {
  std::size_t height;
  std::size_t width;
  std::size_t angles = 8;
};

// The Fourier transform of a Morlet wavelet, row after row: a Gaussian window times a wave in the direction
// pi (angles / 2 - 1 - angle) / angles, less as much of the window as makes the mean zero. Real, since the
// wavelet at -x is the conjugate of that at x. `scale` is 0, 1, ...; the wavelets of a scale are turned,
// those of the next twice as wide.
std::vector<double> morlet_spectrum(const WaveletGrid& grid, std::size_t scale, std::size_t angle);

// A Gaussian of this width along one axis of `points` points that are `spacing` apart; its values sum to 1.
std::vector<double> gaussian_window(std::size_t points, std::size_t spacing, double width);

}  // namespace ration::data
