#include "train/private_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/quote.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using nlohmann::ordered_json;

constexpr const char* kAbout =
    "lets 'ration evaluate --public' refuse the rows of this run; says nothing without the key of the user "
    "who trained it";

std::string mark_of(const std::string& hash, const std::string& salt, const SecretKey& key) {
  return key.mark("private rows", salt + " " + hash);
}

}  // namespace

std::string private_rows_text(std::span<const std::string> content_hashes, const SecretKey& key) {
  const std::string salt = SecretKey::fresh().hexadecimal();
  ordered_json marks = ordered_json::array();
  for (const std::string& hash : content_hashes) marks.push_back(mark_of(hash, salt, key));
  return ordered_json{{"about", kAbout}, {"salt", salt}, {"marks", marks}}.dump(2) + "\n";
}

bool lists_private_rows(std::string_view text, std::span<const std::string> content_hashes,
                        const SecretKey& key, const std::string& file) {
  try {
    const ordered_json object = ordered_json::parse(text);
    const std::string salt = object.at("salt");
    const std::vector<std::string> marks = object.at("marks");
    return std::any_of(content_hashes.begin(), content_hashes.end(), [&](const std::string& hash) {
      return std::find(marks.begin(), marks.end(), mark_of(hash, salt, key)) != marks.end();
    });
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: expected a salt and marks: {}", file, one_short_line(error.what())));
  }
}

}  // namespace ration
