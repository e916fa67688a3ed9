#include "data/lane_products.h"

#include <cmath>

#include "base/per_processor.h"

namespace ration::data {
namespace {

using Lanes [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(sizeof(float)), gnu::may_alias]] = float;

RATION_INLINE const Lanes& lanes_at(const float* values) {
  return *reinterpret_cast<const Lanes*>(values);
}
RATION_INLINE Lanes& lanes_at(float* values) {
  return *reinterpret_cast<Lanes*>(values);
}

// A line of points of a plane, `step` floats from one to the next.
struct Line {
  std::size_t offset;
  std::size_t step;
};

// `Count` points of the result, so that each point read serves all of them.
template <std::size_t Count>
RATION_INLINE void multiply_some(const ComplexMatrix& matrix, std::size_t row, const ComplexPlane& in,
                                 Line from, ComplexPlane& out, Line to) {
  Lanes real[Count] = {};
  Lanes imaginary[Count] = {};
  const float* const matrix_real = matrix.real.data() + row * matrix.columns;
  const float* const matrix_imaginary = matrix.imaginary.data() + row * matrix.columns;
  for (std::size_t k = 0; k < matrix.columns; ++k) {
    const Lanes& x = lanes_at(in.real.values.data() + from.offset + k * from.step);
    const Lanes& y = lanes_at(in.imaginary.values.data() + from.offset + k * from.step);
    for (std::size_t r = 0; r < Count; ++r) {
      const float a = matrix_real[r * matrix.columns + k];
      const float b = matrix_imaginary[r * matrix.columns + k];
      real[r] += a * x;
      real[r] -= b * y;
      imaginary[r] += a * y;
      imaginary[r] += b * x;
    }
  }
  for (std::size_t r = 0; r < Count; ++r) {
    lanes_at(out.real.values.data() + to.offset + (row + r) * to.step) = real[r];
    lanes_at(out.imaginary.values.data() + to.offset + (row + r) * to.step) = imaginary[r];
  }
}

template <std::size_t Count>
RATION_INLINE void multiply_some(const RealMatrix& matrix, std::size_t row, const RealPlane& in, Line from,
                                 RealPlane& out, Line to) {
  Lanes sum[Count] = {};
  const float* const factors = matrix.values.data() + row * matrix.columns;
  for (std::size_t k = 0; k < matrix.columns; ++k) {
    const Lanes& x = lanes_at(in.values.data() + from.offset + k * from.step);
    for (std::size_t r = 0; r < Count; ++r) sum[r] += factors[r * matrix.columns + k] * x;
  }
  for (std::size_t r = 0; r < Count; ++r)
    lanes_at(out.values.data() + to.offset + (row + r) * to.step) = sum[r];
}

template <class Matrix, class Plane>
RATION_INLINE void multiply_line(const Matrix& matrix, const Plane& in, Line from, Plane& out, Line to) {
  constexpr std::size_t kTogether = 4;
  std::size_t row = 0;
  for (; row + kTogether <= matrix.rows; row += kTogether)
    multiply_some<kTogether>(matrix, row, in, from, out, to);
  for (; row < matrix.rows; ++row) multiply_some<1>(matrix, row, in, from, out, to);
}

// Columns first, then rows.
template <class Matrix, class Plane>
RATION_INLINE void multiply_plane(const Matrix& down, const Matrix& across, const Plane& plane, Plane& half,
                                  Plane& out) {
  const std::size_t row = across.columns * kLanes;
  for (std::size_t x = 0; x < across.columns; ++x) {
    const Line column{x * kLanes, row};
    multiply_line(down, plane, column, half, column);
  }
  for (std::size_t y = 0; y < down.rows; ++y) {
    multiply_line(across, half, {y * row, kLanes}, out, {y * across.rows * kLanes, kLanes});
  }
}

RATION_INLINE void filter_part(const RealPlane& plane, const float* spectrum, std::size_t fold,
                               RealPlane& out) {
  for (std::size_t y = 0; y < out.height; ++y) {
    for (std::size_t x = 0; x < out.width; ++x) {
      Lanes sum{};
      for (std::size_t down = 0; down < fold; ++down) {
        for (std::size_t right = 0; right < fold; ++right) {
          const std::size_t point = (y + down * out.height) * plane.width + x + right * out.width;
          sum += spectrum[point] * lanes_at(plane.values.data() + point * kLanes);
        }
      }
      lanes_at(out.values.data() + (y * out.width + x) * kLanes) = sum;
    }
  }
}

RATION_INLINE void filter_plane(const ComplexPlane& plane, const float* spectrum, std::size_t fold,
                                ComplexPlane& out) {
  filter_part(plane.real, spectrum, fold, out.real);
  filter_part(plane.imaginary, spectrum, fold, out.imaginary);
}

RATION_INLINE void modulus_of(const float* __restrict real, const float* __restrict imaginary,
                              std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = std::sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]);
}

}  // namespace

void multiply(const ComplexMatrix& down, const ComplexMatrix& across, const ComplexPlane& plane,
              ComplexPlane& half, ComplexPlane& out) {
  PerProcessor<multiply_plane<ComplexMatrix, ComplexPlane>>::call(down, across, plane, half, out);
}

void multiply(const RealMatrix& down, const RealMatrix& across, const RealPlane& plane, RealPlane& half,
              RealPlane& out) {
  PerProcessor<multiply_plane<RealMatrix, RealPlane>>::call(down, across, plane, half, out);
}

void filter(const ComplexPlane& plane, const std::vector<float>& spectrum, std::size_t fold,
            ComplexPlane& out) {
  PerProcessor<filter_plane>::call(plane, spectrum.data(), fold, out);
}

void modulus(const ComplexPlane& plane, RealPlane& out) {
  PerProcessor<modulus_of>::call(plane.real.values.data(), plane.imaginary.values.data(), out.values.size(),
                                 out.values.data());
}

}  // namespace ration::data
