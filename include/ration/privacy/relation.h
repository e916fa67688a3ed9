// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"

namespace ration {

// What "neighbouring data sets" means. A guarantee is stated for one relation, and everything in a run uses
// the same one: sensitivities, samplers and accountants all depend on it.
enum class Relation {
  add_remove,   // one row is added or removed; the number of rows is private
  replace_one,  // one row is changed; the number of rows is public
};

// Their names.
inline constexpr NamedValue<Relation> kRelations[] = {
    {Relation::add_remove, "add_remove", "One row is added or removed. The number of rows is private."},
    {Relation::replace_one, "replace_one", "One row is changed. The number of rows is public."},
};
// Found by base/names.h.
constexpr NameTable<Relation> name_table(Relation) {
  return {"relation", kRelations};
}

}  // namespace ration
