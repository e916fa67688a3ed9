#include "ration/clipping/any_clip_rule.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"abadi", "auto-v",
                                                    "auto-s"};  // in the order of the variant

template <class Rule>
Rule checked(Rule rule) {
  require("clip", "R", rule.R, greater_than(0));
  return rule;
}

AutoS checked(AutoS rule) {
  require("clip", "R", rule.R, greater_than(0));
  require("clip", "gamma", rule.gamma, greater_than(0));
  return rule;
}

}  // namespace

AnyClipRule::AnyClipRule(Abadi rule) : rule_(checked(rule)) {}
AnyClipRule::AnyClipRule(AutoV rule) : rule_(checked(rule)) {}
AnyClipRule::AnyClipRule(AutoS rule) : rule_(checked(rule)) {}

AnyClipRule AnyClipRule::named(std::string_view name, double R, double gamma) {
  if (name == kNames[0]) return Abadi{.R = R};
  if (name == kNames[1]) return AutoV{.R = R};
  if (name == kNames[2]) return AutoS{.R = R, .gamma = gamma};
  throw InputError(fmt::format("clip: expected one of abadi, auto-v, auto-s, got '{}'", name));
}

std::string_view AnyClipRule::name() const {
  return kNames[rule_.index()];
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
