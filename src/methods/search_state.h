#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "methods/method.h"
#include "methods/noisy_gradient.h"
#include "methods/step_cap.h"
#include "steps/averaging.h"

namespace ration::methods {

// Where a method stands that looks for each of its steps along a noisy gradient: the line searches and
// DP-AGD.
//
// Guarantee   post-processing: all of it comes from the oracle's answers.
struct SearchState {
  struct Options {
    std::string_view method;  // its name, in errors
    AnyClipRule clip;
    double loss_bound;    // of each row, in the search; 1e-200 to 1e200
    double gradient_rho;  // > 0; of each gradient, in zCDP
    double trusted;       // >= 1; see is_trusted
    double ridge;         // >= 0; adds ridge/2 |w|^2 to the mean loss
    std::int64_t candidates;
    double first_step;          // > 0; the largest candidate of the first searches
    double reset_factor;        // >= 1
    std::int64_t reset_every;   // >= 1
    AverageOptions average;     // not `half`: the number of steps is not known
    std::vector<double> start;  // one number per parameter; empty: zeros
  };

  // InputError if an option is not allowed.
  SearchState(const Options& options, std::size_t parameters);

  // Asks for a gradient at w; false if the budget refuses.
  [[nodiscard]] bool draw(PrivateOracle& oracle, double rho, NoisyGradient& into) const {
    return draw_gradient(oracle, w, clip, rho, into);
  }
  // The gradient's budget grows by the factor 1 + raise, and the difference buys another gradient, which is
  // averaged with what there is. False if the budget refuses. [Lee18, Alg. 2]
  [[nodiscard]] bool draw_more(PrivateOracle& oracle, double raise);

  // Whether the gradient's squared length is at least `trusted` times what its noise alone would have. If a
  // search along such a gradient fails, then because the step is too long, the loss has a kink there, or rows
  // are beyond the loss bound, where no search sees them; not because of the noise.
  bool is_trusted() const {
    const double noise = gradient.variance * static_cast<double>(w.size());
    return dot(gradient.value, gradient.value) >= trusted * noise;
  }

  // direction = scale gradient + ridge w.
  void set_direction(double scale);
  // By how much the ridge's term falls from w to w - eta direction.
  double ridge_decrease(double eta) const { return ridge * (eta * along - eta * eta * squared / 2); }

  // w -= eta direction; without eta the budget has refused, for good. False then. InputError if the weights
  // overflow.
  bool take(std::optional<double> eta);

  MethodState save() const;
  void restore(const MethodState& state);

  std::string_view method;
  AnyClipRule clip;
  double loss_bound;
  double gradient_rho;
  double trusted;
  double ridge;
  StepCap cap;
  bool refused = false;
  std::int64_t done = 0;
  std::vector<double> w;
  NoisyGradient gradient;
  NoisyGradient second;           // at the same place
  std::vector<double> direction;  // set by set_direction, as are
  double squared = 0;             // <direction, direction> and
  double along = 0;               // <w, direction>
  std::vector<double> candidates;
  IterateAverage average;
  StepReport report;
};

// The part that the options of the methods share, by the same names.
template <class Options>
SearchState::Options search_options(std::string_view method, const Options& options) {
  return {.method = method,
          .clip = options.clip,
          .loss_bound = options.loss_bound,
          .gradient_rho = options.gradient_rho,
          .trusted = options.trusted,
          .ridge = options.ridge,
          .candidates = options.candidates,
          .first_step = options.first_step,
          .reset_factor = options.reset_factor,
          .reset_every = options.reset_every,
          .average = options.average,
          .start = options.start};
}

}  // namespace ration::methods
