#include "privacy/lattice_composition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <ranges>
#include <utility>

#include "ration/base/error.h"

namespace ration {
namespace {

using Spectrum = std::vector<std::complex<double>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
// Every output of a fast transform is a sum over the inputs, each multiplied by one root of unity per stage,
// so its error is at most (units per stage) * u * stages * sum |input|. A stage has one complex addition (1
// unit) and one complex multiplication (2 sqrt 2) [Higham02, Lemma 3.5] by a root whose phase is rounded (up
// to 2 pi): 11 units; more in the larger radices, which replace several stages, and twice as many for the
// packing of real data into complex.
constexpr double kTransformUnits = 32;
// Tilted mass outside the window that nobody will miss.
constexpr double kLogNegligible = -33;
// Frequencies at which the product is smaller than e^{-kDeadFrequency} cannot be seen.
constexpr double kDeadFrequency = 100;
constexpr double kDead = 4e-44;  // above e^{-kDeadFrequency}

double transform_error(std::size_t points) {
  return kTransformUnits * kUnit * std::log2(static_cast<double>(points));
}

// One step's law after tilting, moved so that its mean is close to lattice point 0.
struct TiltedStep {
  std::vector<double> mass;
  std::int64_t first;  // lattice index of mass[0] after the move
  std::int64_t moved;  // by how many points it was moved down
  double count;
  double log_moment;
  double log_moment_error;
  double relative_error;  // of each mass, from the exponential
};

double largest_exponent(const LossLattice& lattice, double tilt) {
  double largest = -kInfinity;
  for (std::size_t i = 0; i < lattice.mass.size(); ++i) {
    if (lattice.mass[i] > 0) largest = std::max(largest, tilt * lattice.loss(i) + std::log(lattice.mass[i]));
  }
  return largest;
}

TiltedStep tilt_step(const CountedLattice& step, double tilt) {
  const LossLattice& lattice = step.lattice;
  const std::size_t n = lattice.mass.size();
  TiltedStep out{std::vector<double>(n), lattice.first, 0, static_cast<double>(step.count), 0, 0, 0};
  const double shift = largest_exponent(lattice, tilt);
  if (shift == -kInfinity) return out;
  double total = 0;
  double index_sum = 0;
  double exponent_sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (lattice.mass[i] <= 0) continue;
    // Split so that neither factor overflows where the product does not.
    const double exponent = tilt * lattice.loss(i);
    const double half = std::exp(0.5 * (exponent - shift));
    out.mass[i] = half * lattice.mass[i] * half;
    total += out.mass[i];
    index_sum += out.mass[i] * static_cast<double>(i);
    exponent_sum += out.mass[i] * (2 * std::abs(exponent) + std::abs(exponent - shift));
  }
  for (double& mass : out.mass) mass /= total;
  out.log_moment = shift + std::log(total);
  // The sum's own rounding does not count: the masses are divided by the same figure.
  out.log_moment_error = 4 * kUnit * (1 + std::abs(shift) + std::abs(std::log(total)));
  out.relative_error = kUnit * (10 + exponent_sum / total);
  out.moved = lattice.first + static_cast<std::int64_t>(std::llround(index_sum / total));
  out.first -= out.moved;
  return out;
}

// sum of mass_i ratio^i; an infinite power of a point without mass does not count.
template <class Masses>
double power_sum(const Masses& masses, double ratio) {
  double sum = 0;
  double power = 1;
  for (const double mass : masses) {
    if (mass > 0) sum += mass * power;
    power *= ratio;
  }
  return sum;
}

// log E[e^{slope * index}] of the total under the tilted law; +infinity where it overflows.
double index_cumulant(std::span<const TiltedStep> steps, double slope) {
  double cumulant = 0;
  for (const TiltedStep& step : steps) {
    // Outwards from lattice point 0, the mean: a power that underflows then belongs to a term that does not
    // matter.
    const std::size_t middle = static_cast<std::size_t>(-step.first);
    const double sum = power_sum(std::span(step.mass).subspan(middle), std::exp(slope)) +
                       std::exp(-slope) * power_sum(std::span(step.mass).first(middle) | std::views::reverse,
                                                    std::exp(-slope));
    if (!std::isfinite(sum) || !(sum > 0)) return kInfinity;
    cumulant += step.count * std::log(sum);
  }
  return cumulant;
}

double index_variance(std::span<const TiltedStep> steps) {
  double total = 0;
  for (const TiltedStep& step : steps) {
    double mean = 0;
    double square = 0;
    for (std::size_t i = 0; i < step.mass.size(); ++i) {
      const double index = static_cast<double>(step.first + static_cast<std::int64_t>(i));
      mean += step.mass[i] * index;
      square += step.mass[i] * index * index;
    }
    total += step.count * std::max(0.0, square - mean * mean);
  }
  return total;
}

// Chernoff bounds on the total's index, for a ladder of slopes around the one that suits a normal law.
class IndexTails {
 public:
  explicit IndexTails(std::span<const TiltedStep> steps) {
    const double deviation = std::sqrt(index_variance(steps)) + 0.5;
    for (double slope = 12 / deviation; slope > 0.05 / deviation; slope /= 1.6) {
      slopes_.push_back(slope);
      above_.push_back(index_cumulant(steps, slope));
      below_.push_back(index_cumulant(steps, -slope));
    }
  }
  // Beyond these the mass is at most e^{log_mass}.
  double highest(double log_mass) const { return quantile(above_, log_mass); }
  double lowest(double log_mass) const { return -quantile(below_, log_mass); }
  // Bounds on the mass at or beyond an index.
  double mass_above(double index) const { return tail(above_, index); }
  double mass_below(double index) const { return tail(below_, -index); }

