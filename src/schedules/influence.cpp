#include "schedules/influence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr const char* kWhere = "influence";
constexpr double kSmallestShare = 1e-6;

// The slope of the line through points (x, y) that is best in the sense of weighted least squares, and its
// height at 0.
struct FittedLine {
  double slope = 0;
  double height = 0;
};

class LineFit {
 public:
  void add(double x, double y, double weight = 1) {
    weight_ += weight;
    x_ += weight * x;
    y_ += weight * y;
    xx_ += weight * x * x;
    xy_ += weight * x * y;
  }
  FittedLine result() const {
    const double spread = xx_ - x_ * x_ / weight_;
    const double slope = spread > 0 ? (xy_ - x_ * y_ / weight_) / spread : 0;
    return {slope, (y_ - slope * x_) / weight_};
  }

 private:
  double weight_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;
};

void require_sound(const RetrainingOptions& options, std::span<const double> noise) {
  require(kWhere, "steps", static_cast<double>(noise.size()), at_least(1));
  for (const double s : noise) require(kWhere, "noise", s, greater_than(0));
  for (const double factor : options.factors) require(kWhere, "factor", factor, greater_than(0));
  require(kWhere, "most_steps", static_cast<double>(options.most_steps), at_least(2));
  const auto [least, most] = std::minmax_element(options.factors.begin(), options.factors.end());
  if (least == most || *least == *most) throw InputError("influence: expected two factors that differ");
}

void raise_the_smallest(std::vector<double>& influence) {
  const double largest = *std::max_element(influence.begin(), influence.end());
  if (!(largest > 0) || !std::isfinite(largest)) {
    throw InputError(
        fmt::format("influence: expected one > 0, but the largest estimate is {}: the noise does not reach "
                    "the final loss, or "
                    "the runs are too few to see it",
                    show(largest)));
  }
  for (double& q : influence) q = std::max(q, kSmallestShare * largest);
}

// Every step if there are few, otherwise some, evenly spread, the first and the last among them.
std::vector<std::size_t> steps_to_try(std::size_t steps, std::size_t most) {
  const std::size_t count = std::min(steps, most);
  std::vector<std::size_t> tried;
  for (std::size_t i = 0; i < count; ++i) tried.push_back(count == 1 ? 0 : i * (steps - 1) / (count - 1));
  return tried;
}

double checked_loss(const FinalLoss& final_loss, std::span<const double> noise) {
  const double loss = final_loss(noise);
  if (!std::isfinite(loss)) throw InputError(fmt::format("influence: the final loss is {}", show(loss)));
  return loss;
}

double influence_of_step(const FinalLoss& final_loss, std::vector<double>& noise, std::size_t step,
                         std::span<const double> factors) {
  const double usual = noise[step];
  LineFit fit;
  for (const double factor : factors) {
    const double s = factor * usual;
    noise[step] = s;
    const double one_way = checked_loss(final_loss, noise);
    noise[step] = -s;
    fit.add(s * s, (one_way + checked_loss(final_loss, noise)) / 2);
  }
  noise[step] = usual;
  return fit.result().slope;
}

// Geometric between two steps that were tried.
std::vector<double> interpolated(std::span<const std::size_t> tried, std::span<const double> found) {
  std::vector<double> all(tried.back() + 1, found.back());
  for (std::size_t i = 0; i + 1 < tried.size(); ++i) {
    const auto length = static_cast<double>(tried[i + 1] - tried[i]);
    for (std::size_t t = tried[i]; t < tried[i + 1]; ++t) {
      const double part = static_cast<double>(t - tried[i]) / length;
      all[t] = found[i] * std::pow(found[i + 1] / found[i], part);
    }
  }
  return all;
}

// Adds what each step's noise does along one eigenvector: backwards, c = d e_(T+1) / d m_t, e the distance to
// the minimum and m the mean of gradients, m_t = b m_(t-1) + (1 - b) (h e_t + noise_t), e_(t+1) = e_t - l m_t
// / (1 - b^t).
void add_direction(double h, const QuadraticRun& run, std::span<double> influence) {
  const double beta = run.momentum;
  double of_distance = 1;
  double of_mean = 0;
  for (std::size_t t = influence.size(); t >= 1; --t) {
    const double c = of_mean - of_distance * run.learning_rate / (1 - std::pow(beta, static_cast<double>(t)));
    const double response = (1 - beta) * c * run.noise_unit;
    influence[t - 1] += h * response * response / 2;
    of_distance += (1 - beta) * h * c;
    of_mean = beta * c;
  }
}

}  // namespace

std::vector<double> influence_by_retraining(const FinalLoss& final_loss, std::span<const double> noise,
                                            const RetrainingOptions& options) {
  require_sound(options, noise);
  const std::vector<std::size_t> tried =
      steps_to_try(noise.size(), static_cast<std::size_t>(options.most_steps));
  std::vector<double> scratch(noise.begin(), noise.end());
  std::vector<double> found;
  for (const std::size_t step : tried) {
    found.push_back(influence_of_step(final_loss, scratch, step, options.factors));
  }
  raise_the_smallest(found);
  return interpolated(tried, found);
}

std::vector<double> influence_on_quadratic(std::span<const double> eigenvalues, std::int64_t steps,
                                           const QuadraticRun& run) {
  require(kWhere, "steps", static_cast<double>(steps), at_least(1).at_most(1e8));
  require(kWhere, "learning_rate", run.learning_rate, greater_than(0));
  require(kWhere, "momentum", run.momentum, at_least(0).less_than(1));
  require(kWhere, "noise_unit", run.noise_unit, greater_than(0));
  std::vector<double> influence(static_cast<std::size_t>(steps), 0.0);
  for (const double h : eigenvalues) {
    add_direction(require(kWhere, "eigenvalue", h, at_least(0)), run, influence);
  }
  raise_the_smallest(influence);
  return influence;
}

ExponentialInfluence fit_exponential(std::span<const double> influence) {
  require(kWhere, "steps", static_cast<double>(influence.size()), at_least(1));
  const double largest = *std::max_element(influence.begin(), influence.end());
  LineFit fit;
  for (std::size_t i = 0; i < influence.size(); ++i) {
    const double q = require(kWhere, "influence", influence[i], greater_than(0));
    fit.add(static_cast<double>(influence.size() - 1 - i), std::log(q), std::sqrt(q / largest));
  }
  const FittedLine line = fit.result();
  return {std::exp(line.height), std::exp(line.slope)};
}

}  // namespace ration
