#pragma once

#include <vector>

#include "ration/privacy/certificate.h"

namespace ration {

// What is left of a guarantee for one row when a group of k rows, all of one person perhaps, comes or goes
// together: data sets k steps of the relation apart. Each figure is an upper bound by one of these, the least
// that applies, and rounded up.
//
//   Gaussian DP       mu for a row is k mu for k rows, and no better for a Gaussian [Dong22, Thm 2.14].
//   zero-concentrated rho is k^2 rho [BunSteinke16, Prop. 1.9].
//   any curve         (e, d) for a row is (k e, d (1 + e^e + ... + e^{(k-1) e})) for k rows [Vadhan17, Lemma
//                     2.2]: P_0 <= e^e P_1 + d <= e^{2e} P_2 + d (1 + e^e) <= .... The plan's Renyi curve
//                     gives e for every d, so d is chosen such that the group's delta is the one that is
//                     asked for.
//   only (e, d)       a run that chose by its outputs, under a filter whose curve the certificate does not
//                     state, has one point of it, by the same lemma; delta grows then.
//
// Delta       is the certificate's. What is kept of it for the random numbers serves groups as it serves a
//             row: (1 + e^epsilon) t at the group's epsilon (sampler_delta.h); where that is more than what
//             is kept, the group's delta grows by it, and above epsilon 20 nothing is kept, as for a row.
// Edge cases  No bound below delta 1: the group has no epsilon. Nothing was released: 0.
std::vector<GroupGuarantee> group_guarantees(const Certificate& certificate);

// The groups that a certificate speaks of.
inline constexpr int kGroupSizes[] = {2, 5, 10};

}  // namespace ration
