#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/secret_key.h"

namespace ration {

// The file of a run's folder by which the program of the same user knows the rows that the run was trained
// on: their content hashes, marked with the user's key (base/user_key.h) and a salt. It says nothing to
// anybody else, so a folder can be given away with it.
constexpr const char* kPrivateRows = "private-rows.json";

std::string private_rows_text(std::span<const std::string> content_hashes, const SecretKey& key);

// Whether one of the hashes is in such a text, by this key. InputError naming `file` if it is not such a
// text.
bool lists_private_rows(std::string_view text, std::span<const std::string> content_hashes,
                        const SecretKey& key, const std::string& file);

}  // namespace ration
