#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "ration/clipping/abadi.h"
#include "ration/clipping/auto_s.h"
#include "ration/clipping/auto_v.h"

namespace ration {

// A clip rule chosen at run time. An inner loop asks once which one it is (`visit`) and then runs on that
// rule. Throws InputError unless R > 0 and gamma > 0.
class AnyClipRule {
 public:
  AnyClipRule(Abadi rule);  // NOLINT: a rule is a rule
  AnyClipRule(AutoV rule);  // NOLINT
  AnyClipRule(AutoS rule);  // NOLINT

  // "abadi", "auto-v" or "auto-s"; gamma counts for the last only.
  static AnyClipRule named(std::string_view name, double R, double gamma);

  std::string_view name() const;
  double bound() const;
  // Of the sum of clipped gradients, in L2.
  double sensitivity(Relation relation) const;
  // The same rule with another bound > 0.
  AnyClipRule with_bound(double R) const;

  // Calls `use` with the rule itself.
  template <class Use>
  decltype(auto) visit(Use&& use) const {
    return std::visit(std::forward<Use>(use), rule_);
  }

 private:
  std::variant<Abadi, AutoV, AutoS> rule_;
};

}  // namespace ration
