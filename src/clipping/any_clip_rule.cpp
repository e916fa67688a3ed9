#include "ration/clipping/any_clip_rule.h"

#include <cmath>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using Rules = AnyClipRule::Rules;

template <class Rule>
void set_gamma(Rule& rule, double gamma) {
  if constexpr (requires { rule.gamma; }) rule.gamma = gamma;
}

// The rule at this place of the variant.
template <std::size_t place = 0>
AnyClipRule rule_at(std::size_t wanted, double R, double gamma) {
  if constexpr (place < std::variant_size_v<Rules>) {
    if (place != wanted) return rule_at<place + 1>(wanted, R, gamma);
    std::variant_alternative_t<place, Rules> rule;
    rule.R = R;
    set_gamma(rule, gamma);
    return rule;
  }
  throw InternalError("clip: no such rule");
}

}  // namespace

AnyClipRule AnyClipRule::of(ClipKind kind, double R, double gamma) {
  const ClipKind rule = kind == ClipKind::adaptive ? ClipKind::abadi : kind;
  return rule_at(static_cast<std::size_t>(rule), R, gamma);
}

void AnyClipRule::require_sound() const {
  visit([](const auto& rule) {
    require("clip", "R", rule.R, greater_than(0));
    if constexpr (requires { rule.gamma; }) require("clip", "gamma", rule.gamma, greater_than(0));
  });
}

double AnyClipRule::bound() const {
  return visit([](const auto& rule) { return rule.bound(); });
}

double AnyClipRule::sensitivity(Relation relation) const {
  return visit([=](const auto& rule) { return ration::sensitivity(rule, relation); });
}

AnyClipRule AnyClipRule::with_bound(double R) const {
  AnyClipRule out = visit([=](auto rule) {
    rule.R = R;
    return AnyClipRule(rule);
  });
  out.per_layer_ = per_layer_;
  return out;
}

AnyClipRule AnyClipRule::per_layer() const {
  AnyClipRule out = *this;
  out.per_layer_ = true;
  return out;
}

AnyClipRule AnyClipRule::of_layer(std::size_t layers) const {
  require("clip", "layers", static_cast<double>(layers), at_least(1));
  return with_bound(bound() / std::sqrt(static_cast<double>(layers)));
}

}  // namespace ration
