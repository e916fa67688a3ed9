#include "objectives/quadratic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ration/base/error.h"

namespace ration {
namespace {

using Point = std::array<double, 2>;

Point residual(const QuadraticTerm& term, const Point& w) {
  return {term.matrix[0] * w[0] + term.matrix[1] * w[1] - term.target[0],
          term.matrix[2] * w[0] + term.matrix[3] * w[1] - term.target[1]};
}

double loss_at(const QuadraticTerm& term, const Point& w) {
  const Point r = residual(term, w);
  return r[0] * r[0] + r[1] * r[1];
}

Point gradient_at(const QuadraticTerm& term, const Point& w) {
  const Point r = residual(term, w);
  return {2 * (term.matrix[0] * r[0] + term.matrix[2] * r[1]),
          2 * (term.matrix[1] * r[0] + term.matrix[3] * r[1])};
}

double length(const Point& point) {
  return std::hypot(point[0], point[1]);
}

class Quadratics final : public Objective {
 public:
  explicit Quadratics(std::vector<QuadraticTerm> terms) : terms_(std::move(terms)) {}

  std::size_t rows() const override { return terms_.size(); }
  std::size_t parameters() const override { return 2; }
  // Scaled, then added one after the other.
  std::uint64_t longest_chain(std::uint64_t rows) const override { return rows + 2; }
  PublicFacts facts() const override { return {.loss = "quadratic"}; }

  void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                            std::span<double> sum) override {
    require_size("sums", sum.size());
    const Point at = point(w);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const std::uint64_t row : checked(batch)) {
      const Point g = gradient_at(terms_[row], at);
      const double factor = rule.visit([&](const auto& one) { return clip_factor(one, length(g)); });
      if (factor == 0) continue;
      for (std::size_t i = 0; i < 2; ++i) sum[i] += factor * g[i];
    }
  }

  void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                         std::span<double> sums) override {
    require_size("sums", sums.size(), candidates.size());
    for (std::size_t k = 0; k < candidates.size(); ++k)
      sums[k] = clipped_losses(point(candidates[k]), batch, bound);
  }

  void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                               std::span<double> sums) override {
    require_size("sums", sums.size(), line.steps.size());
    const Point start = point(line.start);
    const Point direction = point(line.direction);
    for (std::size_t k = 0; k < line.steps.size(); ++k) {
      const double step = line.steps[k];
      sums[k] =
          clipped_losses({start[0] - step * direction[0], start[1] - step * direction[1]}, batch, bound);
    }
  }

  std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) override {
    const Point at = point(w);
    const auto is_short = [&](std::uint64_t row) { return length(gradient_at(terms_[row], at)) <= bound; };
    const auto& drawn = checked(batch);
    return static_cast<std::uint64_t>(std::count_if(drawn.begin(), drawn.end(), is_short));
  }

  double mean_loss(Parameters w) override {
    const Point at = point(w);
    double sum = 0;
    for (const QuadraticTerm& term : terms_) sum += loss_at(term, at);
    return terms_.empty() ? 0 : sum / static_cast<double>(terms_.size());
  }

  // There is nothing to predict: the loss of each row.
  void predict(Parameters w, std::span<double> predictions) override {
    require_size("predictions", predictions.size(), terms_.size());
    const Point at = point(w);
    for (std::size_t i = 0; i < terms_.size(); ++i) predictions[i] = loss_at(terms_[i], at);
  }

 private:
  static void require_size(const char* what, std::size_t size, std::size_t expected = 2) {
    if (size != expected)
      throw InputError(fmt::format("quadratic: expected {} {}, got {}", expected, what, size));
  }
  static Point point(Parameters w) {
    require_size("parameters", w.size());
    return {w[0], w[1]};
  }
  const std::vector<std::uint64_t>& checked(const Batch& batch) const {
    if (!batch.rows.empty() && batch.rows.back() >= rows())
      throw InputError(
          fmt::format("quadratic: expected rows below {}, got row {}", rows(), batch.rows.back()));
    return batch.rows;
  }
  double clipped_losses(const Point& at, const Batch& batch, double bound) const {
    double sum = 0;
    for (const std::uint64_t row : checked(batch)) {
      const double loss = loss_at(terms_[row], at);
      if (std::isfinite(loss)) sum += std::min(loss, bound);
    }
    return sum;
  }

  std::vector<QuadraticTerm> terms_;
};

}  // namespace

std::unique_ptr<Objective> make_quadratics(std::vector<QuadraticTerm> terms) {
  return std::make_unique<Quadratics>(std::move(terms));
}

}  // namespace ration
