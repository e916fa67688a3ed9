#include "objectives/neural/small_products.h"

#include <libxsmm.h>

#include <Eigen/Core>
#include <algorithm>

namespace ration::nn {
namespace {

using Map = Eigen::Map<const Eigen::VectorXf>;
constexpr std::int64_t kBlock = 4096;  // floats that are added up before they are added in double

}  // namespace

SmallProduct::SmallProduct(std::int64_t m, std::int64_t n, std::int64_t k, bool add)
    : m_(m), n_(n), k_(k), add_(add) {
  const float one = 1;
  const float beta = add ? 1 : 0;
  kernel_ = libxsmm_smmdispatch(static_cast<libxsmm_blasint>(m), static_cast<libxsmm_blasint>(n),
                                static_cast<libxsmm_blasint>(k), nullptr, nullptr, nullptr, &one, &beta,
                                nullptr, nullptr);
}

void SmallProduct::operator()(const float* a, const float* b, float* c) const {
  if (kernel_ != nullptr) return kernel_(a, b, c);
  Eigen::Map<Eigen::MatrixXf> out(c, m_, n_);
  if (!add_) out.setZero();
  out.noalias() +=
      Eigen::Map<const Eigen::MatrixXf>(a, m_, k_) * Eigen::Map<const Eigen::MatrixXf>(b, k_, n_);
}

void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix>(to, columns, rows) = Eigen::Map<const Matrix>(from, rows, columns).transpose();
}

double squared_length(const float* values, std::int64_t count) {
  return dot(values, values, count);
}

double dot(const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t size = std::min(kBlock, count - first);
    sum += static_cast<double>(Map(a + first, size).dot(Map(b + first, size)));
  }
  return sum;
}

}  // namespace ration::nn
