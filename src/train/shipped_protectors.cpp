#include "train/shipped_protectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "base/shipped.h"
#include "methods/protector.h"
#include "ration/base/error.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders() {
  const char* const named = std::getenv("RATION_PROTECTORS");
  if (named != nullptr && *named != '\0') return {named};
  return shipped_folders("protectors");
}

// In the order of their names, so that of two that are as near the same one is always taken.
std::vector<fs::path> files() {
  for (const fs::path& folder : folders()) {
    std::error_code ignored;
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".protector") found.push_back(entry.path().lexically_normal());
    }
    std::sort(found.begin(), found.end());
    if (!found.empty()) return found;
  }
  std::string looked;
  for (const fs::path& folder : folders())
    looked += (looked.empty() ? "" : ", ") + folder.lexically_normal().string();
  throw InputError(
      fmt::format("protector: none came with the program; looked in {}; RATION_PROTECTORS names the folder, "
                  "or name a file by --protector",
                  looked));
}

// Budgets that are worth about the same noise are near.
double distance(const ProtectorOrigin& origin, const Budget& budget) {
  const auto worth = [](double epsilon, double delta) {
    return std::log(epsilon / std::sqrt(std::log(1 / delta)));
  };
  return std::abs(worth(origin.epsilon, origin.delta) - worth(budget.epsilon, budget.delta));
}

}  // namespace

std::string shipped_protector(const ModelName& model, const Budget& budget) {
  const std::string_view name = model.is_network() ? model.name() : to_string(model.loss());
  const std::string_view wanted = model == GlmLoss::huber ? to_string(GlmLoss::hinge) : name;
  std::set<std::string> models;
  std::optional<std::pair<double, fs::path>> nearest;
  for (const fs::path& file : files()) {
    const ProtectorOrigin origin = read_protector(file.string()).origin;
    models.insert(origin.model);
    if (origin.model != wanted) continue;
    const double far = distance(origin, budget);
    if (!nearest || far < nearest->first) nearest = {far, file};
  }
  if (nearest) return nearest->second.string();
  throw InputError(fmt::format(
      "protector: none for model {} came with the program, only for {}; train one by 'ration protector "
      "train' and name it by --protector",
      name, fmt::join(models, ", ")));
}

}  // namespace ration
