// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"
#include "ration/privacy/relation.h"

namespace ration {

// Which rows a step sees.
enum class Sampling { full, poisson, fixed_size };

// Their names.
inline constexpr NamedValue<Sampling> kSamplings[] = {
    {Sampling::full, "full", "Every step uses all rows."},
    {Sampling::poisson, "poisson", "Each row joins a step independently, with probability `rate`."},
    {Sampling::fixed_size, "fixed", "Each step draws a fixed number of rows without replacement."},
};
// Found by base/names.h.
constexpr NameTable<Sampling> name_table(Sampling) {
  return {"sampling", kSamplings};
}

// The default of every command and plan: the relation that the sampler's theorems are for.
constexpr Relation usual_relation(Sampling sampling) {
  return sampling == Sampling::fixed_size ? Relation::replace_one : Relation::add_remove;
}
// The default of every command and plan: a rate below 1 means Poisson samples.
constexpr Sampling usual_sampling(double rate) {
  return rate < 1 ? Sampling::poisson : Sampling::full;
}

}  // namespace ration
