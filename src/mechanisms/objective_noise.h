#pragma once

#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

struct ObjectiveNoiseOptions {
  double lipschitz = 1;         // L > 0: no row's gradient is longer, at any w
  double smoothness = 1;        // B > 0: the Lipschitz constant of every row's gradient
  double regulariser = 1;       // R > 0: the sum of losses is minimised with R / 2 |w|^2 added
  double noise_multiplier = 1;  // > 0
  Relation relation = Relation::add_remove;
};

// Objective perturbation of a linear model: w~ near the minimum of sum_i l_i(w) + R / 2 |w|^2 + <b, w>, b ~
// N(0, s^2 I), plus a little noise for the distance to the minimum.
//
// Condition   l_i(w) = f_i(<w, x_i>), f_i convex with a slope of one sign (logistic, Huber SVM).
// Guarantee   The minimum is mu-GDP with mu = L / s + sqrt(pi / 2) ln(1 + B / R) under add_remove, and 2 mu
//             under replace_one, which is one removal and one addition [Dong22, Thm 2.14]. Proof:
//             docs/proofs/objective-perturbation.md. It replaces the (epsilon, delta) analyses of
//             [Chaudhuri11; Kifer12], whose two terms it keeps (the noise, and the logarithm of the change of
//             the Hessian's determinant), so that the release is an ordinary Gaussian event for every
//             accountant.
// The minimum is not reached exactly, and what is released must not depend on how nearly: the point found is
//             within `tolerance` / R of it, so two neighbours' points, given the same minimum, differ by at
//             most 2 tolerance / R, and a Gaussian mechanism covers that [Iyengar19, approximate minima
//             perturbation]. It takes kOutputShare of 1 / noise_multiplier^2; squares of mu add up [Dong22,
//             Cor. 3.3].
// Edge cases  A regulariser so small that the determinant alone takes more than there is, is an InputError
//             that says how large it must be: the condition 2 B / epsilon of the papers in another guise.
// [Chaudhuri11, Alg. 2; Kifer12; Redberg23]
class ObjectiveNoise {
 public:
  static constexpr double kOutputShare = 0.01;

  explicit ObjectiveNoise(const ObjectiveNoiseOptions& options);

  double linear_stddev() const { return linear_stddev_; }  // s
  // Of the Gaussian mechanism on the point found, per unit of 2 tolerance / R.
  double output_noise_multiplier() const;
  Event event() const { return Event::gaussian(options_.noise_multiplier); }

  // The regulariser with which the determinant takes `share` of what there is; 0 < share < 1.
  static double regulariser_for(const ObjectiveNoiseOptions& options, double share);

 private:
  ObjectiveNoiseOptions options_;
  double linear_stddev_;
};

}  // namespace ration
