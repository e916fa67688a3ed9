// Stable: changes only with a new major version.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ration/data/schema.h"
#include "ration/data/table.h"
#include "ration/metrics/calibration.h"
#include "ration/objectives/glm/glm_loss.h"

namespace ration {

// What the noise of privacy did to the weights of a linear model, where its method knows it: they are about
// normal around `centre`, which is what they were before they were shrunk, and
//   Cov(weight of output a, column i; of output b, column j)
//     = sum over directions d of factor[d, i] factor[d, j] covariance[d][a, b].
struct WeightNoise {
  std::vector<double> centre;      // as Model::weights
  std::size_t directions = 0;      // 1 or more
  std::vector<double> factor;      // a number per encoded column for each direction
  std::vector<double> covariance;  // for each direction the upper triangle over outputs, row by row
};

// A trained model with everything needed to apply it to a new file: loss, public schema, weights.
//
// Labels      logistic, hinge and huber need a label of two classes, softmax one of two or more, squared a
//             number.
// Weights     of a linear model: one per encoded column; for softmax those of class 0 first, then those of
//             class 1, and so on. Of a network: its parameters in their order.
struct Model {
  std::string network{};               // its name (objectives/network.h); empty: a linear model
  GlmLoss loss = GlmLoss::logistic;    // of a linear model
  std::size_t classes = 2;             // those of the schema: 2 or more; 0 for a numeric label
  double huber_width = 0.5;            // > 0; huber only
  data::Schema schema;                 // what it takes
  std::vector<double> weights;         // finite
  std::optional<WeightNoise> noise{};  // intervals.h tells what follows from it; unknown if there is none
};

// Throws InputError unless schema, loss, classes and weights fit together. A trainer can ask with zero
// weights before it spends anything.
void require_sound(const Model& model);

// One object with stable keys, indented, ending in a newline. Lossless. Weights stand beside the names of
// their columns, for people; the names are checked when it is read. Throws InputError for a model that is not
// sound.
std::string to_json(const Model& model);
// Throws InputError naming `file` and the key that is missing or wrong.
Model model_from_json(std::string_view text, const std::string& file);
// From a run's folder, or the file itself.
Model read_model(const std::string& run_or_file);

// How well a model does on some rows.
struct Evaluation {
  std::size_t rows = 0;                            // how many there were
  double loss = 0;                                 // mean over the rows
  std::optional<double> accuracy{};                // of classes
  std::optional<double> root_mean_square_error{};  // of numbers
  std::optional<double> majority{};                // of classes: the share of the most frequent one
  // Of classes, in their order: the share of its rows that were told to be of it; none without such a row.
  std::vector<std::optional<double>> recall{};
  // Of classes: how well rows of a class are put above the others; the area under the ROC curve, and of
  // several classes the mean over them of each against the rest. None if all rows are of one class.
  std::optional<double> auc{};
  // Of models that give probabilities, logistic and softmax: minus the mean logarithm of the label's.
  std::optional<double> log_loss{};
  // Of numbers: 1 - squared error / squared error of the labels' mean; none if all labels are equal.
  std::optional<double> r2{};
  std::optional<double> mean_absolute_error{};  // of numbers
  // Of classes: the mean recall of those that have rows.
  std::optional<double> balanced_accuracy{};
  // Of classes: how many rows of each were told to be of each, [class * classes + told].
  std::vector<std::size_t> confusion{};
  // Of models that give probabilities: their mean squared error, (p - y)^2 of two classes and the sum over
  // the classes of several.
  std::optional<double> brier{};
  // And how often what they call likely comes so: class 1 of two, or of several the likeliest class.
  std::vector<CalibrationBin> calibration{};
};

// Exact, so for rows that are public only; `ration evaluate --epsilon` is for the others.
Evaluation evaluate_public(const Model& model, const data::Table& table);

// The class (its place in table.classes) or the value for each row. Labels are not looked at. Not private:
// what is said of a row depends on that row.
std::vector<double> predict(const Model& model, const data::Table& table);

}  // namespace ration
