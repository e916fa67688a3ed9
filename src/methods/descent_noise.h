#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

namespace ration {

// One step of a descent along noisy gradients, u <- u - length (gradient at u, noise in it), as it was taken.
// Weights of several outputs stand one after the other, a number per coordinate each.
struct NoisyStep {
  std::vector<double> from;       // u before the step
  std::vector<double> gradient;   // as it was answered
  double noise = 1;               // > 0, its standard deviation in each number
  std::vector<double> lengths;    // one for each output
  std::vector<double> curvature;  // outputs x outputs, symmetric: what the step took the Hessian to be
};

// What the coordinates may be, seen along the directions of the loss's curvature. The true directions are not
// known, only how such things are distributed; each guess is a draw.
struct CurvatureGuess {
  Eigen::VectorXd curvatures;  // of its directions, beside NoisyStep::curvature
  Eigen::MatrixXd overlaps;    // [i, k] how much of coordinate i lies along direction k; rows sum up to 1
};

// Steps of a descent whose result is an average of what they arrived at.
struct NoisyDescent {
  std::size_t outputs = 1;
  std::vector<NoisyStep> steps;
  std::vector<double> shares;  // of what each step arrived at in the average; their sum is 1
};

// Of the average: for each coordinate the covariance of outputs, an upper triangle row by row. Coordinates
// are uncorrelated, in the mean over what the directions may be. [docs/proofs/intervals.md]
//
// Formula     errors e follow e <- (I - length part curvature) e - length noise along each direction.
// Part        how curved the loss is beside all this, clipping included, is found in the answers: by the
// slope
//             with which they turn with the weights in the later half of the steps, which must be the slope
//             that such a descent has on average. The noise in the weights is the best of probes.
std::vector<double> covariance_of_average(const NoisyDescent& descent,
                                          const std::vector<CurvatureGuess>& guesses);

}  // namespace ration
