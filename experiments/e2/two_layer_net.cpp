#include "two_layer_net.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/distributions.h"
#include "objectives/glm/losses.h"
#include "ration/base/error.h"
#include "ration/clipping/clip_rule.h"
#include "support/doubles.h"

namespace ration::e2 {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

// The weights of one point, seen in the order in which parameters lie: W, b, v, c.
struct Layers {
  Eigen::Map<const Matrix> w;
  Eigen::Map<const Vector> b;
  Eigen::Map<const Vector> v;
  double c;

  Layers(const double* at, Index hidden, Index columns)
      : w(at, hidden, columns),
        b(at + hidden * columns, hidden),
        v(at + hidden * (columns + 1), hidden),
        c(at[hidden * (columns + 2)]) {}
};

class TwoLayerNet final : public Objective {
 public:
  TwoLayerNet(std::shared_ptr<const Rows> rows, const NetOptions& options)
      : columns_(static_cast<Index>(rows->columns())), hidden_(static_cast<Index>(options.hidden)) {
    if (!rows->is_dense()) throw InputError("net: expected dense rows");
    x_.resize(static_cast<Index>(rows->count()), columns_);
    for (std::size_t i = 0; i < rows->count(); ++i) {
      const auto row = rows->dense_row(i);
      std::copy(row.begin(), row.end(), x_.row(static_cast<Index>(i)).data());
    }
    labels_.assign(rows->labels().begin(), rows->labels().end());
    draw_start(options.start);
  }

  std::size_t rows() const override { return labels_.size(); }
  std::size_t parameters() const override { return start_.size(); }
  std::uint64_t longest_chain(std::uint64_t rows) const override { return rows + 4; }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    require_size(sum.size(), parameters());
    const Layers net = forward(w, batch);
    Vector factors = gradient_norms(net, batch);
    rule.visit([&](const auto& kind) {
      for (double& factor : factors) factor = clip_factor(kind, factor);
    });
    const Vector slopes = slopes_.cwiseProduct(factors);
    deltas_.array().colwise() *= factors.array();
    Eigen::Map<Matrix>(sum.data(), hidden_, columns_).noalias() = deltas_.transpose() * batch_x_;
    double* const after = sum.data() + hidden_ * columns_;
    Eigen::Map<Vector>(after, hidden_) = deltas_.colwise().sum();
    Eigen::Map<Vector>(after + hidden_, hidden_).noalias() = active_.transpose() * slopes;
    after[2 * hidden_] = slopes.sum();
  }

  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    require_size(sums.size(), candidates.size());
    for (std::size_t k = 0; k < candidates.size(); ++k) sums[k] = loss_sum(candidates[k], batch, bound);
  }

  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    require_size(sums.size(), line.steps.size());
    std::vector<double> point(parameters());
    for (std::size_t k = 0; k < line.steps.size(); ++k) {
      for (std::size_t i = 0; i < point.size(); ++i) {
        point[i] = line.start[i] - line.steps[k] * line.direction[i];
      }
      sums[k] = loss_sum(point, batch, bound);
    }
  }

  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override {
    const Layers net = forward(w, batch);
    return static_cast<std::uint64_t>((gradient_norms(net, batch).array() <= bound).count());
  }

  double mean_loss(Parameters w) override {
    if (rows() == 0) return 0;
    return loss_sum(w, everything(), INFINITY) / static_cast<double>(rows());
  }

  void predict(Parameters w, std::span<double> predictions) override {
    require_size(predictions.size(), rows());
    forward(w, everything());
    for (std::size_t i = 0; i < rows(); ++i) predictions[i] = outputs_[static_cast<Index>(i)] > 0 ? 1 : 0;
  }

 private:
  static void require_size(std::size_t got, std::size_t expected) {
    if (got != expected) throw InputError("net: a span's size does not fit");
  }

  void draw_start(std::uint64_t seed) {
    start_.assign(static_cast<std::size_t>(hidden_ * (columns_ + 2) + 1), 0.0);
    point_ = start_;
    testing::SeededRandom random(seed);
    const std::span<double> all(start_);
    const auto inner = static_cast<std::size_t>(hidden_ * columns_);
    fill_gaussian(random, all.first(inner), std::sqrt(2.0 / static_cast<double>(columns_)));
    const auto hidden = static_cast<std::size_t>(hidden_);
    fill_gaussian(random, all.subspan(inner + hidden, hidden), std::sqrt(2.0 / static_cast<double>(hidden_)));
  }

  Batch everything() const {
    Batch batch{.rows = std::vector<std::uint64_t>(rows()), .divisor = static_cast<double>(rows())};
    std::iota(batch.rows.begin(), batch.rows.end(), std::uint64_t{0});
    return batch;
  }

  // Sets batch_x_, active_ and outputs_.
  Layers forward(Parameters w, const Batch& batch) {
    require_size(w.size(), parameters());
    for (std::size_t i = 0; i < point_.size(); ++i) point_[i] = start_[i] + w[i];
    const Layers net(point_.data(), hidden_, columns_);
    batch_x_.resize(static_cast<Index>(batch.rows.size()), columns_);
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      if (batch.rows[i] >= rows()) throw InputError("net: a row that does not exist");
      batch_x_.row(static_cast<Index>(i)) = x_.row(static_cast<Index>(batch.rows[i]));
    }
    active_.noalias() = batch_x_ * net.w.transpose();
    active_.rowwise() += net.b.transpose();
    active_ = active_.cwiseMax(0.0);
    outputs_.noalias() = active_ * net.v;
    outputs_.array() += net.c;
    return net;
  }

  // Sets slopes_ and deltas_.
  Vector gradient_norms(const Layers& net, const Batch& batch) {
    slopes_.resize(outputs_.size());
    for (Index i = 0; i < outputs_.size(); ++i) {
      slopes_[i] = LogisticLoss::slope(outputs_[i], labels_[batch.rows[static_cast<std::size_t>(i)]]);
    }
    deltas_ = (active_.array() > 0).cast<double>().matrix() * net.v.asDiagonal();
    deltas_.array().colwise() *= slopes_.array();
    return ((batch_x_.rowwise().squaredNorm().array() + 1) * deltas_.rowwise().squaredNorm().array() +
            (active_.rowwise().squaredNorm().array() + 1) * slopes_.array().square())
        .sqrt();
  }

  double loss_sum(Parameters w, const Batch& batch, double bound) {
    forward(w, batch);
    double sum = 0;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const double loss = LogisticLoss::loss(outputs_[static_cast<Index>(i)], labels_[batch.rows[i]]);
      if (std::isfinite(loss)) sum += std::min(loss, bound);
    }
    return sum;
  }

  Index columns_;
  Index hidden_;
  Matrix x_;
  std::vector<double> labels_;
  std::vector<double> start_, point_;
  Matrix batch_x_, active_, deltas_;
  Vector outputs_, slopes_;
};

}  // namespace

std::unique_ptr<Objective> make_two_layer_net(std::shared_ptr<const Rows> rows, const NetOptions& options) {
  return std::make_unique<TwoLayerNet>(std::move(rows), options);
}

}  // namespace ration::e2
