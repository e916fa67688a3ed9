// Stable: changes only with a new major version.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

// The ways to add up events. Each is a theorem with its own conditions; asking for a combination of sampler,
// relation and accountant that no theorem covers is an InputError that says what would work.
enum class Accountant {
  rdp,       // Renyi DP, minimised over the order, tight conversion; the default
  pld,       // privacy loss distributions, pessimistic and optimistic; plans fixed before the run
  zcdp,      // zero-concentrated DP
  tcdp,      // truncated concentrated DP, with amplification for fixed-size subsets
  gdp,       // Gaussian DP: exact for full batch, a central-limit approximation when sampled
  advanced,  // advanced composition of (epsilon, delta) pairs: the papers' baseline
  moments,   // the first moments accountant: Renyi DP at whole orders, classic conversion; a baseline too.
             // No plan costs it less than ln(1/delta) / 32.
};

// All of them, the default first.
inline constexpr std::array kAccountants = {Accountant::rdp,    Accountant::pld, Accountant::zcdp,
                                            Accountant::tcdp,   Accountant::gdp, Accountant::advanced,
                                            Accountant::moments};

// As accountant_from_string() takes it.
std::string_view to_string(Accountant accountant);
// Throws InputError listing the known names.
Accountant accountant_from_string(std::string_view name);

// What an accountant promises about a composition: (epsilon, delta)-DP under the relation.
struct Guarantee {
  Accountant accountant;  // whose theorem it is
  Relation relation;      // which tables are neighbours
  double epsilon;         // rounded up; +infinity when nothing finite holds
  double delta;           // as it was asked for
  // The truth lies in [epsilon_lower, epsilon] when an accountant can say so (pld; gdp on full batch).
  std::optional<double> epsilon_lower = std::nullopt;
  // False for an approximation that must never be certified (the central limit theorem of GDP).
  bool certified = true;
  // How the figure came about, for people: "order 12.4", "rho 0.125", "central limit approximation".
  std::string detail = {};
};

// The guarantee of everything in `event`, for 0 < delta < 1. With rdp also for delta = 0, where all of it is
// pure epsilon-DP.
Guarantee account(const Event& event, Relation relation, Accountant accountant, double delta);

// Why this accountant cannot speak about this event under this relation, with what would work; empty if it
// can.
std::string refusal(const Event& event, Relation relation, Accountant accountant);

}  // namespace ration
