#pragma once

#include <string>
#include <string_view>

#include "ration/data/schema.h"
#include "ration/data/table.h"
#include "support/draw.h"
#include "support/fuzz.h"

namespace ration::fuzz {

inline data::ReadOptions draw_read_options(Draw& draw) {
  const std::uint8_t byte = draw.byte();
  return {.labels = (byte & 1) == 0, .on_bad_row = static_cast<data::OnBadRow>(byte / 2 % 3)};
}

// What every table holds, whatever the file does: the columns that the schema announces, finite numbers,
// those between 0 and 1 that were scaled, no row longer than its bound, labels that are classes.
void check_table(const data::Table& table, const data::Schema& schema, const data::ReadOptions& options);

// Reads a table or refuses it, and checks what was read.
void read_and_check(const std::string& path, const data::Schema& schema, const data::ReadOptions& options);

}  // namespace ration::fuzz
