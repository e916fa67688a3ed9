#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "methods/auto/curvature_guess.h"
#include "methods/method.h"
#include "ration/objectives/glm/glm_loss.h"
#include "ration/privacy/event.h"

namespace ration {

// What a step of AutoLinear asks.
enum class AutoStage { mean, moment, gradient };

struct AutoLinearOptions {
  GlmLoss loss = GlmLoss::logistic;
  double huber_width = 0.5;  // huber only
  std::size_t columns = 2;   // of the rows, the last one a bias of ones
  std::size_t outputs = 1;   // 1 but for softmax
  double noise = 1;  // > 0; the noise multiplier of a release that cost as much as all of these together
  std::vector<AutoStage> stages = usual_stages();
  std::vector<data::OneHotGroup> groups{};  // of the columns; known_noise() needs them

  // The mean, the second moment, 16 gradients.
  static std::vector<AutoStage> usual_stages();
};

// The part of mu^2, mu that of Gaussian DP, that all stages of a kind take together: a tenth for the mean and
// for the second moment, the rest for the gradients.
double share_of(AutoStage stage);

// The noise multiplier of one stage's release.
double noise_of(AutoStage stage, double noise);

// A linear model with nothing to tune: how rows are scaled, clipped and how long steps are follows from
// public facts and from what was released.
//
// Releases    1. the mean of the rows, for centre and scales (auto/design.h); 2. their second moment in
//             those, for a whitening; 3. gradients of the whitened rows.
// Steps       w <- w - min(1.4 / h, 12) g, h the curvature that a Gaussian design has at w
//             (auto/newton_steps.h): a damped Newton step, since the rows are white. Of the squared loss, 1 /
//             h.
// Clipping    at c sqrt(expected |z|^2), c = clamp(.2 sqrt(.2 n mu / directions), .2, 1), of the squared loss
//             with .1 for .2: the less signal there is per direction, the shorter.
// In the end  the average of all but the first quarter, all weights but the bias shrunk towards zero by the
//             noise that is known to be in it [JamesStein61]: at worst the frequencies of the classes.
// Lost        after a crash, stages that were paid for may be missing; without the mean all columns are
//             taken to be even, without the second moment they are scaled only, and steps are shorter.
std::unique_ptr<Method> make_auto_linear(const AutoLinearOptions& options);

// Its releases, before sampling.
std::vector<CountedEvent> auto_linear_events(const std::vector<AutoStage>& stages, double noise);

}  // namespace ration