 private:
  double quantile(const std::vector<double>& cumulants, double log_mass) const {
    double best = kInfinity;
    for (std::size_t i = 0; i < slopes_.size(); ++i) {
      best = std::min(best, (cumulants[i] - log_mass) / slopes_[i]);
    }
    return best;
  }
  double tail(const std::vector<double>& cumulants, double index) const {
    double best = 0;
    for (std::size_t i = 0; i < slopes_.size(); ++i) best = std::min(best, cumulants[i] - slopes_[i] * index);
    return std::exp(best);
  }
  std::vector<double> slopes_;
  std::vector<double> above_;
  std::vector<double> below_;
};

// The next size that the transform handles with factors 2, 3 and 5 only, and even.
std::size_t transform_size(double points, std::size_t max_points) {
  if (!(points < static_cast<double>(max_points))) return max_points;
  const std::size_t needed = std::max<std::size_t>(64, static_cast<std::size_t>(points));
  const std::size_t power = std::bit_floor(needed);
  for (const std::size_t candidate : {power, power / 4 * 5, power / 2 * 3}) {
    if (candidate >= needed) return candidate;
  }
  return 2 * power;
}

// Accumulates the product of the steps' spectra, and how wrong it may be, frequency by frequency.
class SpectrumProduct {
 public:
  SpectrumProduct(FourierTransform& transform, std::size_t points)
      : transform_(transform), points_(points), log_product_(points / 2 + 1), log_ceiling_(points / 2 + 1) {}

  void multiply(const TiltedStep& step) {
    std::vector<double> wrapped(points_);
    const auto n = static_cast<std::int64_t>(points_);
    std::int64_t index = ((step.first % n) + n) % n;
    for (const double mass : step.mass) {
      wrapped[static_cast<std::size_t>(index)] += mass;
      if (++index == n) index = 0;
    }
    // The point at the mean transforms into a constant. With small rates it holds nearly all mass, so that
    // leaving it out of the transform, whose error is relative to the whole, keeps the other points' digits.
    const double at_mean = std::exchange(wrapped[0], 0.0);
    const double total = std::accumulate(wrapped.begin(), wrapped.end(), 0.0);
    Spectrum spectrum;
    transform_.fft.fwd(spectrum, wrapped);
    for (std::complex<double>& value : spectrum) value += at_mean;
    const double error = transform_error(points_) * total + step.relative_error + 4 * kUnit;
    // Most frequencies die at once; telling them by their size alone saves two logarithms each.
    const double dead_size = std::exp(-2 * kDeadFrequency / step.count) - error;
    const double dead_norm = dead_size > 0 ? dead_size * dead_size : 0;
    for (std::size_t k = 0; k < log_product_.size(); ++k) {
      if (std::norm(spectrum[k]) < dead_norm) {
        log_ceiling_[k] -= 2 * kDeadFrequency;
      } else {
        raise(k, spectrum[k], step.count, error);
      }
    }
  }

