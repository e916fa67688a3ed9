#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ration/data/schema.h"
#include "ration/data/table.h"
#include "ration/objectives/glm/glm.h"
#include "ration/objectives/network.h"

namespace ration {

// A trained model with everything needed to apply it to a new file: loss, public schema, weights.
//
// Labels      logistic, hinge and huber need a label of two classes, softmax one of two or more, squared a
//             number.
// Weights     of a linear model: one per encoded column; for softmax those of class 0 first, then those of
//             class 1, and so on. Of a network: its parameters in their order.
struct Model {
  std::string network{};  // its name (objectives/network.h); empty: a linear model
  GlmLoss loss = GlmLoss::logistic;
  std::size_t classes = 2;   // those of the schema: 2 or more; 0 for a numeric label
  double huber_width = 0.5;  // > 0; huber only
  data::Schema schema;
  std::vector<double> weights;  // finite
};

// Throws InputError unless schema, loss, classes and weights fit together. A trainer can ask with zero
// weights before it spends anything.
void require_sound(const Model& model);

// What make_glm needs to know of a linear model; 0 threads: one per processor.
GlmOptions glm_options(const Model& model, std::size_t threads = 0);
// What networks() needs to know of a network.
NetworkSpec network_spec(const Model& model);

// The model's loss on rows. Labels that are unused may be anything; then only predict() has a meaning.
enum class Labels { used, unused };
std::unique_ptr<Objective> make_objective(const Model& model, std::shared_ptr<const Rows> rows,
                                          const Hardware& hardware = {}, Labels labels = Labels::used);
// Throws InputError unless the model can be computed there: linear models with the processor alone.
void require_device(const Model& model, const std::string& device);

// One object with stable keys, indented, ending in a newline. Lossless. Weights stand beside the names of
// their columns, for people; the names are checked when it is read. Throws InputError for a model that is not
// sound.
std::string to_json(const Model& model);
// Throws InputError naming `file` and the key that is missing or wrong.
Model model_from_json(std::string_view text, const std::string& file);
// From a run's folder, or the file itself.
Model read_model(const std::string& run_or_file);

struct Evaluation {
  std::size_t rows = 0;
  double loss = 0;                               // mean over the rows
  std::optional<double> accuracy;                // of classes
  std::optional<double> root_mean_square_error;  // of numbers
};

// Exact, so for rows that are public only; `ration evaluate --epsilon` is for the others.
Evaluation evaluate_public(const Model& model, const data::Table& table);

// The class (its place in table.classes) or the value for each row. Labels are not looked at. Not private:
// what is said of a row depends on that row.
std::vector<double> predict(const Model& model, const data::Table& table);

}  // namespace ration
