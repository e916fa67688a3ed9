#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "privacy/sampled_gaussian.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"
#include "ration/privacy/sampling.h"

namespace ration {

// A composition as accountants see it: how the rows were drawn, what ran on them, how often.
struct Step {
  Sampling sampling;
  double rate;                           // 1 for the full batch
  std::vector<CountedEvent> mechanisms;  // what ran on the one sample; none of them sampled
  std::int64_t count;
  // The one Gaussian that all mechanisms together amount to, if they are all Gaussian: 1/s^2 adds up.
  std::optional<double> gaussian_noise;
};

// "Poisson", "full batch", "fixed size": as in messages.
std::string_view in_words(Sampling sampling);

// Throws InputError when the sampler and the relation do not go together, or samples are nested: privacy.md,
// which sampler goes with which accounting. A sample of rate 1 is the full batch.
std::vector<Step> steps_of(const Event& event, Relation relation);

// The steps as a plan of sampled Gaussians; each must have a gaussian_noise.
SampledGaussianPlan gaussian_plan(const std::vector<Step>& steps);

}  // namespace ration
