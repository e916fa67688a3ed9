#include "methods/descent_noise.h"

#include <algorithm>
#include <cmath>

#include "ration/objectives/row_view.h"

namespace ration {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Eigen::Index index(std::size_t size) {
  return static_cast<Eigen::Index>(size);
}

constexpr std::size_t kApart = 3;  // steps between what is compared

std::size_t first_probe(const NoisyDescent& descent) {
  return descent.steps.size() / 2;
}

// Products of what gradients and weights are off their means over the later steps, and squares of the latter.
struct Slope {
  double product = 0;
  double square = 0;

  double value() const { return square > 0 ? product / square : 0; }
};

Slope slope_of(const std::vector<Matrix>& gradients, const std::vector<Matrix>& weights) {
  const std::size_t apart = std::min(kApart, weights.size() - 1);
  Slope slope;
  for (std::size_t t = apart; t < weights.size(); ++t) {
    const Matrix moved = weights[t] - weights[t - apart];
    slope.product += (gradients[t] - gradients[t - apart]).cwiseProduct(moved).sum();
    slope.square += moved.squaredNorm();
  }
  return slope;
}

double observed_slope(const NoisyDescent& descent) {
  std::vector<Matrix> gradients, weights;
  for (std::size_t t = first_probe(descent); t < descent.steps.size(); ++t) {
    const NoisyStep& step = descent.steps[t];
    gradients.push_back(Eigen::Map<const Vector>(step.gradient.data(), index(step.gradient.size())));
    weights.push_back(Eigen::Map<const Vector>(step.from.data(), index(step.from.size())));
  }
  return slope_of(gradients, weights).value();
}

// What noise does along one direction.
struct AlongDirection {
  Slope slope;
  Matrix covariance;  // of the average: outputs x outputs
};

// Weights as sums of the steps' noises: outputs x (steps * outputs).
AlongDirection along_direction(const NoisyDescent& descent, double curvature) {
  const Eigen::Index outputs = index(descent.outputs);
  const Matrix nothing = Matrix::Zero(outputs, outputs * index(descent.steps.size()));
  Matrix weight = nothing;
  Matrix average = nothing;
  std::vector<Matrix> gradients, weights;
  for (std::size_t t = 0; t < descent.steps.size(); ++t) {
    const NoisyStep& step = descent.steps[t];
    Matrix gradient = curvature * Eigen::Map<const Matrix>(step.curvature.data(), outputs, outputs) * weight;
    gradient.middleCols(index(t) * outputs, outputs).diagonal().array() += step.noise;
    if (t >= first_probe(descent)) {
      gradients.push_back(gradient);
      weights.push_back(weight);
    }
    weight -= Eigen::Map<const Vector>(step.lengths.data(), outputs).asDiagonal() * gradient;
    average += descent.shares[t] * weight;
  }
  return {slope_of(gradients, weights), average * average.transpose()};
}

// The same for every curvature, by interpolation.
class AlongDirections {
 public:
  explicit AlongDirections(const NoisyDescent& descent) {
    table_.push_back(along_direction(descent, 0));
    for (int i = 0; i <= kPlaces; ++i)
      table_.push_back(along_direction(descent, kLeast * std::exp(i * kStep)));
  }

  AlongDirection at(double curvature) const {
    const double place = std::log(std::max(curvature, 1e-12) / kLeast) / kStep;
    if (place < 0) return between(0, curvature / kLeast);
    const double last = std::min(place, kPlaces - 1e-9);
    return between(1 + static_cast<std::size_t>(last), last - std::floor(last));
  }

 private:
  static constexpr double kLeast = 0.002;
  static constexpr double kStep = 0.12;
  static constexpr int kPlaces = 64;  // up to 4.3

  AlongDirection between(std::size_t before, double part) const {
    const AlongDirection& a = table_[before];
    const AlongDirection& b = table_[before + 1];
    return {{(1 - part) * a.slope.product + part * b.slope.product,
             (1 - part) * a.slope.square + part * b.slope.square},
            (1 - part) * a.covariance + part * b.covariance};
  }

  std::vector<AlongDirection> table_;
};

double slope_for(double part, const AlongDirections& along, const std::vector<CurvatureGuess>& guesses) {
  Slope sum;
  for (const CurvatureGuess& guess : guesses) {
    for (const double curvature : guess.curvatures) {
      const Slope one = along.at(part * curvature).slope;
      sum.product += one.product;
      sum.square += one.square;
    }
  }
  return sum.value();
}

double fitted_part(double observed, const AlongDirections& along,
                   const std::vector<CurvatureGuess>& guesses) {
  double low = 0.02;
  double high = 2;
  for (int round = 0; round < 30; ++round) {
    const double middle = std::sqrt(low * high);
    (slope_for(middle, along, guesses) < observed ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace

std::vector<double> covariance_of_average(const NoisyDescent& descent,
                                          const std::vector<CurvatureGuess>& guesses) {
  const AlongDirections along(descent);
  const double part = fitted_part(observed_slope(descent), along, guesses);
  const std::size_t numbers = triangle_size(descent.outputs);
  const auto coordinates = static_cast<std::size_t>(guesses.front().overlaps.rows());
  std::vector<double> out(coordinates * numbers);
  for (const CurvatureGuess& guess : guesses) {
    for (Eigen::Index k = 0; k < guess.curvatures.size(); ++k) {
      const Matrix covariance =
          along.at(part * guess.curvatures[k]).covariance / static_cast<double>(guesses.size());
      for (Eigen::Index i = 0; i < guess.overlaps.rows(); ++i) {
        std::size_t at = static_cast<std::size_t>(i) * numbers;
        for (Eigen::Index a = 0; a < covariance.rows(); ++a) {
          for (Eigen::Index b = a; b < covariance.cols(); ++b)
            out[at++] += guess.overlaps(i, k) * covariance(a, b);
        }
      }
    }
  }
  return out;
}

}  // namespace ration
