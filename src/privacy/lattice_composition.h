#pragma once

#include <cstdint>
#include <span>
#include <unsupported/Eigen/FFT>
#include <utility>
#include <vector>

#include "privacy/loss_lattice.h"

namespace ration {

enum class Rounding { up, down };

struct CountedLattice {
  LossLattice lattice;
  std::int64_t count;
};

// The transform with its tables of roots of unity, which cost as much as a transform: share it between
// compositions.
struct FourierTransform {
  FourierTransform();
  Eigen::FFT<double> fft;  // KissFFT is its engine
};

// The law of the total loss of many independent steps whose losses live on one lattice, and the privacy curve
// it gives, rounded in the declared direction.
//
// Tilting   Fourier transforms have an absolute error, and delta may be 1e-300. So the law is tilted by
//           e^{tilt * loss} first, which moves its bulk to where delta is decided; all errors are then
//           relative to delta. With M the moment at the tilt, pi the tilted law and v the lattice points,
//             delta(epsilon) = M e^{-tilt epsilon} sum_{v > epsilon} w(v - epsilon) pi(v),
//             w(u)           = e^{-tilt u} - e^{-(tilt + 1) u}.
// Errors    charged to the sum, in the declared direction:
//           - tilted mass outside the window, which the cyclic convolution folds into it (Chernoff bound);
//           - rounding of the forward transforms, at most e = c u log2(n) at every frequency, carried through
//             the power exactly: |(f + e)^T - f^T| <= (|f| + e)^T - |f|^T;
//           - rounding of the power, of the inverse transform and of the tilt itself.
//           (A public library omits the second and falls below the truth at 50,000 steps and delta 1e-8.)
// `max_points` bounds the transform; if the window is cut short the missing mass is charged like any other.
class ComposedLoss {
 public:
  ComposedLoss(std::span<const CountedLattice> steps, double tilt, Rounding rounding, std::size_t max_points,
               FourierTransform& transform);

  // The smallest epsilon >= 0 at which the bound on delta falls to e^{log_delta}.
  double epsilon(double log_delta) const;
  // The logarithm of the bound on delta(epsilon).
  double log_delta(double epsilon) const;
  // The logarithm of the part of that bound which is there for errors only.
  double log_error(double epsilon) const;
  // How steeply log delta falls at epsilon, without regard to errors: at least 0, and 0 where nothing is
  // known.
  double slope(double epsilon) const;

 private:
  // The two sums over v > start, of e^{-tilt (v - start)} pi(v) and of e^{-(tilt + 1)(v - start)} pi(v).
  struct Suffix {
    double tilted;
    double tilted_more;
  };
  double point(std::size_t i) const;
  double log_scale_at(double epsilon) const { return log_moment_ - tilt_ * epsilon; }
  double bounded_sum(const Suffix& suffix, double growth) const;
  // The sums at the last lattice point that is not above epsilon, and that point's place in the window.
  std::pair<Suffix, std::size_t> suffix_at(double epsilon) const;
  Suffix step_down(const Suffix& above, double mass_above) const;

  Rounding rounding_;
  double width_;
  double tilt_;
  double decay_;           // e^{-tilt * width}
  double faster_decay_;    // e^{-(tilt + 1) * width}
  double log_moment_ = 0;  // log M, rounded in the declared direction
  double error_ = 0;       // of the sum, absolute
  std::int64_t first_ = 0;
  std::vector<double> tilted_law_;
};

}  // namespace ration
