// Stable: changes only with a new major version.
#pragma once

#include <optional>
#include <string>

#include "ration/base/names.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"
#include "ration/privacy/sampling.h"

namespace ration {

// The ways to add up events. Each is a theorem with its own conditions; asking for a combination of sampler,
// relation and accountant that no theorem covers is an InputError that says what would work.
enum class Accountant {
  rdp,       // Renyi DP, minimised over the order, tight conversion
  pld,       // privacy loss distributions, pessimistic and optimistic; plans fixed before the run
  zcdp,      // zero-concentrated DP
  tcdp,      // truncated concentrated DP, with amplification for fixed-size subsets
  gdp,       // Gaussian DP: exact for full batch, a central-limit approximation when sampled
  advanced,  // advanced composition of (epsilon, delta) pairs: the papers' baseline
  moments,   // the first moments accountant: Renyi DP at whole orders, classic conversion; a baseline too.
             // No plan costs it less than ln(1/delta) / 32.
};

// Their names.
inline constexpr NamedValue<Accountant> kAccountantNames[] = {
    {Accountant::rdp, "rdp", "Renyi DP. Certifies every plan here."},
    {Accountant::pld, "pld",
     "Privacy loss distributions. Tightest for Poisson samples; plans fixed in advance."},
    {Accountant::zcdp, "zcdp", "Zero-concentrated DP. Full batch."},
    {Accountant::tcdp, "tcdp",
     "Truncated concentrated DP. Full batch, or fixed-size samples under conditions."},
    {Accountant::gdp, "gdp", "Gaussian DP. Exact for full batch; only an approximation for Poisson samples."},
    {Accountant::advanced, "advanced", "Advanced composition. Loose; a baseline from the literature."},
    {Accountant::moments, "moments",
     "The original moments accountant. Loose; a baseline from the literature."},
};
// Found by base/names.h.
constexpr NameTable<Accountant> name_table(Accountant) {
  return {"accountant", kAccountantNames};
}
// All of them.
inline constexpr auto kAccountants = every<Accountant>();

// The default of every command and plan: the tightest that certifies Gaussian steps with this sampling. A run
// that chooses its noise as it goes needs an accountant with a filter, which leaves zcdp and rdp.
constexpr Accountant usual_accountant(Sampling sampling, bool chosen_as_it_goes = false) {
  switch (sampling) {
    case Sampling::full:
      return chosen_as_it_goes ? Accountant::zcdp : Accountant::gdp;
    case Sampling::poisson:
      return chosen_as_it_goes ? Accountant::rdp : Accountant::pld;
    case Sampling::fixed_size:
      break;
  }
  return Accountant::rdp;
}

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
