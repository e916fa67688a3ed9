#include "ration/privacy/relation.h"

#include <fmt/format.h>

#include "ration/base/error.h"

namespace ration {

std::string_view to_string(Relation relation) {
  return relation == Relation::add_remove ? "add_remove" : "replace_one";
}

Relation relation_from_string(std::string_view name) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    if (name == to_string(relation)) return relation;
  }
  throw InputError(fmt::format("unknown relation '{}'; expected add_remove or replace_one", name));
}

}  // namespace ration
