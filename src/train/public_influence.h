#pragma once

#include <cstdint>
#include <vector>

#include "ration/base/random.h"
#include "ration/data/table.h"
#include "ration/train/resolve.h"
#include "schedules/influence.h"

namespace ration {

// NOT PRIVATE: everything here reads rows without noise and without charging anybody. For rows that are
// public, to learn from them which schedule suits private ones like them.

struct PublicEstimate {
  std::int64_t runs = 8;  // >= 1: draws of the noise that the final loss is averaged over
  RetrainingOptions retraining{};
};

// The influence of each step's noise on the final loss of a run of this plan, by retraining on the public
// rows. The plan is resolved with uniform noise and must declare the number of private rows: the noise is as
// large as theirs will be, whatever the number of public rows, and so is that of the mean, where the plan
// centres rows. A step sees all public rows, also where the plan samples. A network begins at other weights
// in each run.
// Edge cases  adaptive clipping is refused, as its bound would have to be followed; so is a final loss that
//             is not finite.
std::vector<double> influence_on_public_rows(const ResolvedPlan& plan, const data::Schema& schema,
                                             data::Table table, RandomSource& random,
                                             const PublicEstimate& options = {});

// The same from the eigenvalues of the public rows' Hessian, in closed form and as if nothing were clipped.
// Refused unless the model is squared, the step rule sgd or momentum, the learning rate constant, and the
// last iterate the model.
std::vector<double> influence_by_hessian(const ResolvedPlan& plan, const data::Schema& schema,
                                         data::Table table, RandomSource& random);

// Of the mean of x x^T over the rows, increasing, none below 0. Up to 5000 columns.
std::vector<double> hessian_eigenvalues(const Rows& rows);

}  // namespace ration
