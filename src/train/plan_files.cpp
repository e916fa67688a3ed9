#include "train/plan_files.h"

#include <array>
#include <filesystem>

#include "methods/protector.h"
#include "schedules/noise_file.h"

namespace ration {
namespace {

using Content = std::optional<std::string>;

bool is_given(std::string_view value) {
  return !value.empty();
}

template <std::string Plan::*member>
std::string path_in(const Plan& plan) {
  return plan.*member;
}
template <std::string Plan::*member>
void set_path_in(Plan& plan, const std::string& path) {
  plan.*member = path;
}

void set_schedule(Plan& plan, const std::string& path) {
  plan.schedule = path.empty() ? ScheduleKind::uniform : ScheduleName::of_file(path);
}

constexpr std::array kFiles = {
    PlanFile{"schema", "schema.toml", path_in<&Plan::schema>, set_path_in<&Plan::schema>, is_given,
             [](const ResolvedPlan&, const data::Schema& schema) { return Content(to_toml(schema)); }},
    PlanFile{"schedule", "schedule.csv", [](const Plan& plan) { return plan.schedule.file(); }, set_schedule,
             ScheduleName::is_path,
             [](const ResolvedPlan& plan, const data::Schema&) {
               return plan.schedule.empty() ? Content() : noise_file_text(plan.schedule);
             }},
    PlanFile{"protector", "learned.protector", path_in<&Plan::protector>, set_path_in<&Plan::protector>,
             is_given,
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
