#pragma once

#include <string>

#include "e6/made_up.h"
#include "ration/train/model.h"

namespace ration::e6 {

// What is tried on a table.
struct Trial {
  std::string method = "auto";
  std::string model = "logistic";
  double epsilon = 1;
  double delta = 1e-8;
  std::string relation = "add_remove";
  std::string features = "auto";
};

// Trains with the library's own random source, and says how well the model does on the table's test rows:
// the accuracy in percent, or 100 R^2 of a numeric label.
double score_of(const Trial& trial, const MadeUp& table);
// The same for a model that is there.
double score_of(const Model& model, const MadeUp& table);
// For who knows nothing: the share of the most frequent class in percent, or 0.
double score_of_majority(const MadeUp& table);

}  // namespace ration::e6
