#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ration/train/plan.h"

namespace ration::compare {

// One key of a plan, as it was written, and where: for messages.
struct Setting {
  std::string key;
  std::string text;
  std::string where;
};
using Settings = std::vector<Setting>;

struct DataSet {
  std::string name;
  std::vector<std::string> files;  // read one after the other, as one table (data/find_file.h)
  std::string schema;
  std::string beside;  // where the paths are looked for first
  bool by_default = true;
};

// What is fitted. `smooth` takes the place of `settings` for methods that need a loss with a bounded second
// derivative; results are measured by `settings` for all of them.
struct ModelChoice {
  std::string name;
  Settings settings;
  std::optional<Settings> smooth;
  bool by_default = true;
};

// A method: a named variation of the comparison's plan.
struct MethodChoice {
  std::string name;
  Settings settings;
  bool smooth = false;     // needs a smooth loss
  bool is_private = true;  // false: does not depend on epsilon, and is run once for all of them
  bool by_default = true;
};

// Every method on every data set, model, epsilon, fold and repeat. (docs/compare.md)
//
// Not private   it measures on the rows as they are, so it is for public data: nothing of its results is
//               covered by a guarantee. Who compares has to say that the rows are public.
struct Comparison {
  bool is_public = false;  // the rows, as the user says
  Settings plan;           // what all methods start from
  std::vector<DataSet> data;
  std::vector<ModelChoice> models;
  std::vector<MethodChoice> methods;
  std::vector<double> epsilons;  // > 0, all different
  std::optional<double> delta;   // 0 < delta < 1
  std::size_t folds = 10;        // >= 2
  std::size_t repeats = 1;       // >= 1
};

// From TOML. An unknown key or a wrong type is refused with file, line, key and rule; values of plan keys are
// checked for what is chosen only, by require_sound.
Comparison parse_comparison(std::string_view toml, const std::string& file = "comparison");
Comparison read_comparison(const std::string& path);

// Keep these, in this order; without names, those chosen by default. A model or method that the comparison
// does not list is the plan's of that name. Throws InputError that lists what there is; `where` is the flag.
void choose_data(Comparison& comparison, const std::vector<std::string>& names, std::string_view where);
void choose_models(Comparison& comparison, const std::vector<std::string>& names, std::string_view where);
void choose_methods(Comparison& comparison, const std::vector<std::string>& names, std::string_view where);

// Throws InputError unless there is something to compare and every setting holds.
void require_sound(const Comparison& comparison);

// The plan of one cell; `rows` are those it is trained on.
Plan plan_for(const Comparison& comparison, const ModelChoice& model, const MethodChoice& method,
              double epsilon, double rows);
// The model by which its results are measured.
Plan measuring_plan(const Comparison& comparison, const ModelChoice& model);

// All that decides the results, one choice per line: two comparisons with the same text are the same.
std::string to_toml(const Comparison& comparison);

}  // namespace ration::compare
