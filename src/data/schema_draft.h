#pragma once

#include <string>
#include <vector>

namespace ration::data {

// Drafts a schema from a PUBLIC sample of a delimited file: guesses delimiter, types, bounds, categories and
// marks of missing values, and returns TOML with a comment that says what it did.
//
// Not private   It reads every value and writes smallest, largest and all categories down. On private rows
//               this would spend an unlimited budget: use it on public data, or replace every bound and list
//               by public knowledge.
// `names` are the columns in order; empty if the file's first line names them.
// Decisions     sampled_column.h lists them; each has a comment in the draft.
std::string draft_schema(const std::string& path, const std::string& target,
                         const std::vector<std::string>& names = {});

// The columns of a delimited file in order: as its first line names them, or c0, c1, ... if that line holds
// numbers only.
std::vector<std::string> column_names(const std::string& path);
bool first_line_names_columns(const std::string& path);

// One column name per line; blank lines do not count.
std::vector<std::string> read_names(const std::string& path);

}  // namespace ration::data
