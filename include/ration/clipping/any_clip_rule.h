// For extensions: may change between minor versions.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

#include "ration/clipping/abadi.h"
#include "ration/clipping/auto_s.h"
#include "ration/clipping/auto_v.h"
#include "ration/clipping/kinds.h"

namespace ration {

// A clip rule chosen at run time. An inner loop asks once which one it is (`visit`) and then runs on that
// rule. Throws InputError unless R > 0 and gamma > 0.
class AnyClipRule {
 public:
  // Each place has the number of its ClipKind.
  using Rules = std::variant<Abadi, AutoV, AutoS>;

  // Takes a rule as it is. (Whether this class is one is not asked: its copies would depend on the answer.)
  template <class Rule>
  requires(!std::same_as<Rule, AnyClipRule> && ClipRule<Rule>) AnyClipRule(Rule rule)
      : rule_(rule) {  // NOLINT: a rule is a rule
    require_sound();
  }

  // gamma counts for auto-s only; adaptive begins as abadi (clipping/adaptive.h).
  static AnyClipRule of(ClipKind kind, double R, double gamma);

  // Which rule it is, and its name.
  ClipKind kind() const { return static_cast<ClipKind>(rule_.index()); }
  std::string_view name() const { return to_string(kind()); }  // of the kind
  // The longest contribution of a row.
  double bound() const;
  // Of the sum of clipped gradients, in L2.
  double sensitivity(Relation relation) const;
  // The same rule with another bound > 0.
  AnyClipRule with_bound(double R) const;

  // The same rule for each layer of a network by itself: each of L layers is clipped to R / sqrt(L), so that
  // a whole gradient has a norm of at most R as before (joint_bound), and the sensitivity is the same. A
  // linear model is one layer. [McMahan18, Sec. 2]
  AnyClipRule per_layer() const;
  // Whether per_layer() made it.
  bool is_per_layer() const { return per_layer_; }
  // What one of `layers` >= 1 layers is clipped by.
  AnyClipRule of_layer(std::size_t layers) const;

  // Calls `use` with the rule itself.
  template <class Use>
  decltype(auto) visit(Use&& use) const {
    return std::visit(std::forward<Use>(use), rule_);
  }

 private:
  void require_sound() const;

  Rules rule_;
  bool per_layer_ = false;
};

}  // namespace ration
