#pragma once

#include <optional>
#include <string>

namespace ration::data {

// For rows that are named without a schema: of the schemas of public data sets that come with the program
// (examples/NAME/schema.toml), the one with the name of the folder that the rows lie in, if there is any.
// Names are compared and nothing else, so that the choice tells nothing about a row; and a schema that lies
// beside the rows, which may have been read off them, is never taken unasked.
std::optional<std::string> find_schema(const std::string& data);

}  // namespace ration::data
