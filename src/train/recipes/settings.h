#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>

#include "ration/clipping/any_clip_rule.h"
#include "ration/train/plan.h"
#include "steps/averaging.h"
#include "train/method_plan.h"

namespace ration {

// How recipes read a plan.

template <class Value>
void set_if_open(std::optional<Value>& setting, const Value& usual) {
  if (!setting) setting = usual;
}

// Settings that belong together (method_plan.h).
inline Settings joined(std::initializer_list<Settings> parts) {
  Settings all;
  for (const Settings& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
inline Settings clip_settings() {
  return {"clip", "clip_bound", "clip_gamma", "per_layer"};
}
inline Settings average_settings() {
  return {"average", "average_decay"};
}

inline AnyClipRule clip_of(const Plan& plan) {
  const AnyClipRule rule = AnyClipRule::of(plan.clip.value(), *plan.clip_bound, plan.clip_gamma);
  return plan.per_layer ? rule.per_layer() : rule;
}

inline std::string describe(const AnyClipRule& rule) {
  const std::string text = rule.visit([](const auto& one) {
    if constexpr (requires { one.gamma; }) return fmt::format("{} gamma {}", one.R, one.gamma);
    return fmt::format("{}", one.R);
  });
  return fmt::format("clip {} {} {}", rule.name(), text, rule.is_per_layer());
}
inline std::string describe(const AverageOptions& average) {
  return fmt::format("average {} {}", to_string(average.kind), average.decay);
}

}  // namespace ration
