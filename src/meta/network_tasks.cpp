#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ration/base/distributions.h"
#include "ration/base/error.h"
#include "ration/clipping/clip_rule.h"
#include "ration/meta/task.h"

namespace ration::meta {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;
using Layer = Eigen::Map<const Matrix>;

struct DenseRows {
  Matrix x;  // a bias is no column of it: every layer has its own
  std::vector<double> labels;
};

std::shared_ptr<const DenseRows> dense(const Rows& rows) {
  auto out = std::make_shared<DenseRows>();
  out->labels.assign(rows.labels().begin(), rows.labels().end());
  out->x = Matrix::Zero(static_cast<Index>(rows.count()), static_cast<Index>(rows.columns()));
  for (std::size_t i = 0; i < rows.count(); ++i) {
    auto row = out->x.row(static_cast<Index>(i));
    if (rows.is_dense()) {
      std::copy(rows.dense_row(i).begin(), rows.dense_row(i).end(), row.data());
      continue;
    }
    const Rows::SparseRow entries = rows.sparse_row(i);
    for (std::size_t k = 0; k < entries.indices.size(); ++k) row[entries.indices[k]] = entries.values[k];
  }
  return out;
}

// log(1 + e^-z), without overflow.
double logistic_loss(double z) {
  return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
}

// Layers of sigmoid units and one output with the logistic loss. Parameters: layer after layer, unit after unit its weights and its bias.
class SmallNetwork final : public Objective {
 public:
  SmallNetwork(std::shared_ptr<const DenseRows> rows, std::vector<std::size_t> sizes)
      : rows_(std::move(rows)),
        sizes_(std::move(sizes)),
        inputs_(sizes_.size() - 1),
        deltas_(sizes_.size() - 1) {
    for (std::size_t l = 0; l + 1 < sizes_.size(); ++l) parameters_ += sizes_[l + 1] * (sizes_[l] + 1);
  }

