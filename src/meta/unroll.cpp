#include "meta/unroll.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/distributions.h"
#include "methods/protector/step_formulas.h"
#include "ration/base/error.h"

namespace ration::meta {

using protector::Lanewise;

template <class Number>
Unroll<Number>::Unroll(Task& task, const Protection& protection, const Shape& shape, RandomSource& random,
                       std::size_t kept, std::size_t threads)
    : task_(task),
      protection_(protection),
      shape_(shape),
      random_(random),
      threads_(threads),
      divisor_(protection.divisor > 0 ? protection.divisor : static_cast<double>(task.step_rows())),
      scheduler_shape_{Protector::kSchedulerInputs, shape.units},
      projector_shape_{Protector::kProjectorInputs, shape.units},
      w_(task.start()),
      mean_(w_.size()),
      noisy_(w_.size()),
      unit_noise_(w_.size()),
      norm_(protector::kFirstNorm),
      inputs_(projector_shape_.inputs, w_.size()),
      state_(projector_shape_.state(), w_.size()),
      next_(projector_shape_.state(), w_.size()),
      output_(1, w_.size()),
      scheduler_inputs_(scheduler_shape_.inputs, 1),
      scheduler_state_(scheduler_shape_.state(), 1),
      scheduler_next_(scheduler_shape_.state(), 1),
      scheduler_out_(1, 1),
      kept_(kept) {
  for (Kept& one : kept_) {
    one.inputs = inputs_;
    one.state = state_;
    one.scheduler_inputs = scheduler_inputs_;
    one.scheduler_state = scheduler_state_;
    one.noise.resize(w_.size());
    one.loss_gradient.resize(w_.size());
  }
}

template <class Number>
void Unroll<Number>::observe() {
  if (replay != nullptr) {
    const Observation& seen = (*replay)[taken_];
    mean_ = seen.mean;
    unit_noise_ = seen.noise;
    observed_norm_ = seen.norm;
    return;
  }
  task_.draw(random_);
  task_.clipped_mean(w_, protection_.clip, mean_);
  fill_gaussian(random_, unit_noise_, 1);
  observed_norm_ = norm_;
  if (protection_.norm_sensitivity > 0) {
    const double squared = std::inner_product(mean_.begin(), mean_.end(), mean_.begin(), 0.0);
    const double noise = protection_.norm_sensitivity * protection_.norm_noise * protection_.noise_injected *
                         standard_gaussian(random_) / (divisor_ * divisor_);
    observed_norm_ = std::sqrt(std::max(0.0, squared + noise)) / protection_.clip.bound();
  }
  if (record != nullptr) record->push_back({mean_, unit_noise_, observed_norm_});
}

template <class Number>
double Unroll<Number>::schedule(const ProtectorWeights<Number>& weights) {
  if (!has_scheduler(weights)) return protection_.even;
  scheduler_inputs_.at(0, 0) = static_cast<Number>(observed_norm_);
  protector::lstm_forward<Number>(scheduler_shape_, weights.scheduler, scheduler_inputs_, scheduler_state_,
                                  scheduler_next_, scheduler_out_);
  scheduler_output_ = static_cast<double>(scheduler_out_.at(0, 0));
  return protector::scheduled_noise(scheduler_output_, protection_.even, protection_.least);
}

template <class Number>
void Unroll<Number>::project(const ProtectorWeights<Number>& weights, double noise) {
  const double scale = stddev(noise);
  for (std::size_t i = 0; i < w_.size(); ++i)
    noisy_[i] = mean_[i] + protection_.noise_injected * scale * unit_noise_[i];
  protector::set_projector_inputs<Number>(noisy_, scale, protection_.clip.bound(), inputs_);
  protector::lstm_forward<Number>(projector_shape_, weights.projector, inputs_, state_, next_, output_,
                                  threads_);
}

// Moves w, the states and the account.
template <class Number>
void Unroll<Number>::advance(const ProtectorWeights<Number>& weights, double noise) {
  for (std::size_t i = 0; i < w_.size(); ++i)
    w_[i] += shape_.output_scale * static_cast<double>(output_.at(0, i));
  std::swap(state_, next_);
  if (has_scheduler(weights)) std::swap(scheduler_state_, scheduler_next_);
  const double squared = std::inner_product(noisy_.begin(), noisy_.end(), noisy_.begin(), 0.0);
  norm_ = protector::norm_without_noise(squared, w_.size(), protection_.noise_injected * stddev(noise),
                                        protection_.clip.bound());
  spent_ += protection_.cost(noise);
  ++taken_;
}

// After a step, whose inputs nobody needs any more and whose old states are in `next_`: they are exchanged,
// not copied, for those that were kept before.
template <class Number>
void Unroll<Number>::keep(Kept& kept) {
  std::swap(kept.inputs, inputs_);
  std::swap(kept.state, next_);
  kept.scheduler_inputs = scheduler_inputs_;
  std::swap(kept.scheduler_state, scheduler_next_);
  std::transform(unit_noise_.begin(), unit_noise_.end(), kept.noise.begin(),
                 [](double value) { return static_cast<Number>(value); });
  kept.output = scheduler_output_;
}

template <class Number>
void Unroll<Number>::run(const ProtectorWeights<Number>& weights, std::size_t steps) {
  if (steps > kept_.size()) throw InternalError("unroll: more steps than it may keep");
  losses_.clear();
  costs_.clear();
  noise_.clear();
  for (kept_steps_ = 0; kept_steps_ < steps; ++kept_steps_) {
    Kept& kept = kept_[kept_steps_];
    observe();
    const double noise = schedule(weights);
    project(weights, noise);
    advance(weights, noise);
    keep(kept);
    kept.noise_multiplier = noise;
    losses_.push_back(task_.loss(w_, kept.loss_gradient));
    costs_.push_back(protection_.cost(noise));
    noise_.push_back(noise);
  }
}

template <class Number>
double Unroll<Number>::cost() const {
  return std::accumulate(costs_.begin(), costs_.end(), 0.0);
}

// With u = g / stddev, g = mean + stddev * injected * n and stddev proportional to the noise multiplier s:
//   d asinh(u) / ds     = (injected n - u) / (s sqrt(1 + u^2)),
//   d (g / bound) / ds  = stddev injected n / (s bound).
template <class Number>
double Unroll<Number>::by_noise(const Kept& kept, const Lanewise<Number>& d_inputs) const {
  const double s = kept.noise_multiplier;
  const double injected = protection_.noise_injected;
  const double per_bound = stddev(s) / protection_.clip.bound();
  double sum = 0;
  for (std::size_t i = 0; i < kept.noise.size(); ++i) {
    const double u = std::sinh(static_cast<double>(kept.inputs.at(0, i)));
    const double n = injected * static_cast<double>(kept.noise[i]);
    sum += static_cast<double>(d_inputs.at(0, i)) * (n - u) / std::sqrt(1 + u * u);
    sum += static_cast<double>(d_inputs.at(1, i)) * per_bound * n;
  }
  return sum / s;
}

template <class Number>
void Unroll<Number>::back(const ProtectorWeights<Number>& weights, std::span<const double> by_loss,
                          std::span<const double> by_cost, ProtectorWeights<Number>& into) {
  std::vector<double> d_w(w_.size(), 0.0);
  Lanewise<Number> d_output(1, w_.size()), d_state(projector_shape_.state(), w_.size());
  Lanewise<Number> d_inputs(has_scheduler(into) ? projector_shape_.inputs : 0, w_.size());
  Lanewise<Number> d_schedule(1, 1), d_scheduler_state(scheduler_shape_.state(), 1), nobody_asks(0, 1);
  std::vector<Number> unused;
  if (into.projector.empty()) unused.resize(projector_shape_.parameters());
  const std::span<Number> d_projector =
      into.projector.empty() ? std::span(unused) : std::span(into.projector);
  for (std::size_t t = kept_steps_; t-- > 0;) {
    const Kept& kept = kept_[t];
    for (std::size_t i = 0; i < d_w.size(); ++i) {
      d_w[i] += by_loss[t] * kept.loss_gradient[i];
      d_output.at(0, i) = static_cast<Number>(shape_.output_scale * d_w[i]);
    }
    protector::lstm_backward<Number>(projector_shape_, weights.projector, kept.inputs, kept.state, d_output,
                                     d_state, d_inputs, d_projector, threads_);
    if (!has_scheduler(into)) continue;
    const double s = kept.noise_multiplier;
    const double d_s = by_noise(kept, d_inputs) + by_cost[t] * protection_.cost_slope(s);
    d_schedule.at(0, 0) = static_cast<Number>(
        d_s * protector::scheduled_noise_slope(kept.output, protection_.even, protection_.least));
    protector::lstm_backward<Number>(scheduler_shape_, weights.scheduler, kept.scheduler_inputs,
                                     kept.scheduler_state, d_schedule, d_scheduler_state, nobody_asks,
                                     std::span(into.scheduler));
  }
}

template <class Number>
double Unroll<Number>::noise_for(double cost) const {
  const double of_gradient = cost * protection_.steps - protection_.norm_share();
  return protection_.even * std::sqrt((1 - protection_.norm_share()) / of_gradient);
}

// As ProtectedDescent does it: a step after which the cheapest one would not fit is the last.
template <class Number>
void Unroll<Number>::run_to_the_end(const ProtectorWeights<Number>& weights) {
  const double largest = has_scheduler(weights)
                             ? protector::largest_noise(protection_.even, protection_.least)
                             : protection_.even;
  const double cheapest = protection_.cost(largest);
  constexpr double kRounding = 1e-9;
  while (spent_ + cheapest <= 1 + kRounding) {
    observe();
    double noise = schedule(weights);
    if (spent_ + protection_.cost(noise) + cheapest > 1 + kRounding)
      noise = std::max(protection_.least, noise_for(1 - spent_));
    project(weights, noise);
    advance(weights, noise);
  }
}

template class Unroll<float>;
template class Unroll<double>;

}  // namespace ration::meta
