#pragma once

#include <optional>
#include <string>

#include "ration/clipping/any_clip_rule.h"
#include "ration/train/plan.h"

namespace ration {

// How recipes read a plan.

template <class Value>
void set_if_open(std::optional<Value>& setting, const Value& usual) {
  if (!setting) setting = usual;
}

inline void choose_if_auto(std::string& setting, const std::string& usual) {
  if (setting == "auto") setting = usual;
}

// 'adaptive' begins as 'abadi'.
inline AnyClipRule clip_of(const Plan& plan) {
  const std::string& name = plan.clip == "adaptive" ? "abadi" : plan.clip;
  const AnyClipRule rule = AnyClipRule::named(name, *plan.clip_bound, plan.clip_gamma);
  return plan.per_layer ? rule.per_layer() : rule;
}

}  // namespace ration
