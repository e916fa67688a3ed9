#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/check.h"
#include "methods/noisy_gradient.h"
#include "methods/protector.h"
#include "methods/protector/step_formulas.h"
#include "methods/saved_state.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using protector::Lanewise;

constexpr std::string_view kName = "l2p";

const ProtectedDescentOptions& validated(const ProtectedDescentOptions& options) {
  if (!options.protector) throw InputError("l2p: a protector is needed");
  require_sound(*options.protector, "protector");
  require(kName, "noise", options.noise, greater_than(0));
  require(kName, "least_noise", options.least_noise, greater_than(0).at_most(options.noise));
  require(kName, "floor", options.floor, at_least(0).at_most(options.least_noise));
  return options;
}

// One LSTM and where it stands.
class Recurrent {
 public:
  Recurrent(const protector::LstmShape& shape, const std::vector<float>& weights, std::size_t coordinates)
      : inputs(shape.inputs, coordinates),
        output(1, coordinates),
        shape_(shape),
        weights_(weights),
        state_(shape.state(), coordinates),
        next_(shape.state(), coordinates) {}

  void step() {
    protector::lstm_forward<float>(shape_, weights_, inputs, state_, next_, output);
    std::swap(state_, next_);
  }
  std::vector<double> save() const { return {state_.values().begin(), state_.values().end()}; }
  void restore(const std::vector<double>& state) {
    for (std::size_t i = 0; i < state.size(); ++i) state_.values()[i] = static_cast<float>(state[i]);
  }
  std::size_t saved_size() const { return state_.values().size(); }

  Lanewise<float> inputs;
  Lanewise<float> output;

 private:
  protector::LstmShape shape_;
  const std::vector<float>& weights_;
  Lanewise<float> state_, next_;
};

class ProtectedDescent final : public Method {
 public:
  ProtectedDescent(const ProtectedDescentOptions& options, std::size_t parameters);

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override { std::copy(w_.begin(), w_.end(), out.begin()); }
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  const Protector& protector() const { return *options_.protector; }
  bool has_scheduler() const { return !protector().scheduler.empty(); }
  bool asks_for_norm() const { return has_scheduler() && protector().norm == NormSource::released; }
  // Even noise gets room for a last step that has less left than the others took.
  double largest_noise() const {
    constexpr double kLastStep = 1.5;
    return has_scheduler() ? protector::largest_noise(options_.noise, options_.least_noise)
                           : kLastStep * options_.noise;
  }

  // As it is charged, each event on a batch of its own.
  std::vector<Event> cheapest_step() const;
  // Whether the budget has room for a gradient with this noise, and what may follow.
  bool fits(const PrivateOracle& oracle, double noise, std::vector<Event> and_then = {}) const;
  bool find_norm(PrivateOracle& oracle);
  double scheduled_noise();
  double noise_that_is_left(const PrivateOracle& oracle) const;
  bool take(PrivateOracle& oracle, double noise);
  void move(double stddev);

  ProtectedDescentOptions options_;
  Recurrent scheduler_, projector_;
  std::vector<double> w_, gradient_;
  double norm_ = protector::kFirstNorm;  // of the mean gradient, over the clip bound
  std::int64_t done_ = 0;
  StepReport report_;
};

ProtectedDescent::ProtectedDescent(const ProtectedDescentOptions& options, std::size_t parameters)
    : options_(validated(options)),
      scheduler_(protector::scheduler_shape(protector()), protector().scheduler, 1),
      projector_(protector::projector_shape(protector()), protector().projector, parameters),
      w_(methods::first_weights(kName, options.start, parameters)),
      gradient_(parameters, 0.0) {}

std::vector<Event> ProtectedDescent::cheapest_step() const {
  std::vector<Event> events = protected_step_events(protector(), options_.noise);
  events.back() = Event::gaussian(largest_noise());
  return events;
}

bool ProtectedDescent::fits(const PrivateOracle& oracle, double noise, std::vector<Event> and_then) const {
  and_then.push_back(Event::gaussian(noise));
  return oracle.would_grant(and_then);
}

