#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/distributions.h"
#include "meta/task.h"
#include "ration/base/error.h"
#include "ration/clipping/clip_rule.h"

namespace ration::meta {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;
using Layer = Eigen::Map<const Matrix>;

// Images are mostly dark: only what is not 0 is stored and worked on. A bias is no column: every layer has
// its own.
struct SparseRows {
  SparseMatrix x;
  std::vector<double> squared_norms;
  std::vector<double> labels;
};

void append_row(const Rows& rows, std::size_t i, SparseMatrix& x) {
  rows.for_each_entry(i, [&](std::size_t column, double value) {
    if (value != 0) x.add(column, value);
  });
  x.end_row();
}

std::shared_ptr<const SparseRows> sparse(const Rows& rows) {
  auto out = std::make_shared<SparseRows>();
  out->labels.assign(rows.labels().begin(), rows.labels().end());
  out->x.columns = rows.columns();
  for (std::size_t i = 0; i < rows.count(); ++i) {
    append_row(rows, i, out->x);
    out->squared_norms.push_back(rows.norms()[i] * rows.norms()[i]);
  }
  return out;
}

// log(1 + e^-z), without overflow.
double logistic_loss(double z) {
  return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
}

// Layers of sigmoid units and one output with the logistic loss. Parameters: layer after layer, unit after
// unit its weights and its bias.
class SmallNetwork final : public Objective {
 public:
  SmallNetwork(std::shared_ptr<const SparseRows> rows, std::vector<std::size_t> sizes)
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
    for (std::size_t l = 0; l < deltas_.size(); ++l) {
      deltas_[l].array().colwise() *= squared.array();
      Eigen::Map<Matrix> layer(at, static_cast<Index>(sizes_[l + 1]), static_cast<Index>(sizes_[l] + 1));
      if (l == 0)
        layer.leftCols(layer.cols() - 1) = by_first_weights(batch).transpose();
      else
        layer.leftCols(layer.cols() - 1).noalias() = deltas_[l].transpose() * inputs_[l];
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

  // What goes into each layer but the first, and what comes out of the last.
  Vector forward(Parameters w, const Batch& batch) {
    require_size("parameters", w.size(), parameters_);
    if (!batch.rows.empty() && batch.rows.back() >= rows())
      throw InputError(fmt::format("network: expected rows below {}, got row {}", rows(), batch.rows.back()));
    const double* at = w.data();
    Matrix out;
    for (std::size_t l = 0; l < deltas_.size(); ++l) {
      const Layer weights = layer(at, l);
      at += weights.size();
      const Matrix by_column = weights.leftCols(weights.cols() - 1).transpose();
      out = l == 0 ? first_products(by_column, batch) : Matrix(inputs_[l] * by_column);
      out.rowwise() += weights.col(weights.cols() - 1).transpose();
      if (l + 1 < deltas_.size()) inputs_[l + 1] = (1 + (-out.array()).exp()).inverse();
    }
    return out.col(0);
  }

  // work(place in the batch, column, value) for every entry that is not 0.
  template <class Work>
  void for_each_entry(const Batch& batch, const Work& work) const {
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const std::uint64_t row = batch.rows[i];
      for (std::size_t k = rows_->x.starts[row]; k < rows_->x.starts[row + 1]; ++k)
        work(static_cast<Index>(i), static_cast<Index>(rows_->x.indices[k]), rows_->x.values[k]);
    }
  }
  // to += factor * from, without what an expression of unknown size costs.
  static void add_times(double factor, const double* from, std::size_t size, double* to) {
    for (std::size_t u = 0; u < size; ++u) to[u] += factor * from[u];
  }
  // `weights`: a row for each column of the table.
  Matrix first_products(const Matrix& weights, const Batch& batch) const {
    Matrix out = Matrix::Zero(static_cast<Index>(batch.rows.size()), weights.cols());
    for_each_entry(batch, [&](Index i, Index j, double value) {
      add_times(value, weights.row(j).data(), sizes_[1], out.row(i).data());
    });
    return out;
  }
  Matrix by_first_weights(const Batch& batch) const {
    Matrix out = Matrix::Zero(static_cast<Index>(sizes_[0]), static_cast<Index>(sizes_[1]));
    for_each_entry(batch, [&](Index i, Index j, double value) {
      add_times(value, deltas_[0].row(i).data(), sizes_[1], out.row(j).data());
    });
    return out;
  }

  // The derivatives by what goes into each unit, and the squared norms of the rows' gradients. [Goodfellow15]
  Vector back(Parameters w, const Batch& batch, const Vector& z) {
    const std::size_t last = deltas_.size() - 1;
    deltas_[last].resize(z.size(), 1);
    for (Index i = 0; i < z.size(); ++i)
      deltas_[last](i, 0) =
          1 / (1 + std::exp(-z[i])) - rows_->labels[batch.rows[static_cast<std::size_t>(i)]];
    const double* at = w.data() + parameters_;
    Vector squared = Vector::Zero(z.size());
    for (std::size_t l = last + 1; l-- > 0;) {
      squared.array() += deltas_[l].rowwise().squaredNorm().array() * (input_norms(l, batch).array() + 1);
      at -= sizes_[l + 1] * (sizes_[l] + 1);
      if (l == 0) break;
      const Layer weights = layer(at, l);
      deltas_[l - 1].noalias() = deltas_[l] * weights.leftCols(weights.cols() - 1);
      deltas_[l - 1].array() *= inputs_[l].array() * (1 - inputs_[l].array());
    }
    return squared;
  }

  Vector input_norms(std::size_t l, const Batch& batch) const {
    if (l > 0) return inputs_[l].rowwise().squaredNorm();
    Vector out(static_cast<Index>(batch.rows.size()));
    for (std::size_t i = 0; i < batch.rows.size(); ++i)
      out[static_cast<Index>(i)] = rows_->squared_norms[batch.rows[i]];
    return out;
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

  std::shared_ptr<const SparseRows> rows_;
  std::vector<std::size_t> sizes_;
  std::size_t parameters_ = 0;
  std::vector<Matrix> inputs_;  // of each layer but the first, whose are the rows
  std::vector<Matrix> deltas_;
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
  return [rows = sparse(rows), sizes, rate](RandomSource& random) {
    return std::make_unique<Task>(std::make_unique<SmallNetwork>(rows, sizes), random_start(sizes, random),
                                  rate);
  };
}

}  // namespace ration::meta
