#include <fmt/format.h>

#include <iterator>

#include "ration/base/error.h"
#include "train/method_plan.h"
#include "train/recipes/baselines.h"
#include "train/recipes/gradient_descent.h"
#include "train/recipes/learned.h"
#include "train/recipes/line_search.h"

namespace ration {
namespace {

std::vector<Recipe> all_recipes() {
  std::vector<Recipe> all;
  for (const auto family :
       {gradient_descent_recipes, line_search_recipes, learned_recipes, baseline_recipes}) {
    std::vector<Recipe> some = family();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

std::string names() {
  std::string text;
  for (const Recipe& one : recipes()) text += (text.empty() ? "" : ", ") + one.name;
  return text;
}

}  // namespace

std::span<const Recipe> recipes() {
  static const std::vector<Recipe> all = all_recipes();
  return all;
}

const Recipe& recipe_named(std::string_view name) {
  for (const Recipe& one : recipes()) {
    if (one.name == name) return one;
  }
  throw InputError(fmt::format("method: expected one of {}, got '{}'", names(), name));
}

}  // namespace ration
