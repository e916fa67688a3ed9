#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ration {

// How well scores put the rows of a class above all others. Exact, not private.

// The area under the ROC curve: the share of pairs of a row labelled `positive` and one labelled otherwise in
// which the first has the higher score; a tie counts one half. That is the Mann-Whitney statistic
// [Fawcett06].
//
// Cost        one sort.
// Edge cases  nothing if there is no such pair. A score that is NaN lies below all others, and ties with its
//             like.
std::optional<double> area_under_roc(std::span<const double> scores, std::span<const double> labels,
                                     double positive);

// The mean over the classes of each one's area against the rest, every class counting alike; classes that
// have no row, or all of them, are left out. score of row r for class k: scores[r * classes + k]; labels are
// 0, ..., classes - 1.
std::optional<double> mean_area_under_roc(std::span<const double> scores, std::span<const double> labels,
                                          std::size_t classes);

// Scores for the above from the outputs z of a softmax model: log(p_k / (1 - p_k)) = z_k - log(sum of e^z_j
// over j != k), at the same places. In the order of p_k, and unlike it never rounded to 1.
std::vector<double> log_odds(std::span<const double> outputs, std::size_t classes);

}  // namespace ration
