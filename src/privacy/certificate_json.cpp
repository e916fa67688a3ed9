#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "privacy/event_json_value.h"
#include "ration/base/error.h"
#include "ration/privacy/certificate.h"

namespace ration {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "ration certificate";
constexpr int kFormatVersion = 1;
constexpr const char* kSecure = "secure";
constexpr const char* kSeeded = "NOT PRIVATE: seeded noise";
constexpr const char* kNoLedger = "no ledger";

double finite(const char* key, double value) {
  if (std::isfinite(value)) return value;
  throw InputError(fmt::format("certificate: '{}' is {}; there is no guarantee to certify", key, value));
}

// Of what is not private there is none.
ordered_json epsilon_to_json(const char* key, double epsilon, const Certificate& certificate) {
  if (!certificate.not_private.empty()) return nullptr;
  return finite(key, epsilon);
}

ordered_json events_to_json(const std::vector<CountedEvent>& events) {
  ordered_json array = ordered_json::array();
  for (const CountedEvent& one : events) {
    array.push_back(
        {{"count", one.count}, {"what", one.event.describe()}, {"mechanism", to_json_value(one.event)}});
  }
  return array;
}

ordered_json ledger_to_json(const std::optional<LedgerEntry>& entry) {
  if (!entry) return kNoLedger;
  return {{"file", entry->file},
          {"run", entry->run},
          {"reserved_epsilon", finite("reserved_epsilon", entry->reserved.epsilon)},
          {"reserved_delta", finite("reserved_delta", entry->reserved.delta)}};
}

// What was added after ration 0.2; of an older certificate there is nothing to write.
void write_binding(const Certificate& certificate, ordered_json& json) {
  if (certificate.budget) {
    json["budget"] = {{"epsilon", finite("budget.epsilon", certificate.budget->epsilon)},
                      {"delta", finite("budget.delta", certificate.budget->delta)}};
  }
  if (!certificate.date.empty()) json["date"] = certificate.date;
  if (!certificate.data.empty()) json["data"] = certificate.data;
  if (!certificate.model.empty()) json["model"] = certificate.model;
  for (const BoundFile& file : certificate.files)
    json["files"].push_back({{"name", file.name}, {"sha256", file.sha256}});
  if (certificate.budget || !certificate.cautions.empty()) json["cautions"] = certificate.cautions;
}

ordered_json groups_to_json(const std::vector<GroupGuarantee>& groups) {
  ordered_json array = ordered_json::array();
  for (const GroupGuarantee& group : groups) {
    array.push_back({{"rows", group.rows},
                     {"epsilon", nullptr},
                     {"delta", finite("groups.delta", group.delta)},
                     {"by", group.by}});
    if (group.epsilon) array.back()["epsilon"] = finite("groups.epsilon", *group.epsilon);
  }
  return array;
}

[[noreturn]] void refuse(std::string_view key, std::string_view expected) {
  throw InputError(fmt::format("certificate: expected {} for '{}'", expected, key));
}

const ordered_json& at(const ordered_json& json, const char* key) {
  if (!json.is_object()) throw InputError("certificate: expected a JSON object");
  const auto found = json.find(key);
  if (found == json.end()) throw InputError(fmt::format("certificate: the key '{}' is missing", key));
  return *found;
}

double number(const ordered_json& json, const char* key) {
  const ordered_json& value = at(json, key);
  if (!value.is_number()) refuse(key, "a number");
  return value.get<double>();
}

double epsilon_from(const ordered_json& json, const char* key, const Certificate& certificate) {
  return certificate.not_private.empty() ? number(json, key) : std::numeric_limits<double>::infinity();
}

std::int64_t integer(const ordered_json& json, const char* key) {
  const ordered_json& value = at(json, key);
  const bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
  if (!fits) refuse(key, "a whole number");
  return value.get<std::int64_t>();
}

std::string text(const ordered_json& json, const char* key) {
  const ordered_json& value = at(json, key);
  if (!value.is_string()) refuse(key, "a text");
  return value.get<std::string>();
}

const ordered_json& array(const ordered_json& json, const char* key) {
  const ordered_json& value = at(json, key);
  if (!value.is_array()) refuse(key, "a list");
  return value;
}

std::vector<std::string> texts(const ordered_json& json, const char* key) {
  std::vector<std::string> out;
  for (const ordered_json& one : array(json, key)) {
    if (!one.is_string()) refuse(key, "a list of texts");
    out.push_back(one.get<std::string>());
  }
  return out;
}

std::vector<CountedEvent> read_events(const ordered_json& json) {
  std::vector<CountedEvent> out;
  for (const ordered_json& one : array(json, "events")) {
    const std::int64_t count = integer(one, "count");
    if (count < 0) refuse("count", "a whole number >= 0");
    out.push_back({event_from_json_value(at(one, "mechanism")), count});
  }
  return out;
}

bool read_random_source(const ordered_json& json) {
  const std::string source = text(json, "random_source");
  if (source != kSecure && source != kSeeded)
    refuse("random_source", fmt::format("'{}' or '{}'", kSecure, kSeeded));
  return source == kSecure;
}

std::optional<LedgerEntry> read_ledger(const ordered_json& json) {
  const ordered_json& entry = at(json, "ledger");
  if (entry == kNoLedger) return std::nullopt;
  if (!entry.is_object()) refuse("ledger", fmt::format("an object or '{}'", kNoLedger));
  return LedgerEntry{.file = text(entry, "file"),
                     .run = integer(entry, "run"),
                     .reserved = {number(entry, "reserved_epsilon"), number(entry, "reserved_delta")}};
}

std::optional<double> read_lower(const ordered_json& json) {
  if (at(json, "epsilon_lower").is_null()) return std::nullopt;
  return number(json, "epsilon_lower");
}

void read_binding(const ordered_json& json, Certificate& out) {
  if (json.contains("budget")) {
    const ordered_json& budget = json["budget"];
    out.budget = Budget{number(budget, "epsilon"), number(budget, "delta")};
  }
  if (json.contains("date")) out.date = text(json, "date");
  if (json.contains("data")) out.data = text(json, "data");
  if (json.contains("model")) out.model = text(json, "model");
  if (json.contains("files")) {
    for (const ordered_json& file : array(json, "files"))
      out.files.push_back({text(file, "name"), text(file, "sha256")});
  }
  if (json.contains("cautions")) out.cautions = texts(json, "cautions");
}

std::vector<GroupGuarantee> read_groups(const ordered_json& json) {
  std::vector<GroupGuarantee> out;
  if (!json.contains("groups")) return out;
  for (const ordered_json& one : array(json, "groups")) {
    const std::int64_t rows = integer(one, "rows");
    if (rows < 1 || rows > INT32_MAX) refuse("rows", "a whole number >= 1");
    GroupGuarantee group{.rows = static_cast<int>(rows),
                         .epsilon = std::nullopt,
                         .delta = number(one, "delta"),
                         .by = text(one, "by")};
    if (!at(one, "epsilon").is_null()) group.epsilon = number(one, "epsilon");
    out.push_back(std::move(group));
  }
  return out;
}

void require_format(const ordered_json& json) {
  if (text(json, "format") != kFormat) refuse("format", fmt::format("'{}'", kFormat));
  const std::int64_t version = integer(json, "format_version");
  if (version == kFormatVersion) return;
  throw InputError(fmt::format("certificate: it has format version {}, this program knows version {}",
                               version, kFormatVersion));
}

}  // namespace

