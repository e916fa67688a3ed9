#pragma once

namespace ration {

// log E[(e^u - 1)^l] for even l >= 2, u = mu (y - mu/2), mu = 1/noise, y ~ N(0, 1): the l-th central moment
// of the Gaussian mechanism's density ratio, the alternating sum B(l) of [Wang19, Thm 27] as the positive
// integral it is, so that nothing cancels. Rounded up: never below the truth, and above it by a few units in
// the last place of the integrand's logarithm. +infinity where that is not known.
//
// The integrand e^{f(y)} / sqrt(2 pi), f(y) = l log|e^u - 1| - y^2/2, has its mass near y = +-sqrt(l) for
// large noise and near y = l mu for small: no fixed range holds it.
//
// Range     On either side of its zero, y = mu/2, log|e^u - 1| is concave in y, so f is concave with f'' <=
//           -1: one hump per side. The trapezoidal rule sums nodes outwards from each hump's mode. By
//           concavity, the nodes beyond one at which the slope outwards is -s sum to at most that node's term
//           times 1 / (e^{s h} - 1), h the step. The sum ends where this is invisible, and it is added.
// Step      The integrand is an entire function of y, so on all nodes h Z the rule errs by at most 2 M /
//           (e^{2 pi b / h} - 1) for any b > 0, M its absolute integral along the line y + ib [Trefethen14,
//           Thm 5.1]. There |e^{u + i mu b} - 1|^2 <= (e^u - 1)^2 + (mu b)^2 e^u, and Minkowski's inequality
//           in L_k, k = l/2, gives for the moment I
//             M <= e^{b^2/2} (I^{1/k} + (mu b)^2 e^{(k-1) mu^2/2})^k.
//           So the error is at most c(I) I, with c(I) falling and c(I) I rising in I. Let S be the rule's
//           value and c(S/2) < 1. Then I >= S/2: otherwise c(S/2) S/2 >= c(I) I >= S - I > S/2. Hence c(I) <=
//           c(S/2) and I <= S / (1 - c(S/2)).
// Rounding  what each term's exponent may be wrong by is added, term by term.
double log_central_moment(double noise, int l);

}  // namespace ration