  std::size_t rows() const override { return rows_->labels.size(); }
  std::size_t parameters() const override { return parameters_; }
  std::uint64_t longest_chain(std::uint64_t rows) const override { return rows + 4 * sizes_.size(); }
  PublicFacts facts() const override { return {.loss = "logistic", .label_classes = 2}; }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    require_size("sums", sum.size(), parameters_);
    const Vector z = forward(w, batch);
    Vector squared = back(w, batch, z);
    for (double& value : squared)
      value = rule.visit([&](const auto& one) { return clip_factor(one, std::sqrt(value)); });
    double* at = sum.data();
    for (std::size_t l = 0; l < inputs_.size(); ++l) {
      deltas_[l].array().colwise() *= squared.array();
      Eigen::Map<Matrix> layer(at, deltas_[l].cols(), inputs_[l].cols() + 1);
      layer.leftCols(inputs_[l].cols()).noalias() = deltas_[l].transpose() * inputs_[l];
      layer.rightCols(1) = deltas_[l].colwise().sum().transpose();
      at += layer.size();
    }
  }

  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    for (std::size_t k = 0; k < candidates.size(); ++k) sums[k] = losses(candidates[k], batch, bound);
  }

  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    std::vector<double> point(parameters_);
    for (std::size_t k = 0; k < line.steps.size(); ++k) {
      for (std::size_t i = 0; i < point.size(); ++i)
        point[i] = line.start[i] - line.steps[k] * line.direction[i];
      sums[k] = losses(point, batch, bound);
    }
  }

  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override {
    const Vector z = forward(w, batch);
    return static_cast<std::uint64_t>((back(w, batch, z).array() <= bound * bound).count());
  }

  double mean_loss(Parameters w) override {
    return losses(w, everything(), INFINITY) / static_cast<double>(std::max<std::size_t>(1, rows()));
  }

  void predict(Parameters w, std::span<double> predictions) override {
    const Vector z = forward(w, everything());
    for (std::size_t i = 0; i < predictions.size(); ++i)
      predictions[i] = z[static_cast<Index>(i)] > 0 ? 1 : 0;
  }

 private:
  static void require_size(const char* what, std::size_t size, std::size_t expected) {
    if (size != expected)
      throw InputError(fmt::format("network: expected {} {}, got {}", expected, what, size));
  }
  Batch everything() const {
    Batch all{.rows = std::vector<std::uint64_t>(rows()), .divisor = 1};
    std::iota(all.rows.begin(), all.rows.end(), std::uint64_t{0});
    return all;
  }
  // As many rows as units, one more column than inputs: the bias.
  Layer layer(const double* at, std::size_t l) const {
    return Layer(at, static_cast<Index>(sizes_[l + 1]), static_cast<Index>(sizes_[l] + 1));
  }

  // What goes into each layer, and what comes out of the last.
  Vector forward(Parameters w, const Batch& batch) {
    require_size("parameters", w.size(), parameters_);
    if (!batch.rows.empty() && batch.rows.back() >= rows())
      throw InputError(fmt::format("network: expected rows below {}, got row {}", rows(), batch.rows.back()));
    inputs_[0].resize(static_cast<Index>(batch.rows.size()), rows_->x.cols());
    for (std::size_t i = 0; i < batch.rows.size(); ++i)
      inputs_[0].row(static_cast<Index>(i)) = rows_->x.row(static_cast<Index>(batch.rows[i]));
    const double* at = w.data();
    Matrix out;
    for (std::size_t l = 0; l < inputs_.size(); ++l) {
      const Layer weights = layer(at, l);
      at += weights.size();
      out.noalias() = inputs_[l] * weights.leftCols(weights.cols() - 1).transpose();
      out.rowwise() += weights.col(weights.cols() - 1).transpose();
      if (l + 1 < inputs_.size()) inputs_[l + 1] = (1 + (-out.array()).exp()).inverse();
    }
    return out.col(0);
  }

  // The derivatives by what goes into each unit, and the squared norms of the rows' gradients. [Goodfellow15]
  Vector back(Parameters w, const Batch& batch, const Vector& z) {
    const std::size_t last = inputs_.size() - 1;
    deltas_[last].resize(z.size(), 1);
    for (Index i = 0; i < z.size(); ++i)
      deltas_[last](i, 0) =
          1 / (1 + std::exp(-z[i])) - rows_->labels[batch.rows[static_cast<std::size_t>(i)]];
    const double* at = w.data() + parameters_;
    Vector squared = Vector::Zero(z.size());
    for (std::size_t l = last + 1; l-- > 0;) {
      squared.array() +=
          deltas_[l].rowwise().squaredNorm().array() * (inputs_[l].rowwise().squaredNorm().array() + 1);
      at -= sizes_[l + 1] * (sizes_[l] + 1);
      if (l == 0) break;
      const Layer weights = layer(at, l);
      deltas_[l - 1].noalias() = deltas_[l] * weights.leftCols(weights.cols() - 1);
      deltas_[l - 1].array() *= inputs_[l].array() * (1 - inputs_[l].array());
    }
    return squared;
  }

  double losses(Parameters w, const Batch& batch, double bound) {
    const Vector z = forward(w, batch);
    double sum = 0;
    for (Index i = 0; i < z.size(); ++i) {
      const double loss =
          logistic_loss(rows_->labels[batch.rows[static_cast<std::size_t>(i)]] > 0.5 ? z[i] : -z[i]);
      if (std::isfinite(loss)) sum += std::min(loss, bound);
    }
    return sum;
  }

  std::shared_ptr<const DenseRows> rows_;
  std::vector<std::size_t> sizes_;
  std::size_t parameters_ = 0;
  std::vector<Matrix> inputs_, deltas_;
};

// Weights of the size that keeps a layer's outputs as wide as its inputs, biases 0.
std::vector<double> random_start(const std::vector<std::size_t>& sizes, RandomSource& random) {
  std::vector<double> start;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    std::vector<double> unit(sizes[l] + 1);
    for (std::size_t u = 0; u < sizes[l + 1]; ++u) {
      fill_gaussian(random, unit, 1 / std::sqrt(static_cast<double>(sizes[l])));
      unit.back() = 0;
      start.insert(start.end(), unit.begin(), unit.end());
    }
  }
  return start;
}

}  // namespace

TaskSource networks_on(const Rows& rows, const std::vector<std::size_t>& hidden, double rate) {
  std::vector<std::size_t> sizes{rows.columns()};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(1);
  return [rows = dense(rows), sizes, rate](RandomSource& random) {
    return std::make_unique<Task>(std::make_unique<SmallNetwork>(rows, sizes), random_start(sizes, random),
                                  rate);
  };
}

}  // namespace ration::meta