  // Replaces the logarithms by the law and returns a bound on every entry's error times the number of points.
  double invert(std::vector<double>& law) {
    Spectrum product(log_product_.size());
    double error = 0;
    for (std::size_t k = 0; k < product.size(); ++k) {
      const bool alone = k == 0 || 2 * k == points_;
      if (log_ceiling_[k] <= -kDeadFrequency) {
        error += 2 * kDead;
        continue;
      }
      const double ceiling = std::exp(log_ceiling_[k]);
      product[k] = std::exp(log_product_[k]);
      const double forward = -std::expm1(log_product_[k].real() - log_ceiling_[k]);
      const double power = kUnit * (8 + 4 * std::abs(log_product_[k]));
      error += (alone ? 1 : 2) * ceiling * (forward + power + transform_error(points_));
    }
    transform_.fft.inv(law, product, static_cast<Eigen::Index>(points_));
    return error;
  }

 private:
  void raise(std::size_t k, std::complex<double> value, double count, double error) {
    if (log_ceiling_[k] < -kDeadFrequency) return;
    const double size = std::abs(value);
    log_ceiling_[k] += count * std::log(size + error);
    log_product_[k] += size > 0 ? count * std::log(value) : std::complex<double>(-kInfinity, 0);
  }

  FourierTransform& transform_;
  std::size_t points_;
  Spectrum log_product_;
  std::vector<double> log_ceiling_;  // of the size that the true product can have
};

// sum over lattice points u = width, 2 width, ... of e^{-tilt u} - e^{-(tilt + 1) u}
double weight_sum(double tilt, double width) {
  return 1 / std::expm1(tilt * width) - 1 / std::expm1((tilt + 1) * width);
}

}  // namespace

FourierTransform::FourierTransform() {
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
}

ComposedLoss::ComposedLoss(std::span<const CountedLattice> steps, double tilt, Rounding rounding,
                           std::size_t max_points, FourierTransform& transform)
    : rounding_(rounding),
      width_(steps.front().lattice.width),
      tilt_(tilt),
      decay_(std::exp(-tilt * width_)),
      faster_decay_(std::exp(-(tilt + 1) * width_)) {
  std::vector<TiltedStep> tilted;
  double moment_error = 0;
  std::int64_t moved = 0;
  std::int64_t shift = 0;
  for (const CountedLattice& step : steps) {
    tilted.push_back(tilt_step(step, tilt));
    const TiltedStep& last = tilted.back();
    log_moment_ += last.count * last.log_moment;
    moment_error += last.count * last.log_moment_error;
    if (__builtin_mul_overflow(step.count, last.moved, &shift) ||
        __builtin_add_overflow(moved, shift, &moved)) {
      throw InternalError("ComposedLoss: the total loss lies beyond the lattice's range");
    }
  }
  log_moment_ += rounding == Rounding::up ? moment_error : -moment_error;

  const IndexTails tails(tilted);
  const double lowest = std::floor(tails.lowest(kLogNegligible));
  const double highest = std::ceil(tails.highest(kLogNegligible));
  const std::size_t points = transform_size(highest - lowest + 2, max_points);
  // If the window is cut short, keep the part around the mean, which is where delta is decided.
  const double span = static_cast<double>(points);
  const double first = highest - lowest + 2 <= span ? lowest : std::max(lowest, -0.5 * span);
  const double outside = tails.mass_below(first) + tails.mass_above(first + span - 1);

  SpectrumProduct product(transform, points);
  for (const TiltedStep& step : tilted) product.multiply(step);
  std::vector<double> cyclic;
  const double spectrum_error = product.invert(cyclic) / span;
  const auto n = static_cast<std::int64_t>(points);
  const auto start = static_cast<std::int64_t>(first);
  first_ = start + moved;
  tilted_law_.resize(points);
  for (std::int64_t i = 0; i < n; ++i) {
    tilted_law_[static_cast<std::size_t>(i)] = cyclic[static_cast<std::size_t>((((start + i) % n) + n) % n)];
  }
  const double weights = std::min(span, weight_sum(tilt, width_));
  error_ = outside + spectrum_error * weights;
}

