// A protector as JSON. Every complaint names the file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/quote.h"
#include "methods/protector.h"
#include "methods/protector/step_formulas.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "ration protector";
constexpr int kFormatVersion = 1;

// Six digits: what training found is no more exact than that, and the file is half as long.
ordered_json rounded(const std::vector<float>& weights) {
  ordered_json list = ordered_json::array();
  for (const float weight : weights)
    list.push_back(std::strtod(fmt::format("{:.6g}", weight).c_str(), nullptr));
  return list;
}

ordered_json content_of(const Protector& protector) {
  const ProtectorOrigin& origin = protector.origin;
  ordered_json out;
  out["format"] = kFormat;
  out["version"] = kFormatVersion;
  out["made_by"] = origin.version;
  out["tasks"] = origin.tasks;
  out["model"] = origin.model;
  out["epsilon"] = origin.epsilon;
  out["delta"] = origin.delta;
  out["steps"] = origin.steps;
  out["rate"] = origin.rate;
  out["clip_bound"] = origin.clip_bound;
  out["epochs"] = origin.epochs;
  out["validation_loss"] = origin.validation_loss;
  out["untrained_loss"] = origin.untrained_loss;
  out["data_sha256"] = origin.data_hashes;
  out["units"] = protector.units;
  out["output_scale"] = protector.output_scale;
  out["norm"] = to_string(protector.norm);
  out["norm_noise_ratio"] = protector.norm_noise_ratio;
  out["scheduler"] = rounded(protector.scheduler);
  out["projector"] = rounded(protector.projector);
  return out;
}

[[noreturn]] void refuse(const std::string& where, const std::string& message) {
  throw InputError(fmt::format("{}: {}", where, message));
}

ordered_json parsed(std::string_view text, const std::string& where) {
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::exception&) {
    refuse(where, "not a protector: not valid JSON; is the file whole?");
  }
}

void require_format(const ordered_json& json, const std::string& where) {
  if (!json.is_object() || json.value("format", ordered_json()) != kFormat)
    refuse(where, fmt::format("not a protector: expected format = \"{}\"", kFormat));
  const ordered_json version = json.value("version", ordered_json());
  if (version == kFormatVersion) return;
  refuse(where, fmt::format("expected protector version {}, got {}; train it again with this program",
                            kFormatVersion, one_short_line(version.dump())));
}

// The hash is of the text that this program writes for the rest.
void require_whole(ordered_json json, const std::string& where) {
  const ordered_json hash = json.value("sha256", ordered_json());
  json.erase("sha256");
  if (hash == sha256(json.dump())) return;
  refuse(where, "damaged: its content does not have the sha256 that it states");
}

Protector protector_of(const ordered_json& json) {
  Protector out;
  ProtectorOrigin& origin = out.origin;
  json.at("made_by").get_to(origin.version);
  json.at("tasks").get_to(origin.tasks);
  json.at("model").get_to(origin.model);
  json.at("epsilon").get_to(origin.epsilon);
  json.at("delta").get_to(origin.delta);
  json.at("steps").get_to(origin.steps);
  json.at("rate").get_to(origin.rate);
  json.at("clip_bound").get_to(origin.clip_bound);
  json.at("epochs").get_to(origin.epochs);
  json.at("validation_loss").get_to(origin.validation_loss);
  json.at("untrained_loss").get_to(origin.untrained_loss);
  json.at("data_sha256").get_to(origin.data_hashes);
  json.at("units").get_to(out.units);
  json.at("output_scale").get_to(out.output_scale);
  out.norm = named<NormSource>(json.at("norm").get<std::string>());
  json.at("norm_noise_ratio").get_to(out.norm_noise_ratio);
  json.at("scheduler").get_to(out.scheduler);
  json.at("projector").get_to(out.projector);
  return out;
}

void require_weights(const std::vector<float>& weights, std::size_t expected, std::string_view name,
                     std::string_view where) {
  if (weights.size() != expected)
    throw InputError(
        fmt::format("{}: expected {} numbers in {}, got {}", where, expected, name, weights.size()));
  if (!std::all_of(weights.begin(), weights.end(), [](float weight) { return std::isfinite(weight); }))
    throw InputError(fmt::format("{}: a number in {} is not finite", where, name));
}

}  // namespace

void require_sound(const Protector& protector, std::string_view where) {
  const auto require_number = [&](const char* name, double value, double most) {
    if (value > 0 && value <= most) return;
    throw InputError(fmt::format("{}: expected 0 < {} <= {}, got {}", where, name, most, value));
  };
  require_number("units", static_cast<double>(protector.units), 64);
  require_number("output_scale", protector.output_scale, 1e6);
  require_number("norm_noise_ratio", protector.norm_noise_ratio, 1e6);
  require_number("steps", static_cast<double>(protector.origin.steps), 1e9);
  require_number("rate", protector.origin.rate, 1);
  require_number("clip_bound", protector.origin.clip_bound, 1e200);
  require_weights(protector.projector, protector::projector_shape(protector).parameters(), "projector",
                  where);
  if (protector.scheduler.empty()) return;
  require_weights(protector.scheduler, protector::scheduler_shape(protector).parameters(), "scheduler",
                  where);
}

void require_independent(const Protector& protector, std::string_view data_hash) {
  const std::vector<std::string>& seen = protector.origin.data_hashes;
  if (std::find(seen.begin(), seen.end(), data_hash) == seen.end()) return;
  throw InputError(
      fmt::format("protector: it was trained on these very rows (sha256 {}...), so that it is not "
                  "independent of them and no "
                  "guarantee would hold; use a protector made from other data",
                  data_hash.substr(0, 12)));
}

std::string sha256_of(const Protector& protector) {
  return sha256(content_of(protector).dump());
}

std::string to_json(const Protector& protector) {
  ordered_json json = content_of(protector);
  json["sha256"] = sha256(json.dump());
  return json.dump() + "\n";
}

Protector protector_from_json(std::string_view text, const std::string& where) {
  const ordered_json json = parsed(text, where);
  require_format(json, where);
  require_whole(json, where);
  try {
    Protector protector = protector_of(json);
    require_sound(protector, where);
    return protector;
  } catch (const ordered_json::exception& error) {
    refuse(where, fmt::format("not a protector: {}", one_short_line(error.what())));
  }
}

Protector read_protector(const std::string& path) {
  return protector_from_json(read_file(path), path);
}

}  // namespace ration
