#pragma once

#include <cstddef>
#include <vector>

#include "methods/protector/coordinate_lstm.h"
#include "ration/base/random.h"

// Where meta-training begins. A protector of small random numbers moves at random, and most of its training
// would go into unlearning that; these begin as gradient descent with momentum and even noise, so that
// training can only add to it.
namespace ration::meta {

// What the first projector follows, and how it remembers.
struct FirstSteps {
  bool in_units_of_noise = true;  // asinh(g / stddev); false: g / bound
  double memory = 0.9;            // in [0, 1); of the moving average
  double size = 1;                // > 0; the output is -size times the moving average
};

// One unit of each layer is the moving average, as long as its values are small: beyond 1 tanh bends it. All
// other units are random, with memories between 1 and `steps` steps [Tallec18], and hardly reach the output
// yet.
std::vector<float> first_projector(const protector::LstmShape& shape, const FirstSteps& first, double steps,
                                   RandomSource& random);
// The same projector with steps of another size.
void resize_steps(const protector::LstmShape& shape, double factor, std::vector<float>& weights);

// The output is 0, whatever goes in: even noise.
std::vector<float> first_scheduler(const protector::LstmShape& shape, double steps, RandomSource& random);

}  // namespace ration::meta
