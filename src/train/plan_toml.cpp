#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/quote.h"
#include "data/named_data.h"
#include "ration/base/error.h"
#include "ration/train/plan.h"
#include "train/plan_files.h"

namespace ration {
namespace {

// The value as the text a flag would have.
std::string text_of(const toml::node& node, const std::string& where) {
  if (const auto value = node.value_exact<std::string>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
  if (const auto value = node.value_exact<double>()) return show(*value);
  if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
  throw InputError(fmt::format("{}: expected a text, a number, true or false", where));
}

void set_key(Plan& plan, const toml::key& name, const toml::node& node, const std::string& file) {
  const std::string place = fmt::format("{}:{}", file, name.source().begin.line);
  const PlanKey& key = plan_key(name.str(), place);
  const std::string where = fmt::format("{}: {}", place, key.name);
  key.set(plan, where, text_of(node, where));
}

// Data may also lie elsewhere (data/find_file.h): only what is there is taken.
void look_beside(const std::string& file, std::string& name) {
  data::NamedData data = data::parse_data_name(name);
  const auto beside = std::filesystem::path(file).parent_path() / data.path;
  const bool is_file = data.kind == data::DataKind::file || data.kind == data::DataKind::text;
  if (data.path.empty()) return;
  if (!(is_file ? std::filesystem::is_regular_file(beside) : std::filesystem::is_directory(beside))) return;
  data.path = beside.lexically_normal().string();
  name = to_string(data);
}

// A ledger that lies there; one that does not may be meant from the current folder.
void look_beside_for_ledger(const std::string& file, std::string& ledger) {
  if (ledger.empty()) return;
  const std::string beside = path_seen_from(std::filesystem::path(file).parent_path().string(), ledger);
  if (std::filesystem::is_regular_file(beside)) ledger = beside;
}

}  // namespace

Plan parse_plan(std::string_view toml, const std::string& file) {
  Plan plan;
  try {
    const toml::table table = toml::parse(toml, file);
    for (const auto& [name, node] : table) set_key(plan, name, node, file);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}: not a plan (TOML): {}", file, error.source().begin.line,
                                 one_short_line(error.description())));
  }
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const PlanFile& one : plan_files()) {
    if (const std::string path = one.path(plan); !path.empty())
      one.set_path(plan, path_seen_from(folder, path));
  }
  return plan;
}

Plan read_plan(const std::string& path) {
  Plan plan = parse_plan(read_file(path), path);
  look_beside(path, plan.data);
  look_beside_for_ledger(path, plan.ledger);
  return plan;
}

std::string to_toml(const Plan& plan) {
  std::string toml;
  for (const PlanKey& key : plan_keys()) {
    if (const auto value = key.get(plan)) toml += fmt::format("{} = {}\n", key.name, *value);
  }
  return toml;
}

}  // namespace ration
