#include "privacy/event_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/quote.h"
#include "privacy/event_json_value.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using nlohmann::ordered_json;

constexpr int kDeepest = 32;

ordered_json array_of(const std::vector<Event>& parts) {
  ordered_json array = ordered_json::array();
  for (const Event& part : parts) array.push_back(to_json_value(part));
  return array;
}

// One event's object, with errors that name the event.
class Fields {
 public:
  explicit Fields(const ordered_json& json) : json_(json) {
    if (!json.is_object()) throw InputError("event: expected an object");
    const auto kind = json.find("event");
    if (kind == json.end() || !kind->is_string())
      throw InputError("event: expected the key 'event' with a name");
    kind_ = kind->get<std::string>();
  }

  const std::string& kind() const { return kind_; }

  // Nothing but these and 'event': a key that we do not know could change what the event means.
  void allow_only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : json_.items()) {
      const bool known = key == "event" || std::find(keys.begin(), keys.end(), key) != keys.end();
      if (!known) throw InputError(fmt::format("event '{}': unknown key {}", kind_, in_quotes(key)));
    }
  }
  double number(const char* key) const {
    const ordered_json& value = at(key);
    if (!value.is_number())
      throw InputError(fmt::format("event '{}': expected a number for '{}'", kind_, key));
    return value.get<double>();
  }
  std::int64_t whole_number(const char* key) const {
    const ordered_json& value = at(key);
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
    if (!fits) throw InputError(fmt::format("event '{}': expected a whole number for '{}'", kind_, key));
    return value.get<std::int64_t>();
  }
  bool has(const char* key) const { return json_.contains(key); }
  const ordered_json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end())
      throw InputError(fmt::format("event '{}': the key '{}' is missing", kind_, key));
    return *found;
  }

 private:
  const ordered_json& json_;
  std::string kind_;
};

Event read(const ordered_json& json, int depth);

std::vector<Event> read_parts(const Fields& fields, int depth) {
  const ordered_json& parts = fields.at("parts");
  if (!parts.is_array()) throw InputError("event 'composed': expected an array for 'parts'");
  std::vector<Event> events;
  for (const ordered_json& part : parts) events.push_back(read(part, depth + 1));
  return events;
}

Event read_one_parameter(const Fields& fields, const char* key, Event (*make)(double)) {
  fields.allow_only({key});
  return make(fields.number(key));
}

Event read_two_parameters(const Fields& fields, const char* first, const char* second,
                          Event (*make)(double, double)) {
  fields.allow_only({first, second});
  return make(fields.number(first), fields.number(second));
}

// Versions up to 0.2 did not write how many queries there may have been.
Event read_gaussian_search(const Fields& fields) {
  fields.allow_only({"threshold_noise", "query_noise", "queries"});
  const std::int64_t queries = fields.has("queries") ? fields.whole_number("queries") : 0;
  return Event::above_threshold_gaussian(fields.number("threshold_noise"), fields.number("query_noise"),
                                         queries);
}

Event read_sampled(const Fields& fields, int depth, Event (*make)(double, Event)) {
  fields.allow_only({"rate", "base"});
  return make(fields.number("rate"), read(fields.at("base"), depth + 1));
}

Event read_repeated(const Fields& fields, int depth) {
  fields.allow_only({"base", "count"});
  return Event::repeated(read(fields.at("base"), depth + 1), fields.whole_number("count"));
}

Event read_composed(const Fields& fields, int depth) {
  fields.allow_only({"parts"});
  return Event::composed(read_parts(fields, depth));
}

Event read_nothing(const Fields& fields) {
  fields.allow_only({});
  return Event::nothing();
}

Event read(const ordered_json& json, int depth) {
  if (depth > kDeepest) throw InputError(fmt::format("event: nested deeper than {}", kDeepest));
  const Fields fields(json);
  const std::string& kind = fields.kind();
  if (kind == "nothing") return read_nothing(fields);
  if (kind == "gaussian") return read_one_parameter(fields, "noise_multiplier", Event::gaussian);
  if (kind == "laplace") return read_one_parameter(fields, "scale", Event::laplace);
  if (kind == "pure_dp") return read_one_parameter(fields, "epsilon", Event::pure_dp);
  if (kind == "discrete_gaussian")
    return read_one_parameter(fields, "noise_multiplier", Event::discrete_gaussian);
  if (kind == "noisy_max") return read_one_parameter(fields, "epsilon", Event::noisy_max);
  if (kind == "bounded_range") return read_one_parameter(fields, "epsilon", Event::bounded_range);
  if (kind == "above_threshold_laplace") {
    return read_two_parameters(fields, "threshold_epsilon", "query_epsilon", Event::above_threshold_laplace);
  }
  if (kind == "above_threshold_gaussian") return read_gaussian_search(fields);
  if (kind == "poisson_sampled") return read_sampled(fields, depth, Event::poisson_sampled);
  if (kind == "fixed_size_sampled") return read_sampled(fields, depth, Event::fixed_size_sampled);
  if (kind == "composed") return read_composed(fields, depth);
  if (kind == "repeated") return read_repeated(fields, depth);
  throw InputError(fmt::format("event: unknown kind {}", in_quotes(kind)));
}

}  // namespace

ordered_json to_json_value(const Event& event) {
  using E = Event;
  using J = ordered_json;
  return visit(
      event,
      [](const E::Nothing&) {
        return J{{"event", "nothing"}};
      },
      [](const E::Gaussian& e) {
        return J{{"event", "gaussian"}, {"noise_multiplier", e.noise_multiplier}};
      },
      [](const E::Laplace& e) {
        return J{{"event", "laplace"}, {"scale", e.scale}};
      },
      [](const E::PureDp& e) {
        return J{{"event", "pure_dp"}, {"epsilon", e.epsilon}};
      },
      [](const E::AboveThresholdLaplace& e) {
        return J{{"event", "above_threshold_laplace"},
                 {"threshold_epsilon", e.threshold_epsilon},
                 {"query_epsilon", e.query_epsilon}};
      },
      [](const E::AboveThresholdGaussian& e) {
        J json{{"event", "above_threshold_gaussian"},
               {"threshold_noise", e.threshold_noise},
               {"query_noise", e.query_noise}};
        if (e.queries > 0) json["queries"] = e.queries;
        return json;
      },
      [](const E::DiscreteGaussian& e) {
        return J{{"event", "discrete_gaussian"}, {"noise_multiplier", e.noise_multiplier}};
      },
      [](const E::NoisyMax& e) {
        return J{{"event", "noisy_max"}, {"epsilon", e.epsilon}};
      },
      [](const E::BoundedRange& e) {
        return J{{"event", "bounded_range"}, {"epsilon", e.epsilon}};
      },
      [](const E::PoissonSampled& e) {
        return J{{"event", "poisson_sampled"}, {"rate", e.rate}, {"base", to_json_value(e.base)}};
      },
      [](const E::FixedSizeSampled& e) {
        return J{{"event", "fixed_size_sampled"}, {"rate", e.rate}, {"base", to_json_value(e.base)}};
      },
      [](const E::Composed& e) {
        return J{{"event", "composed"}, {"parts", array_of(e.parts)}};
      },
      [](const E::Repeated& e) {
        return J{{"event", "repeated"}, {"count", e.count}, {"base", to_json_value(e.base)}};
      });
}

Event event_from_json_value(const ordered_json& json) {
  return read(json, 0);
}

std::string to_json(const Event& event) {
  return to_json_value(event).dump();
}

Event event_from_json(std::string_view text) {
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) throw InputError("event: not valid JSON");
  return event_from_json_value(json);
}

}  // namespace ration
