#include "train/plan_files.h"

#include <array>
#include <filesystem>

#include "methods/protector.h"
#include "schedules/noise_file.h"
#include "train/noise_plan.h"

namespace ration {
namespace {

using Content = std::optional<std::string>;

bool is_given(std::string_view value) {
  return !value.empty();
}

constexpr std::array kFiles = {
    PlanFile{"schema", &Plan::schema, "schema.toml", is_given,
             [](const ResolvedPlan&, const data::Schema& schema) { return Content(to_toml(schema)); }},
    PlanFile{"schedule", &Plan::schedule, "schedule.csv", is_schedule_file,
             [](const ResolvedPlan& plan, const data::Schema&) {
               return plan.schedule.empty() ? Content() : noise_file_text(plan.schedule);
             }},
    PlanFile{"protector", &Plan::protector, "learned.protector", is_given,
             [](const ResolvedPlan& plan, const data::Schema&) {
               return plan.protector() == nullptr ? Content() : to_json(*plan.protector());
             }},
};

}  // namespace

std::span<const PlanFile> plan_files() {
  return kFiles;
}

bool names_plan_file(std::string_view key, std::string_view value) {
  for (const PlanFile& file : kFiles) {
    if (file.key == key) return file.is_file(value);
  }
  return false;
}

std::string path_seen_from(const std::string& folder, const std::string& path) {
  if (std::filesystem::path(path).is_absolute()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

}  // namespace ration
