#pragma once

#include "e6/made_up.h"

namespace ration::e6 {

// 100 R^2 on the table's test rows of AdaSSP: noisy X^T X and X^T y, and a ridge that goes by the noise and
// by a noisy smallest eigenvalue. [Wang18, Alg. 2] Here with Gaussian noise, a third of mu^2 for each
// release, rows shortened to `longest` and labels less the middle of their bounds, which is kinder to it than
// the paper. For comparison only: an ordinary generator and ordinary rounding, so NOT PRIVATE.
double score_of_adassp(const MadeUp& table, double epsilon, double delta, double longest);

}  // namespace ration::e6