std::string to_json(const Certificate& certificate) {
  ordered_json json{
      {"format", kFormat},
      {"format_version", kFormatVersion},
      {"epsilon", epsilon_to_json("epsilon", certificate.epsilon, certificate)},
      {"delta", finite("delta", certificate.delta)},
      {"relation", to_string(certificate.relation)},
      {"unit_of_privacy", certificate.unit_of_privacy},
      {"accountant", to_string(certificate.accountant)},
      {"spending_by", to_string(certificate.spending_by)},
      {"epsilon_of_events", epsilon_to_json("epsilon_of_events", certificate.epsilon_of_events, certificate)},
      {"epsilon_lower", nullptr},
      {"events", events_to_json(certificate.events)},
      {"assumed_public", certificate.assumed_public},
      {"not_covered", certificate.not_covered},
      {"random_source", certificate.secure_random ? kSecure : kSeeded},
      {"ledger", ledger_to_json(certificate.ledger)},
      {"version", certificate.version},
      {"data_hash", certificate.data_hash},
  };
  if (!certificate.not_private.empty()) json["not_private"] = certificate.not_private;
  if (!certificate.instruction_set.empty()) json["instruction_set"] = certificate.instruction_set;
  if (certificate.random_words > 0) {
    json["random_words"] = finite("random_words", certificate.random_words);
    json["sampler_delta"] = nullptr;
  }
  if (certificate.sampler_delta) json["sampler_delta"] = finite("sampler_delta", *certificate.sampler_delta);
  if (certificate.epsilon_lower) json["epsilon_lower"] = finite("epsilon_lower", *certificate.epsilon_lower);
  write_binding(certificate, json);
  if (!certificate.unit.empty()) {
    json["unit"] = certificate.unit;
    json["rows_per_unit"] = certificate.rows_per_unit;
  }
  if (!certificate.groups.empty()) json["groups"] = groups_to_json(certificate.groups);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Certificate certificate_from_json(std::string_view content) {
  const ordered_json json = ordered_json::parse(content, nullptr, false);
  if (json.is_discarded()) throw InputError("certificate: not valid JSON");
  require_format(json);
  Certificate out;
  if (json.contains("not_private")) out.not_private = text(json, "not_private");
  out.epsilon = epsilon_from(json, "epsilon", out);
  out.delta = number(json, "delta");
  out.relation = named<Relation>(text(json, "relation"));
  out.unit_of_privacy = text(json, "unit_of_privacy");
  out.accountant = named<Accountant>(text(json, "accountant"));
  out.spending_by = named<SpendingBy>(text(json, "spending_by"));
  out.epsilon_of_events = epsilon_from(json, "epsilon_of_events", out);
  out.epsilon_lower = read_lower(json);
  out.events = read_events(json);
  out.assumed_public = texts(json, "assumed_public");
  out.not_covered = texts(json, "not_covered");
  out.secure_random = read_random_source(json);
  out.ledger = read_ledger(json);
  out.version = text(json, "version");
  out.data_hash = text(json, "data_hash");
  if (json.contains("instruction_set")) out.instruction_set = text(json, "instruction_set");
  read_binding(json, out);
  out.groups = read_groups(json);
  if (json.contains("unit")) {
    out.unit = text(json, "unit");
    out.rows_per_unit = integer(json, "rows_per_unit");
    if (out.unit.empty() || out.rows_per_unit < 1) refuse("unit", "a column's name, and rows_per_unit >= 1");
  }
  if (json.contains("random_words")) out.random_words = number(json, "random_words");
  if (json.contains("sampler_delta") && !json["sampler_delta"].is_null())
    out.sampler_delta = number(json, "sampler_delta");
  return out;
}

}  // namespace ration
