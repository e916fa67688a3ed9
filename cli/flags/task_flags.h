#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meta/task.h"
#include "methods/protector.h"

namespace ration::cli {

// The values of --tasks and of --model.
std::vector<std::string> names_of_tasks();
std::vector<std::string> names_of_task_models();

// What a protector is trained on, as flags say it.
struct TaskFlags {
  std::optional<std::string> tasks, data, schema, target, model, pair;
};

// PUBLIC problems, and what they were made of.
struct PublicTasks {
  meta::TaskSource source;
  ProtectorOrigin origin;  // tasks, model and data_hashes
  double rows = 0;         // of the data; 0 if there is none
  std::string warning;     // what was read without privacy; empty if nothing was
};

// `rate`: the share of the rows that a step sees. Throws InputError naming the flag.
PublicTasks read_tasks(const TaskFlags& flags, double rate);

}  // namespace ration::cli
