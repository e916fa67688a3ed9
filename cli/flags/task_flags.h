#pragma once

#include <optional>
#include <string>
#include <vector>

#include "meta/public_tasks.h"

namespace ration::cli {

enum class TaskKind { quadratic, table, images };

inline constexpr NamedValue<TaskKind> kTaskKinds[] = {
    {TaskKind::quadratic, "quadratic", "Random quadratic functions."},
    {TaskKind::table, "table", "Generated tables, or halves of --data."},
    {TaskKind::images, "images", "Two classes of the images of --data."},
};
constexpr NameTable<TaskKind> name_table(TaskKind) {
  return {"--tasks", kTaskKinds};
}

// What a protector is trained on, as flags say it.
struct TaskFlags {
  std::optional<std::string> tasks, data, schema, target, model, pair;
};

// The tasks that the flags name.
struct NamedTasks {
  meta::PublicTasks tasks;
  std::string warning;  // what was read without privacy; empty if nothing was
};

// `rate`: the share of the rows that a step sees. Throws InputError naming the flag.
NamedTasks read_tasks(const TaskFlags& flags, double rate);

}  // namespace ration::cli
