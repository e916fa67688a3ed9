// Stable: changes only with a new major version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ration/data/table.h"
#include "ration/train/model.h"

namespace ration {

// Error bars that cost nothing: how large the noise of privacy was is public, so how far it moved a model can
// be told from the model (Model::noise, docs/proofs/intervals.md).
//
// Covers      the fit by the same recipe without noise in its gradients, given the mean and the second moment
//             that were released; not what other rows would have given (sampling).
// Shrinking   without noise nothing is shrunk, so intervals are around what was there before. They are
//             widened where they must be to hold the model's own number.

// A weight of a linear model.
struct Coefficient {
  std::string column;      // of the schema, or "(bias)"
  std::string category;    // or hat, or interval; empty for a number
  std::string class_name;  // softmax: of which class; else empty
  // Of a category: less the mean over those of its column, which goes to the bias; no prediction is changed.
  double value = 0;
  // None if the noise is not known.
  std::optional<double> low;
  std::optional<double> high;  // likewise
};

// The largest first, those of the bias last. InputError for a network, or unless 0 < level < 1.
std::vector<Coefficient> coefficients(const Model& model, double level = 0.95);

// What is said of a row, and how sure that is.
struct PredictionInterval {
  double prediction = 0;   // the class (its place) or the value, as by predict()
  double probability = 0;  // that the row is of this class; of a value, the value itself
  double low = 0;          // lower end, of the probability or the value
  double high = 0;         // upper end
};

// For each row. InputError if the model's noise is not known, or its loss has no probabilities (hinge,
// huber); unless 0 < level < 1.
std::vector<PredictionInterval> predict_with_intervals(const Model& model, const data::Table& table,
                                                       double level = 0.95);

}  // namespace ration
