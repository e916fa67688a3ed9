#include "train/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/quote.h"
#include "base/secret_key.h"
#include "privacy/event_json.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "ration checkpoint";
constexpr int kVersion = 2;  // 1 had no seal

json ledger_json(const HeldReservation& held) {
  return {{"file", held.entry.file},
          {"run", held.entry.run},
          {"epsilon", held.entry.reserved.epsilon},
          {"delta", held.entry.reserved.delta},
          {"tokens", held.tokens}};
}

HeldReservation ledger_from(const json& object) {
  return {.entry = {.file = object.at("file"),
                    .run = object.at("run"),
                    .reserved = {object.at("epsilon"), object.at("delta")}},
          .tokens = object.at("tokens")};
}

Checkpoint checkpoint_from(const json& object, const std::string& file) {
  if (object.at("format") != kFormat || object.at("version") != kVersion) {
    throw InputError(fmt::format("{}: expected a {} of version {}", file, kFormat, kVersion));
  }
  Checkpoint out;
  out.plan_hash = object.at("plan_hash");
  out.data_hash = object.at("data_hash");
  out.data_place = object.value("data_place", "");
  out.ledger_place = object.value("ledger_place", "");
  out.secure_random = object.at("secure_random");
  out.count_asked = object.at("count_asked");
  out.at_work = object.value("at_work", false);
  out.training.charged = object.at("charged");
  if (object.contains("noisy_rows")) out.training.noisy_rows = object.at("noisy_rows").get<double>();
  if (object.contains("row_mean")) out.training.row_mean = object.at("row_mean").get<std::vector<double>>();
  if (object.contains("released")) out.training.released = event_from_json(object.at("released").dump());
  if (object.contains("assumed")) out.training.assumed = object.at("assumed").get<std::vector<std::string>>();
  out.training.method = object.at("method").get<MethodState>();
  if (object.contains("ledger")) out.ledger = ledger_from(object.at("ledger"));
  return out;
}

// What to_json() writes: the seal is the last member, followed by the end of the object and of the line.
constexpr std::string_view kSealBegins = R"(,"seal":")";

std::string sealed(std::string text, std::string_view mark) {
  text.pop_back();
  return fmt::format(R"({}{}{}"}})"
                     "\n",
                     text, kSealBegins, mark);
}

// The bytes that a seal is over; all of them if there is none.
std::string without_seal(std::string_view bytes) {
  const std::size_t at = bytes.rfind(kSealBegins);
  return at == std::string_view::npos ? std::string(bytes) : std::string(bytes.substr(0, at)) + "}";
}

void require_seal(std::string_view bytes, const Sealer& seal, const std::string& file) {
  if (!bytes.starts_with('{')) throw InputError(fmt::format("{}: not a checkpoint: not a JSON object", file));
  const std::string text = without_seal(bytes);
  const std::string mark = seal ? seal(text) : "";
  if (mark.empty()) {
    throw InputError(
        fmt::format("{}: cannot tell whether this checkpoint was changed: there is no key. A run "
                    "without a ledger needs one in $XDG_STATE_HOME or ~/.local/state, from its "
                    "beginning on",
                    file));
  }
  if (same_mark(sealed(text, mark), bytes)) return;
  throw InputError(
      fmt::format("{}: was changed since it was written, or written with another key: a run goes on "
                  "only from what it wrote, with its own ledger, and without a ledger only for the "
                  "user who began it",
                  file));
}

}  // namespace

std::string to_json(const Checkpoint& checkpoint, const Sealer& seal) {
  json object{{"format", kFormat},
              {"version", kVersion},
              {"plan_hash", checkpoint.plan_hash},
              {"data_hash", checkpoint.data_hash},
              {"secure_random", checkpoint.secure_random},
              {"count_asked", checkpoint.count_asked},
              {"charged", checkpoint.training.charged},
              {"method", checkpoint.training.method}};
  if (!checkpoint.data_place.empty()) object["data_place"] = checkpoint.data_place;
  if (!checkpoint.ledger_place.empty()) object["ledger_place"] = checkpoint.ledger_place;
  if (checkpoint.at_work) object["at_work"] = true;
  if (checkpoint.training.released) object["released"] = json::parse(to_json(*checkpoint.training.released));
  if (checkpoint.training.noisy_rows) object["noisy_rows"] = *checkpoint.training.noisy_rows;
  if (!checkpoint.training.assumed.empty()) object["assumed"] = checkpoint.training.assumed;
  if (checkpoint.training.row_mean) object["row_mean"] = *checkpoint.training.row_mean;
  if (checkpoint.ledger) object["ledger"] = ledger_json(*checkpoint.ledger);
  const std::string text = object.dump();
  const std::string mark = seal ? seal(text) : "";
  return mark.empty() ? text + "\n" : sealed(text, mark);
}

Checkpoint checkpoint_from_json(std::string_view text, const std::string& file) {
  try {
    return checkpoint_from(json::parse(text), file);
  } catch (const json::exception& error) {
    throw InputError(fmt::format("{}: not a checkpoint: {}", file, one_short_line(error.what())));
  }
}

StoredCheckpoint::StoredCheckpoint(std::string bytes, std::string file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {}

// The seal is over the bytes before it, exactly as they lie there: no other text of the same values will do.
Checkpoint StoredCheckpoint::open(const Sealer& seal) const {
  require_seal(bytes_, seal, file_);
  return checkpoint_from_json(bytes_, file_);
}

}  // namespace ration
