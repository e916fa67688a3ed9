#include <algorithm>
#include <iterator>

#include "ration/base/error.h"
#include "train/method_plan.h"
#include "train/recipes/auto.h"
#include "train/recipes/baselines.h"
#include "train/recipes/gradient_descent.h"
#include "train/recipes/learned.h"
#include "train/recipes/line_search.h"

namespace ration {
namespace {

std::vector<Recipe> all_recipes() {
  std::vector<Recipe> all;
  for (const auto family :
       {auto_recipes, gradient_descent_recipes, line_search_recipes, learned_recipes, baseline_recipes}) {
    std::vector<Recipe> some = family();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

// What no method can do without, or what is not the method's business. A key that is not here has to be named
// by the recipes that use it.
constexpr std::string_view kForEveryMethod[] = {
    "data",     "schema", "target",        "rows",      "row_norm",   "center",
    "features", "unit",   "rows_per_unit", "units",     "model",      "huber_width",
    "epsilon",  "delta",  "ledger",        "data_hash", "on_bad_row", "relation",
    "method",   "rate",   "batch",         "sampling",  "accountant", "checkpoint_every"};

bool contains(std::span<const std::string_view> keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

std::span<const Recipe> recipes() {
  static const std::vector<Recipe> all = all_recipes();
  return all;
}

const Recipe& recipe_of(MethodKind method) {
  for (const Recipe& one : recipes()) {
    if (one.method == method) return one;
  }
  throw InternalError("plan: a method has no recipe");
}

bool is_used(const Plan& plan, std::string_view key) {
  return contains(kForEveryMethod, key) || contains(recipe_of(plan.method).uses(plan), key);
}

}  // namespace ration
