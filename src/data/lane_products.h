#pragma once

#include <cstddef>
#include <vector>

namespace ration::data {

// Arithmetic on kLanes images at once: a point of a plane is kLanes floats, one of each image. With so many
// numbers side by side, a dense matrix of a Fourier transform of 18 or 36 points costs less than the calls of
// a fast one would.
inline constexpr std::size_t kLanes = 16;

// height x width points of every image, row after row.
struct RealPlane {
  RealPlane(std::size_t rows, std::size_t columns)
      : height(rows), width(columns), values(rows * columns * kLanes) {}

  std::size_t height;
  std::size_t width;
  std::vector<float> values;
};
struct ComplexPlane {
  ComplexPlane(std::size_t rows, std::size_t columns) : real(rows, columns), imaginary(rows, columns) {}

  RealPlane real;
  RealPlane imaginary;
};

// rows x columns numbers, row after row.
struct RealMatrix {
  std::size_t rows;
  std::size_t columns;
  std::vector<float> values;
};
struct ComplexMatrix {
  std::size_t rows;
  std::size_t columns;
  std::vector<float> real;
  std::vector<float> imaginary;
};

// down * plane * across^T. `half` has the rows of `down` and the columns of the plane; `out` has those of the
// result.
void multiply(const ComplexMatrix& down, const ComplexMatrix& across, const ComplexPlane& plane,
              ComplexPlane& half, ComplexPlane& out);
void multiply(const RealMatrix& down, const RealMatrix& across, const RealPlane& plane, RealPlane& half,
              RealPlane& out);

// The plane times the filter, point by point; then the spectrum of every `fold`-th point in each direction,
// but for a factor of fold^2: the sum of the points that are so many of `out` apart. `fold` divides height
// and width.
void filter(const ComplexPlane& plane, const std::vector<float>& spectrum, std::size_t fold,
            ComplexPlane& out);

void modulus(const ComplexPlane& plane, RealPlane& out);

}  // namespace ration::data
