#include "data/data_hash.h"

#include "data/content_hash.h"
#include "data/named_data.h"

namespace ration::data {
namespace {

constexpr std::string_view kKeyed = "hmac-sha256 ";

}  // namespace

std::string stated_data_hash(const std::string& content_hash, const Ledger* ledger, bool asked_for) {
  if (asked_for) return content_hash;
  return ledger == nullptr ? "" : std::string(kKeyed) + ledger->fingerprint(content_hash);
}

bool is_plain_data_hash(std::string_view stated) {
  return !stated.empty() && !stated.starts_with(kKeyed);
}

std::string_view fingerprint_in(std::string_view stated) {
  return stated.starts_with(kKeyed) ? stated.substr(kKeyed.size()) : std::string_view();
}

std::optional<bool> same_data(std::string_view stated, const std::string& data, const Ledger* ledger) {
  if (stated.empty()) return std::nullopt;
  const bool plain = is_plain_data_hash(stated);
  if (!plain && ledger == nullptr) return std::nullopt;
  const std::string content = content_hash(files_of(data));
  return plain ? stated == content : fingerprint_in(stated) == ledger->fingerprint(content);
}

}  // namespace ration::data
