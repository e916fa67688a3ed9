#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/images.h"
#include "data/lane_products.h"

namespace ration::data {

// The wavelet scattering transform of an image, of depth 2 over 2 scales and 8 angles [Bruna13; Oyallon15],
// with which private linear models come close to networks [Tramer21]. A fixed function of one image: it
// learns nothing, so it costs nothing.
//
//   S0 = x * phi,  S1(j, t) = |x * psi(j, t)| * phi,  S2(t, u) = ||x * psi(0, t)| * psi(1, u)| * phi
//
// with Morlet wavelets psi of two scales j and a Gaussian phi, taken at every fourth pixel: 1 + 16 + 64 = 81
// channels, in this order. The image is continued beyond its border by reflection. Convolutions are periodic
// on the grid so enlarged.
class Scattering {
 public:
  static constexpr std::size_t kAngles = 8;
  static constexpr std::size_t kChannels = 1 + 2 * kAngles + kAngles * kAngles;
  static constexpr std::size_t kStep = 4;    // pixels from one output to the next
  static constexpr std::size_t kBorder = 4;  // pixels added on each side

  // Multiples of 4, at least 8.
  Scattering(std::size_t height, std::size_t width);

  // What one thread works with.
  struct Workspace {
    explicit Workspace(const Scattering& transform);

    // On the whole grid, on every second point of it, and at the outputs; `half` is for products.
    ComplexPlane image_spectrum, spectrum, wave, half;
    ComplexPlane coarse_spectrum, coarse_wave, coarse_half;
    RealPlane modulus, coarse_modulus;
    RealPlane low, low_half, coarse_low_half;
  };

  std::size_t outputs() const { return kChannels * low_height_ * low_width_; }
  // kLanes images of height x width points; outputs() points of the result, channel after channel.
  void transform(const RealPlane& images, std::span<float> out, Workspace& work) const;

 private:
  struct Axis {
    explicit Axis(std::size_t length);

    std::size_t length;  // of the grid
    ComplexMatrix forward, backward, coarse_backward;
    RealMatrix low_pass, coarse_low_pass;
  };

  void pad(const RealPlane& images, RealPlane& grid) const;
  // Both append a channel to `out`; the second that of a wavelet of the second scale.
  void low_pass(const RealPlane& plane, std::span<float>& out, Workspace& work) const;
  void coarse_low_pass(const ComplexPlane& spectrum, std::size_t angle, std::span<float>& out,
                       Workspace& work) const;
  void to_spectrum(const RealPlane& plane, ComplexPlane& spectrum, Workspace& work) const;

  Axis down_, across_;
  std::size_t low_height_, low_width_;
  std::vector<std::vector<float>> fine_, coarse_;  // spectra of the wavelets, by angle
};

// Mean 0 and variance 1 within each group of channels of an image, whatever the other images are:
// (z - mean) / sqrt(variance + 1e-5). As many groups of neighbouring channels as in [Tramer21]: 27.
inline constexpr std::size_t kScatterGroups = 27;
void normalise_groups(std::span<double> features, std::size_t groups = kScatterGroups);

// Features of an image: those of its first channel, then those of the second, and so on, normalised.
std::size_t scatter_features(const ImageShape& shape);
// Row i of `values`, `row_length` >= scatter_features apart, begins with the features of image i. 0 threads:
// one per processor; the result does not depend on it.
void scatter(const Images& images, std::size_t row_length, std::span<double> values, std::size_t threads = 0);

}  // namespace ration::data
