#include "methods/search_state.h"

#include <cmath>

#include "base/check.h"
#include "methods/noisy_gradient.h"
#include "methods/saved_state.h"
#include "ration/base/error.h"

namespace ration::methods {
namespace {

const SearchState::Options& validated(const SearchState::Options& options) {
  require(options.method, "loss_bound", options.loss_bound, at_least(1e-200).at_most(1e200));
  require(options.method, "gradient_rho", options.gradient_rho, greater_than(0));
  require(options.method, "trusted", options.trusted, at_least(1));
  require(options.method, "ridge", options.ridge, at_least(0));
  require(options.method, "candidates", static_cast<double>(options.candidates), at_least(1).at_most(1e4));
  require(options.method, "first_step", options.first_step, greater_than(0));
  require(options.method, "reset_factor", options.reset_factor, at_least(1));
  require(options.method, "reset_every", static_cast<double>(options.reset_every), at_least(1));
  if (options.average.kind == Averaging::half) {
    throw InputError(
        fmt::format("{}: expected average = none or exponential, got half, which needs the number of steps",
                    options.method));
  }
  return options;
}

}  // namespace

SearchState::SearchState(const Options& options, std::size_t parameters)
    : method(validated(options).method),
      clip(options.clip),
      loss_bound(options.loss_bound),
      gradient_rho(options.gradient_rho),
      trusted(options.trusted),
      ridge(options.ridge),
      cap(options.first_step, options.reset_factor, options.reset_every),
      w(first_weights(options.method, options.start, parameters)),
      gradient{w},
      second{w},
      direction(w),
      candidates(static_cast<std::size_t>(options.candidates)),
      average(options.average, parameters, 0) {}

bool SearchState::draw_more(PrivateOracle& oracle, double raise) {
  if (!draw(oracle, raise * gradient_rho, second)) return false;
  gradient_rho *= 1 + raise;
  gradient.average_by_precision(second);
  return true;
}

void SearchState::set_direction(double scale) {
  for (std::size_t i = 0; i < w.size(); ++i) direction[i] = scale * gradient.value[i] + ridge * w[i];
  squared = dot(direction, direction);
  along = dot(w, direction);
}

bool SearchState::take(std::optional<double> eta) {
  refused = !eta;
  if (refused) return false;
  move(method, ++done, *eta, direction, w);
  report = {.step = done,
            .learning_rate = *eta,
            .gradient_norm = length(gradient.value),
            .noise_stddev = std::sqrt(gradient.variance)};
  average.add(done, w);
  return true;
}

MethodState SearchState::save() const {
  return {{"step", {static_cast<double>(done)}},
          {"refused", {refused ? 1.0 : 0.0}},
          {"weights", w},
          {"clip_bound", {clip.bound()}},
          {"loss_bound", {loss_bound}},
          {"gradient_rho", {gradient_rho}},
          {"step_cap", {cap.value(), static_cast<double>(cap.seen()), cap.largest()}},
          {"average", average.save()}};
}

void SearchState::restore(const MethodState& state) {
  done = saved_count(state, method, "step");
  refused = saved_number(state, method, "refused", at_least(0).at_most(1)) == 1;
  w = saved_vector(state, method, "weights", w.size());
  clip = clip.with_bound(saved_number(state, method, "clip_bound", greater_than(0)));
  loss_bound = saved_number(state, method, "loss_bound", greater_than(0));
  gradient_rho = saved_number(state, method, "gradient_rho", greater_than(0));
  const std::vector<double>& saved_cap = saved_vector(state, method, "step_cap", 3);
  cap.restore(saved_cap[0], static_cast<std::int64_t>(saved_cap[1]), saved_cap[2]);
  average.restore(saved(state, method, "average"));
}

}  // namespace ration::methods
