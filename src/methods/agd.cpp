#include "ration/methods/agd.h"

#include <cmath>

#include "methods/noisy_gradient.h"
#include "methods/saved_state.h"
#include "methods/step_cap.h"
#include "ration/base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using methods::NoisyGradient;

constexpr std::string_view kName = "DP-AGD";

const AgdOptions& validated(const AgdOptions& options) {
  require(kName, "loss_bound", options.loss_bound, at_least(1e-200).at_most(1e200));
  require(kName, "gradient_rho", options.gradient_rho, greater_than(0));
  require(kName, "minimum_epsilon", options.minimum_epsilon, greater_than(0));
  require(kName, "candidates", static_cast<double>(options.candidates), at_least(2).at_most(1e4));
  require(kName, "largest_step", options.largest_step, greater_than(0));
  require(kName, "reset_every", static_cast<double>(options.reset_every), at_least(1));
  require(kName, "reset_factor", options.reset_factor, at_least(1));
  require(kName, "raise", options.raise, greater_than(0));
  require(kName, "ridge", options.ridge, at_least(0));
  if (options.average.kind == Averaging::half) {
    throw InputError(
        "DP-AGD: expected average = none or exponential, got half, which needs the number of steps");
  }
  return options;
}

class Agd final : public Method {
 public:
  Agd(const AgdOptions& options, std::size_t parameters)
      : options_(validated(options)),
        gradient_rho_(options.gradient_rho),
        cap_(options.largest_step, options.reset_factor, options.reset_every),
        w_(parameters, 0.0),
        gradient_{w_},
        second_{w_},
        direction_(w_),
        candidates_(static_cast<std::size_t>(options.candidates)),
        ridge_terms_(candidates_.size()),
        average_(options.average, parameters, 0) {}

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override { average_.result(out); }
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  std::optional<double> find_step(PrivateOracle& oracle);
  bool draw(PrivateOracle& oracle, double rho, NoisyGradient& gradient) const;
  bool draw_again(PrivateOracle& oracle);
  void set_direction();
  void set_candidates(double divisor);
  std::optional<std::size_t> best_candidate(PrivateOracle& oracle);
  void take(double eta);

  AgdOptions options_;
  double gradient_rho_;
  methods::StepCap cap_;
  bool refused_ = false;
  std::int64_t done_ = 0;
  std::vector<double> w_;

  NoisyGradient gradient_;
  NoisyGradient second_;           // at the same place
  std::vector<double> direction_;  // the gradient's, with the ridge's part
  std::vector<double> candidates_;
  std::vector<double> ridge_terms_;  // of each candidate
  IterateAverage average_;
  StepReport report_;
};

bool Agd::step(PrivateOracle& oracle) {
  if (refused_) return false;
  const std::optional<double> eta = find_step(oracle);
  if (!eta) {
    refused_ = true;
    return false;
  }
  take(*eta);
  return true;
}

std::optional<double> Agd::find_step(PrivateOracle& oracle) {
  if (!draw(oracle, gradient_rho_, gradient_)) return std::nullopt;
  for (;;) {
    const std::optional<std::size_t> best = best_candidate(oracle);
    if (!best) return std::nullopt;
    if (*best > 0) return candidates_[*best];
    if (!draw_again(oracle)) return std::nullopt;
  }
}

bool Agd::draw(PrivateOracle& oracle, double rho, NoisyGradient& gradient) const {
  return methods::draw_gradient(oracle, w_, options_.clip, rho, gradient);
}

bool Agd::draw_again(PrivateOracle& oracle) {
  if (!draw(oracle, options_.raise * gradient_rho_, second_)) return false;
  gradient_rho_ *= 1 + options_.raise;
  gradient_.average_by_precision(second_);
  return true;
}

// A gradient of length 0 has no direction.
void Agd::set_direction() {
  const double norm = methods::length(gradient_.value);
  const double scale = norm > 0 ? 1 / norm : 0;
  for (std::size_t i = 0; i < w_.size(); ++i) {
    direction_[i] = scale * gradient_.value[i] + options_.ridge * w_[i];
  }
}

void Agd::set_candidates(double divisor) {
  const double squared = methods::dot(direction_, direction_);
  const double along = methods::dot(w_, direction_);
  const double last = static_cast<double>(candidates_.size() - 1);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const double eta = cap_.value() * static_cast<double>(i) / last;
    candidates_[i] = eta;
    ridge_terms_[i] = divisor * options_.ridge * (eta * eta * squared / 2 - eta * along);
  }
}

std::optional<std::size_t> Agd::best_candidate(PrivateOracle& oracle) {
  set_direction();
  set_candidates(oracle.divisor());
  return oracle.minimum_along({w_, direction_, candidates_},
                              {.loss_bound = options_.loss_bound,
                               .epsilon = options_.minimum_epsilon,
                               .noise = SelectionNoise::gumbel},
                              ridge_terms_);
}

void Agd::take(double eta) {
  methods::move(kName, ++done_, eta, direction_, w_);
  report_ = {.step = done_,
             .learning_rate = eta,
             .gradient_norm = methods::length(gradient_.value),
             .noise_stddev = std::sqrt(gradient_.variance)};
  cap_.add(eta, options_.largest_step);
  average_.add(done_, w_);
}

MethodState Agd::save() const {
  return {{"step", {static_cast<double>(done_)}},
          {"refused", {refused_ ? 1.0 : 0.0}},
          {"weights", w_},
          {"gradient_rho", {gradient_rho_}},
          {"step_cap", {cap_.value(), static_cast<double>(cap_.seen()), cap_.largest()}},
          {"average", average_.save()}};
}

void Agd::restore(const MethodState& state) {
  done_ = methods::saved_count(state, kName, "step");
  refused_ = methods::saved_number(state, kName, "refused", at_least(0).at_most(1)) == 1;
  w_ = methods::saved_vector(state, kName, "weights", w_.size());
  gradient_rho_ = methods::saved_number(state, kName, "gradient_rho", greater_than(0));
  const std::vector<double>& cap = methods::saved_vector(state, kName, "step_cap", 3);
  cap_.restore(cap[0], static_cast<std::int64_t>(cap[1]), cap[2]);
  average_.restore(methods::saved(state, kName, "average"));
}

}  // namespace

std::unique_ptr<Method> make_agd(const AgdOptions& options, std::size_t parameters) {
  return std::make_unique<Agd>(options, parameters);
}

AgdOptions agd_for(double epsilon) {
  const double per_step = require(kName, "epsilon", epsilon, greater_than(0)) / (2 * 60);
  AgdOptions options;
  options.minimum_epsilon = per_step;
  options.gradient_rho = per_step * per_step / 2;
  return options;
}

}  // namespace ration
