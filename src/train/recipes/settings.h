#pragma once

#include <optional>
#include <string>
#include <string_view>

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

// A model's name may begin with how it sees images: "scatter+softmax" is a softmax loss on their scattering
// transform.
inline constexpr std::string_view kScatter = "scatter+";
inline bool sees_scattering(const Plan& plan) {
  return plan.model.starts_with(kScatter);
}
inline std::string loss_of(const Plan& plan) {
  return sees_scattering(plan) ? plan.model.substr(kScatter.size()) : plan.model;
}

// 'adaptive' begins as 'abadi'.
inline AnyClipRule clip_of(const Plan& plan) {
  const std::string& name = plan.clip == "adaptive" ? "abadi" : plan.clip;
  const AnyClipRule rule = AnyClipRule::named(name, *plan.clip_bound, plan.clip_gamma);
  return plan.per_layer ? rule.per_layer() : rule;
}

}  // namespace ration
