#include "ration/privacy/relation.h"

namespace ration {

std::string_view to_string(Relation relation) {
  return relation == Relation::add_remove ? "add_remove" : "replace_one";
}

}  // namespace ration
