#pragma once

#include <memory>
#include <random>
#include <string>

#include "methods/protector.h"
#include "methods/protector/step_formulas.h"

// Protectors that nobody trained.
namespace ration::testing {

inline std::vector<float> random_numbers(std::size_t count, double spread, std::mt19937_64& random) {
  std::vector<float> numbers(count);
  std::normal_distribution<double> draw(0, spread);
  for (float& number : numbers) number = static_cast<float>(draw(random));
  return numbers;
}

struct Untrained {
  std::size_t units = 5;
  NormSource norm = NormSource::previous;
  bool scheduler = true;
  double spread = 0.5;  // of the weights
  double norm_noise_ratio = 1;
};

inline Protector untrained_protector(std::uint64_t seed, const Untrained& kind = {}) {
  std::mt19937_64 random(seed);
  Protector out;
  out.origin.tasks = "quadratic";
  out.origin.model = "logistic";
  out.origin.epsilon = 0.5;
  out.origin.delta = 1e-8;
  out.origin.steps = 10;
  out.origin.version = "0.1.0";
  out.units = kind.units;
  out.output_scale = 0.1;
  out.norm = kind.norm;
  out.norm_noise_ratio = kind.norm_noise_ratio;
  out.projector = random_numbers(protector::projector_shape(out).parameters(), kind.spread, random);
  if (kind.scheduler)
    out.scheduler = random_numbers(protector::scheduler_shape(out).parameters(), kind.spread, random);
  return protector_from_json(to_json(out), "test");  // with the digits that a file has
}

}  // namespace ration::testing
