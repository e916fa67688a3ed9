#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meta/task.h"
#include "methods/protector.h"
#include "ration/data/table.h"
#include "ration/objectives/glm/glm_loss.h"

namespace ration::meta {

// PUBLIC problems to train a protector on, and what they were made of.
struct PublicTasks {
  TaskSource source;
  ProtectorOrigin origin;  // tasks, model and data_hashes
  double rows = 0;         // of the data; 0 if there is none
};

// Rows that are read WITHOUT PRIVACY.
struct PublicRows {
  std::string tasks;  // what a protector's origin says: "table", "images, classes 4,6"
  std::string name;   // of the data
  data::Table table;
  std::size_t classes = 0;                      // of the label; 0: a number
  std::optional<std::string> drafted_target{};  // the label, if the schema was drafted from the rows too
};

// As in experiment E5.
PublicTasks quadratic_tasks();
// Tables drawn anew for each task; `loss` is logistic or hinge.
PublicTasks generated_tasks(GlmLoss loss);

// A table by any name that --data takes. Without a schema one is drafted from the rows, and the target is the
// last column if none is named.
PublicRows read_public_table(const std::string& name, const std::optional<std::string>& schema,
                             const std::optional<std::string>& target);
// Two classes of mnist:DIR or fashion-mnist, which become 0 and 1.
PublicRows read_public_images(const std::string& name, const std::array<std::uint8_t, 2>& classes);

// Each task fits a model to one half of the rows; `rate` is the share of them that a step sees. The loss must
// take that many classes.
PublicTasks tasks_from(PublicRows rows, GlmLoss loss, double rate);

}  // namespace ration::meta