bool ProtectedDescent::step(PrivateOracle& oracle) {
  if (!oracle.would_grant(cheapest_step())) return false;
  if (asks_for_norm() && !find_norm(oracle)) return false;
  const double wanted = has_scheduler() ? scheduled_noise() : options_.noise;
  return take(oracle, fits(oracle, wanted, cheapest_step()) ? wanted : noise_that_is_left(oracle));
}

bool ProtectedDescent::find_norm(PrivateOracle& oracle) {
  const auto squared = oracle.squared_norm(
      w_, {.clip = options_.clip, .noise_multiplier = protector().norm_noise_ratio * options_.noise});
  if (!squared) return false;
  norm_ = std::sqrt(*squared) / options_.clip.bound();
  return true;
}

double ProtectedDescent::scheduled_noise() {
  scheduler_.inputs.at(0, 0) = static_cast<float>(norm_);
  scheduler_.step();
  return protector::scheduled_noise(scheduler_.output.at(0, 0), options_.noise, options_.least_noise);
}

// The smallest noise that fits, for the last step: the largest one does.
double ProtectedDescent::noise_that_is_left(const PrivateOracle& oracle) const {
  double fitting = largest_noise();
  double low = options_.floor > 0 ? options_.floor : options_.least_noise;
  if (fits(oracle, low)) return low;
  for (int i = 0; i < 40 && fitting / low > 1 + 1e-9; ++i) {
    const double middle = std::sqrt(low * fitting);
    (fits(oracle, middle) ? fitting : low) = middle;
  }
  return fitting;
}

bool ProtectedDescent::take(PrivateOracle& oracle, double noise) {
  const GradientQuery query{.clip = options_.clip, .noise_multiplier = noise};
  if (!oracle.gradient(w_, query, gradient_)) return false;
  const double stddev = oracle.gradient_stddev(query);
  const double squared = methods::dot(gradient_, gradient_);
  if (!asks_for_norm())
    norm_ = protector::norm_without_noise(squared, gradient_.size(), stddev, options_.clip.bound());
  move(stddev);
  report_ = {.step = ++done_,
             .learning_rate = protector().output_scale,
             .gradient_norm = std::sqrt(squared),
             .noise_stddev = stddev};
  return true;
}

void ProtectedDescent::move(double stddev) {
  protector::set_projector_inputs<float>(gradient_, stddev, options_.clip.bound(), projector_.inputs);
  projector_.step();
  for (std::size_t i = 0; i < w_.size(); ++i) {
    w_[i] += protector().output_scale * static_cast<double>(projector_.output.at(0, i));
    if (!std::isfinite(w_[i]))
      throw InputError("l2p: the weights overflow; the protector does not suit the task");
  }
}

MethodState ProtectedDescent::save() const {
  return {{"step", {static_cast<double>(done_)}},
          {"w", w_},
          {"norm", {norm_}},
          {"scheduler", scheduler_.save()},
          {"projector", projector_.save()}};
}

void ProtectedDescent::restore(const MethodState& state) {
  done_ = methods::saved_count(state, kName, "step");
  w_ = methods::saved_vector(state, kName, "w", w_.size());
  norm_ = methods::saved_number(state, kName, "norm", at_least(0));
  scheduler_.restore(methods::saved_vector(state, kName, "scheduler", scheduler_.saved_size()));
  projector_.restore(methods::saved_vector(state, kName, "projector", projector_.saved_size()));
}

}  // namespace

std::unique_ptr<Method> make_protected_descent(const ProtectedDescentOptions& options,
                                               std::size_t parameters) {
  return std::make_unique<ProtectedDescent>(options, parameters);
}

std::vector<Event> protected_step_events(const Protector& protector, double noise) {
  std::vector<Event> events;
  if (!protector.scheduler.empty() && protector.norm == NormSource::released)
    events.push_back(Event::gaussian(protector.norm_noise_ratio * noise));
  events.push_back(Event::gaussian(noise));
  return events;
}

}  // namespace ration