ComposedLoss::Suffix ComposedLoss::step_down(const Suffix& above, double mass_above) const {
  const double mass = rounding_ == Rounding::up ? std::max(0.0, mass_above) : mass_above;
  return {decay_ * (above.tilted + mass), faster_decay_ * (above.tilted_more + mass)};
}

// The sum at start + u for `growth` = e^u: tilted - growth * tilted_more in units of the scale at start.
double ComposedLoss::bounded_sum(const Suffix& suffix, double growth) const {
  const double rounding = 8 * kUnit * static_cast<double>(tilted_law_.size()) * std::abs(suffix.tilted);
  const double sum = suffix.tilted - growth * suffix.tilted_more;
  return rounding_ == Rounding::up ? sum + error_ + rounding : sum - error_ - rounding;
}

double ComposedLoss::point(std::size_t i) const {
  return width_ * static_cast<double>(first_ + static_cast<std::int64_t>(i));
}

// Walks down from the top of the window to the first lattice point at which the bound reaches the target;
// from there the bound falls as tilted - e^u tilted_more, which is solved for u.
double ComposedLoss::epsilon(double log_delta) const {
  const bool up = rounding_ == Rounding::up;
  // Above the window only the error term is left, and it falls with the scale.
  const double above_window = (log_moment_ + std::log(error_) - log_delta) / tilt_;
  if (up && above_window > point(tilted_law_.size() - 1)) return std::max(0.0, above_window);
  Suffix suffix{0, 0};
  for (std::size_t i = tilted_law_.size(); i-- > 0;) {
    suffix = step_down(suffix, i + 1 < tilted_law_.size() ? tilted_law_[i + 1] : 0);
    const double target = std::exp(std::min(700.0, log_delta - log_scale_at(point(i))));
    if (bounded_sum(suffix, 1) < target) {
      if (point(i) <= 0) return 0;
      continue;
    }
    const double growth = (bounded_sum(suffix, 0) - target) / suffix.tilted_more;
    const double inside = growth > 0 ? std::log(growth) : width_;
    return std::max(0.0, point(i) + std::clamp(inside, 0.0, width_));
  }
  return up ? std::max(0.0, point(0)) : 0;
}

std::pair<ComposedLoss::Suffix, std::size_t> ComposedLoss::suffix_at(double epsilon) const {
  Suffix suffix{0, 0};
  std::size_t i = tilted_law_.size();
  do {
    --i;
    suffix = step_down(suffix, i + 1 < tilted_law_.size() ? tilted_law_[i + 1] : 0);
  } while (i > 0 && point(i) > epsilon);
  return {suffix, i};
}

double ComposedLoss::log_delta(double epsilon) const {
  if (epsilon < point(0) && rounding_ == Rounding::up) return 0;
  const auto [suffix, i] = suffix_at(epsilon);
  const double sum = bounded_sum(suffix, std::exp(std::max(0.0, epsilon - point(i))));
  return sum > 0 ? std::min(0.0, log_scale_at(point(i)) + std::log(sum)) : -kInfinity;
}

double ComposedLoss::log_error(double epsilon) const {
  return log_scale_at(epsilon) + std::log(error_);
}

double ComposedLoss::slope(double epsilon) const {
  const auto [suffix, i] = suffix_at(epsilon);
  const double falling = std::exp(std::max(0.0, epsilon - point(i))) * suffix.tilted_more;
  const double value = suffix.tilted - falling;
  return value > 0 && falling > 0 ? falling / value : 0;
}

}  // namespace ration
