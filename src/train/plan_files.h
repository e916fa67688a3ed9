#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ration/data/schema.h"
#include "ration/train/plan.h"
#include "ration/train/resolve.h"

namespace ration {

// A key of a plan whose value is a file that says how to train. What the file says is part of the plan: a
// path in a plan file means a file beside it, a run's folder holds a copy, and a run goes on only if the copy
// is still the same. (The rows and the ledger are files too, but no part of the plan.)
struct PlanFile {
  const char* key;   // its name, as in plan_keys()
  const char* copy;  // the name of the copy in a run's folder
  // Empty if the plan names no such file; a path that is set to empty is a key left out.
  std::string (*path)(const Plan& plan);
  void (*set_path)(Plan& plan, const std::string& path);
  // Whether the value is a file: a schedule may also be the name of a shape.
  bool (*is_file)(std::string_view value);
  // What the copy holds; nothing if the run uses no such file.
  std::optional<std::string> (*content)(const ResolvedPlan& plan, const data::Schema& schema);
};

std::span<const PlanFile> plan_files();

// Whether this key with this value names such a file.
bool names_plan_file(std::string_view key, std::string_view value);

// A path as somebody in `folder` means it.
std::string path_seen_from(const std::string& folder, const std::string& path);

}  // namespace ration
