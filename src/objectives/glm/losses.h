#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>

namespace ration {

// Losses of a linear model: l(z, y), z = W x the outputs, y the label. The gradient of row i is the outer
// product of slopes(z_i, y_i) = dl/dz and x_i, so that its norm is |slopes| |x_i| and no per-row gradient is
// ever formed.
//
// Labels of classifiers are 0, 1, ...; of the two-class losses with one output, 1 means z > 0 and s = 2y - 1
// is its sign.

// Beside its formula each loss says in public how steep it is (slope_bound: |slopes| never exceeds it) and
// how curved (curvature_bound: the slopes' Lipschitz constant in z), infinity where there is no such bound;
// whether it is one-sided (one output, and for a given label its slope never changes sign); and how many
// classes its labels have, 0 if they are no classes.

// What all losses with one output share; Loss has loss(z, y) and slope(z, y).
template <class Loss>
struct OneOutput {
  static constexpr std::size_t outputs() { return 1; }
  double loss_at(std::span<const double> z, double label) const { return self().loss(z[0], label); }
  // Replaces outputs by slopes, and returns their norm.
  double to_slopes(std::span<double> z, double label) const {
    z[0] = self().slope(z[0], label);
    return std::abs(z[0]);
  }

 private:
  const Loss& self() const { return static_cast<const Loss&>(*this); }
};

template <class Loss>
struct TwoClasses : OneOutput<Loss> {
  static constexpr const char* kLabels = "0 or 1";
  static bool accepts(double label) { return label == 0 || label == 1; }
  static double prediction(std::span<const double> z) { return z[0] > 0 ? 1 : 0; }
  static double sign(double label) { return 2 * label - 1; }
  static constexpr bool kOneSided = true;
  static constexpr std::size_t label_classes() { return 2; }
};

// l = log(1 + e^(-s z)), without overflow and exact to the last digits in both tails.
struct LogisticLoss : TwoClasses<LogisticLoss> {
  static constexpr const char* kName = "logistic";
  static constexpr double slope_bound() { return 1; }
  static constexpr double curvature_bound() { return 0.25; }
  static double loss(double z, double label) {
    const double margin = sign(label) * z;
    return std::max(0.0, -margin) + std::log1p(std::exp(-std::abs(margin)));
  }
  static double slope(double z, double label) { return -sign(label) / (1 + std::exp(sign(label) * z)); }
};

// l = max(0, 1 - s z). Slope 0 at the kink.
struct HingeLoss : TwoClasses<HingeLoss> {
  static constexpr const char* kName = "hinge";
  static constexpr double slope_bound() { return 1; }
  static constexpr double curvature_bound() { return std::numeric_limits<double>::infinity(); }
  static double loss(double z, double label) {
    const double shortfall = 1 - sign(label) * z;
    return shortfall < 0 ? 0 : shortfall;
  }
  static double slope(double z, double label) { return 1 - sign(label) * z > 0 ? -sign(label) : 0; }
};

// The hinge with its kink rounded off within a distance h: with t = 1 - s z, l = 0 if t < -h, (t + h)^2 / 4h
// if |t| <= h, t if t > h. Smooth, as objective perturbation needs it.
// [Chaudhuri11, Sec. 3.4.2]
struct HuberHingeLoss : TwoClasses<HuberHingeLoss> {
  static constexpr const char* kName = "huber";
  double h = 0.5;  // > 0
  static constexpr double slope_bound() { return 1; }
  double curvature_bound() const { return 1 / (2 * h); }

  double loss(double z, double label) const {
    const double shortfall = 1 - sign(label) * z;
    if (shortfall < -h) return 0;
    return shortfall > h ? shortfall : (shortfall + h) * (shortfall + h) / (4 * h);
  }
  double slope(double z, double label) const {
    const double shortfall = 1 - sign(label) * z;
    if (shortfall < -h) return 0;
    return shortfall > h ? -sign(label) : -sign(label) * (shortfall + h) / (2 * h);
  }
};

// l = (z - y)^2 / 2, y a real target.
struct SquaredLoss : OneOutput<SquaredLoss> {
  static constexpr const char* kName = "squared";
  static constexpr double slope_bound() { return std::numeric_limits<double>::infinity(); }
  static constexpr double curvature_bound() { return 1; }
  static constexpr bool kOneSided = false;
  static constexpr std::size_t label_classes() { return 0; }
  static constexpr const char* kLabels = "a finite target";
  static bool accepts(double label) { return std::isfinite(label); }
  static double prediction(std::span<const double> z) { return z[0]; }
  static double loss(double z, double label) { return 0.5 * (z - label) * (z - label); }
  static double slope(double z, double label) { return z - label; }
};

// l = log(sum_k e^z_k) - z_y over K classes, each with its own weights: slopes p - e_y, p = softmax(z), no
// longer than sqrt(2); curvature diag(p) - p p^T, whose largest eigenvalue is at most 1/2.
struct SoftmaxLoss {
  static constexpr const char* kName = "softmax";
  static double slope_bound() { return std::numbers::sqrt2; }
  static constexpr double curvature_bound() { return 0.5; }
  static constexpr bool kOneSided = false;
  std::size_t label_classes() const { return classes; }
  static constexpr const char* kLabels = "a class below the number of classes";
  std::size_t classes = 2;  // >= 2

  std::size_t outputs() const { return classes; }
  bool accepts(double label) const {
    return label >= 0 && label < static_cast<double>(classes) && label == std::floor(label);
  }
  static double prediction(std::span<const double> z) {
    return static_cast<double>(std::max_element(z.begin(), z.end()) - z.begin());
  }
  double loss_at(std::span<const double> z, double label) const;
  // Slopes below 1e-120 all together count as 0, as their squares would have too few digits for a norm.
  double to_slopes(std::span<double> z, double label) const;
};

}  // namespace ration
