#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ration/metrics/calibration.h"

namespace ration {

// How right predicted classes and their probabilities are. Exact, not private. Classes are 0, 1, ...

// How many rows of each class were told to be of each: [class * classes + told].
std::vector<std::size_t> confusion_matrix(std::span<const double> predictions, std::span<const double> labels,
                                          std::size_t classes);

// The share of right ones among the rows of each class; none for a class without rows.
std::vector<std::optional<double>> recalls(std::span<const std::size_t> confusion, std::size_t classes);
// Their mean over the classes that have rows, of which there must be one.
double balanced_accuracy(std::span<const std::optional<double>> recalls);

// Probabilities of row r and class k at [r * classes + k].

// From the outputs z of a model: 1 / (1 + e^-z) for class 1 of two if there is one output per row, otherwise
// e^z_k / sum of e^z_j.
std::vector<double> class_probabilities(std::span<const double> outputs, std::size_t outputs_per_row,
                                        std::size_t classes);

// The mean squared error of the probabilities [Brier50]: (p - y)^2 of two classes, p and y being those of
// class 1; the sum of (p_k - y_k)^2 over the classes if there are more.
double brier_score(std::span<const double> probabilities, std::span<const double> labels,
                   std::size_t classes);

// In ten bins, those without rows left out: of two classes, the probability of class 1; of more, that of the
// class that is most likely, whichever it is, and how often it was the right one.
std::vector<CalibrationBin> calibration(std::span<const double> probabilities, std::span<const double> labels,
                                        std::size_t classes);

}  // namespace ration
