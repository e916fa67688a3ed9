#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/one_hot_groups.h"
#include "methods/descent_noise.h"
#include "ration/objectives/row_view.h"

namespace ration {

// What a second moment was released as.
struct NoisyMoment {
  std::span<const double> upper;  // the upper triangle, row by row
  double noise = 0;               // of its entries beside the diagonal
  double floor = 0;               // what small eigenvalues were taken to be
};

// The coordinates in which the noise of a descent on whitened rows is told, and what they may be like.
struct NoiseDesign {
  Eigen::MatrixXd factor;  // coordinates x columns of the rows; the last coordinate is the bias
  std::vector<CurvatureGuess> guesses;
};

// Of rows that `before` scales, without a bias, and that were then whitened by their noisy moment.
//
// Left out    directions in which all columns of a group move together: no row has anything there, so that
// noise
//             in them changes no prediction, only what is a category's coefficient and what is the bias.
// Draws       eigenvalues without noise are found by letting them flow back, by Dyson's equation; noise is
//             then drawn and added to a diagonal matrix of these. Noise looks the same from every side, so
//             the sum's eigenvectors are to the diagonal matrix what the released ones are to the rows'
//             moment.
NoiseDesign white_noise_design(const RowView& before, const NoisyMoment& moment,
                               std::span<const data::OneHotGroup> groups, std::uint64_t seed);

// Of rows that `view` scales, with a bias, and that are not white: each coordinate by itself.
NoiseDesign plain_noise_design(const RowView& view, std::span<const double> scales);

// Without the noise: of a symmetric matrix whose entries beside the diagonal have noise of this deviation.
// Increasing.
Eigen::VectorXd eigenvalues_without_noise(Eigen::VectorXd eigenvalues, double noise);

}  // namespace ration
