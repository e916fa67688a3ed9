// Stable: changes only with a new major version.
#pragma once

#include <string_view>

namespace ration {

// What "neighbouring data sets" means. A guarantee is stated for one relation, and everything in a run uses
// the same one: sensitivities, samplers and accountants all depend on it.
enum class Relation {
  add_remove,   // one row is added or removed; the number of rows is private
  replace_one,  // one row is changed; the number of rows is public
};

// As relation_from_string() takes it.
std::string_view to_string(Relation relation);
// Throws InputError listing the known names.
Relation relation_from_string(std::string_view name);

}  // namespace ration
