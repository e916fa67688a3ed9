#include "data/lane_products.h"

#include <cmath>

#include "base/per_processor.h"

namespace ration::data {
namespace {

// Vectors as wide as those of the instruction set: the compiler would take wider ones apart.
template <std::size_t Bytes>
struct Simd {
  using Vector [[gnu::vector_size(Bytes), gnu::aligned(sizeof(float)), gnu::may_alias]] = float;
  static constexpr std::size_t kWidth = Bytes / sizeof(float);

  RATION_INLINE static const Vector& at(const float* values) {
    return *reinterpret_cast<const Vector*>(values);
  }
  RATION_INLINE static Vector& at(float* values) { return *reinterpret_cast<Vector*>(values); }
};

// A line of points of a plane, `step` floats from one to the next.
struct Line {
  std::size_t offset;
  std::size_t step;
};

// `Count` points of the result, so that each point read serves all of them.
template <class S, std::size_t Count>
RATION_INLINE void multiply_some(const ComplexMatrix& matrix, std::size_t row, const ComplexPlane& in,
                                 Line from, ComplexPlane& out, Line to) {
  typename S::Vector real[Count] = {};
  typename S::Vector imaginary[Count] = {};
  const float* const matrix_real = matrix.real.data() + row * matrix.columns;
  const float* const matrix_imaginary = matrix.imaginary.data() + row * matrix.columns;
  for (std::size_t k = 0; k < matrix.columns; ++k) {
    const typename S::Vector& x = S::at(in.real.values.data() + from.offset + k * from.step);
    const typename S::Vector& y = S::at(in.imaginary.values.data() + from.offset + k * from.step);
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
    S::at(out.real.values.data() + to.offset + (row + r) * to.step) = real[r];
    S::at(out.imaginary.values.data() + to.offset + (row + r) * to.step) = imaginary[r];
  }
}

template <class S, std::size_t Count>
RATION_INLINE void multiply_some(const RealMatrix& matrix, std::size_t row, const RealPlane& in, Line from,
                                 RealPlane& out, Line to) {
  typename S::Vector sum[Count] = {};
  const float* const factors = matrix.values.data() + row * matrix.columns;
  for (std::size_t k = 0; k < matrix.columns; ++k) {
    const typename S::Vector& x = S::at(in.values.data() + from.offset + k * from.step);
    for (std::size_t r = 0; r < Count; ++r) sum[r] += factors[r * matrix.columns + k] * x;
  }
  for (std::size_t r = 0; r < Count; ++r) S::at(out.values.data() + to.offset + (row + r) * to.step) = sum[r];
}

template <class S, class Matrix, class Plane>
RATION_INLINE void multiply_line(const Matrix& matrix, const Plane& in, Line from, Plane& out, Line to) {
  constexpr std::size_t kTogether = 4;
  for (std::size_t lane = 0; lane < kLanes; lane += S::kWidth) {
    const Line part_from{from.offset + lane, from.step}, part_to{to.offset + lane, to.step};
    std::size_t row = 0;
    for (; row + kTogether <= matrix.rows; row += kTogether)
      multiply_some<S, kTogether>(matrix, row, in, part_from, out, part_to);
    for (; row < matrix.rows; ++row) multiply_some<S, 1>(matrix, row, in, part_from, out, part_to);
  }
}

// Columns first, then rows.
template <class S, class Matrix, class Plane>
RATION_INLINE void multiply_plane(const Matrix& down, const Matrix& across, const Plane& plane, Plane& half,
                                  Plane& out) {
  const std::size_t row = across.columns * kLanes;
  for (std::size_t x = 0; x < across.columns; ++x) {
    const Line column{x * kLanes, row};
    multiply_line<S>(down, plane, column, half, column);
  }
  for (std::size_t y = 0; y < down.rows; ++y) {
    multiply_line<S>(across, half, {y * row, kLanes}, out, {y * across.rows * kLanes, kLanes});
  }
}

template <class S>
RATION_INLINE void filter_part(const RealPlane& plane, const float* spectrum, std::size_t fold,
                               RealPlane& out) {
  for (std::size_t y = 0; y < out.height; ++y) {
    for (std::size_t x = 0; x < out.width; ++x) {
      for (std::size_t lane = 0; lane < kLanes; lane += S::kWidth) {
        typename S::Vector sum{};
        for (std::size_t down = 0; down < fold; ++down) {
          for (std::size_t right = 0; right < fold; ++right) {
            const std::size_t point = (y + down * out.height) * plane.width + x + right * out.width;
            sum += spectrum[point] * S::at(plane.values.data() + point * kLanes + lane);
          }
        }
        S::at(out.values.data() + (y * out.width + x) * kLanes + lane) = sum;
      }
    }
  }
}

template <class S>
RATION_INLINE void filter_plane(const ComplexPlane& plane, const float* spectrum, std::size_t fold,
                                ComplexPlane& out) {
  filter_part<S>(plane.real, spectrum, fold, out.real);
  filter_part<S>(plane.imaginary, spectrum, fold, out.imaginary);
}

RATION_INLINE void modulus_of(const float* __restrict real, const float* __restrict imaginary,
                              std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = std::sqrt(real[i] * real[i] + imaginary[i] * imaginary[i]);
}

template <class Matrix, class Plane>
using MultiplyPlane =
    PerProcessor<multiply_plane<Simd<16>, Matrix, Plane>, multiply_plane<Simd<32>, Matrix, Plane>,
                 multiply_plane<Simd<64>, Matrix, Plane>>;
using FilterPlane = PerProcessor<filter_plane<Simd<16>>, filter_plane<Simd<32>>, filter_plane<Simd<64>>>;

}  // namespace

void multiply(const ComplexMatrix& down, const ComplexMatrix& across, const ComplexPlane& plane,
              ComplexPlane& half, ComplexPlane& out) {
  MultiplyPlane<ComplexMatrix, ComplexPlane>::call(down, across, plane, half, out);
}

void multiply(const RealMatrix& down, const RealMatrix& across, const RealPlane& plane, RealPlane& half,
              RealPlane& out) {
  MultiplyPlane<RealMatrix, RealPlane>::call(down, across, plane, half, out);
}

void filter(const ComplexPlane& plane, const std::vector<float>& spectrum, std::size_t fold,
            ComplexPlane& out) {
  FilterPlane::call(plane, spectrum.data(), fold, out);
}

void modulus(const ComplexPlane& plane, RealPlane& out) {
  PerProcessor<modulus_of>::call(plane.real.values.data(), plane.imaginary.values.data(), out.values.size(),
                                 out.values.data());
}

}  // namespace ration::data
