#include "ration/methods/line_search.h"

#include <cmath>
#include <numbers>

#include "methods/noisy_gradient.h"
#include "methods/saved_state.h"
#include "methods/step_cap.h"
#include "ration/base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using methods::NoisyGradient;

constexpr std::string_view kName = "line search";
constexpr double kRightAngle = std::numbers::pi / 2;

void validate(const CheckAngles& growth) {
  require(kName, "raise", growth.raise, greater_than(0));
  require(kName, "widest", growth.widest, at_least(1));
  require(kName, "narrowest", growth.narrowest, greater_than(0).at_most(1));
  require(kName, "memory", growth.memory, at_least(0).less_than(1));
}
void validate(const RaiseGradient& growth) {
  require(kName, "raise", growth.raise, greater_than(0));
}
void validate(const NeverRaise&) {}

const LineSearchOptions& validated(const LineSearchOptions& options) {
  require(kName, "loss_bound", options.loss_bound, at_least(1e-200).at_most(1e200));
  require(kName, "gradient_rho", options.gradient_rho, greater_than(0));
  require(kName, "first_step", options.first_step, greater_than(0));
  require(kName, "most_candidates", static_cast<double>(options.most_candidates), at_least(1).at_most(1e4));
  require(kName, "shrink", options.shrink, greater_than(0).less_than(1));
  require(kName, "decrease", options.decrease, greater_than(0).less_than(1));
  require(kName, "reset_every", static_cast<double>(options.reset_every), at_least(1));
  require(kName, "reset_factor", options.reset_factor, at_least(1));
  require(kName, "ridge", options.ridge, at_least(0));
  std::visit([](const auto& growth) { validate(growth); }, options.growth);
  if (options.decay) options.decay->next_bound(1);
  if (options.average.kind == Averaging::half) {
    throw InputError(
        "line search: expected average = none or exponential, got half, which needs the number of steps");
  }
  return options;
}

// A Laplace budget is proportional to the noise's inverse, a Gaussian one to its square.
LaplaceSearch raised(const LaplaceSearch& search, double factor) {
  return {search.threshold_epsilon * factor, search.query_epsilon * factor};
}
GaussianSearch raised(const GaussianSearch& search, double factor) {
  return {search.threshold_noise / std::sqrt(factor), search.query_noise / std::sqrt(factor)};
}

std::vector<double> to_numbers(const std::variant<LaplaceSearch, GaussianSearch>& search) {
  return std::visit(Overloaded{[](const LaplaceSearch& s) {
                                 return std::vector{s.threshold_epsilon, s.query_epsilon};
                               },
                               [](const GaussianSearch& s) {
                                 return std::vector{s.threshold_noise, s.query_noise};
                               }},
                    search);
}

class LineSearchDescent final : public Method {
 public:
  LineSearchDescent(const LineSearchOptions& options, std::size_t parameters)
      : options_(validated(options)),
        clip_(options.clip),
        loss_bound_(options.loss_bound),
        gradient_rho_(options.gradient_rho),
        search_(options.search),
        cap_(options.first_step, options.reset_factor, options.reset_every),
        w_(parameters, 0.0),
        gradient_{w_},
        second_{w_},
        previous_(w_),
        direction_(w_),
        candidates_(static_cast<std::size_t>(options.most_candidates)),
        margins_(candidates_.size()),
        average_(options.average, parameters, 0) {}

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override { average_.result(out); }
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  std::optional<double> find_step(PrivateOracle& oracle);
  bool draw(PrivateOracle& oracle, double rho, NoisyGradient& gradient) const;
  void set_direction();
  void set_candidates(double divisor, double first);
  std::optional<FirstDecrease> search(PrivateOracle& oracle, double first);
  // False if the budget refuses.
  bool grow(PrivateOracle& oracle, const CheckAngles& growth);
  bool grow(PrivateOracle& oracle, const RaiseGradient& growth);
  bool grow(PrivateOracle&, const NeverRaise&) {
    throw InternalError("line search: there is nothing to raise");
  }
  void take(double eta);
  void remember_angle();
  void shrink_bounds();

  LineSearchOptions options_;
  // What changes from step to step.
  AnyClipRule clip_;
  double loss_bound_;
  double gradient_rho_;
  std::variant<LaplaceSearch, GaussianSearch> search_;
  methods::StepCap cap_;
  double mean_angle_ = kRightAngle;
  bool refused_ = false;
  std::int64_t done_ = 0;
  std::vector<double> w_;

  bool raised_in_this_step_ = false;
  NoisyGradient gradient_;
  NoisyGradient second_;           // at the same place
  std::vector<double> previous_;   // the gradient of the step before
  std::vector<double> direction_;  // the gradient with the ridge's part
  std::vector<double> candidates_;
  std::vector<double> margins_;
  IterateAverage average_;
  StepReport report_;
};

bool LineSearchDescent::step(PrivateOracle& oracle) {
  if (refused_) return false;
  const std::optional<double> eta = find_step(oracle);
  if (!eta) {
    refused_ = true;
    return false;
  }
  take(*eta);
  return true;
}

std::optional<double> LineSearchDescent::find_step(PrivateOracle& oracle) {
  raised_in_this_step_ = false;
  if (!draw(oracle, gradient_rho_, gradient_)) return std::nullopt;
  for (double first = cap_.value();; first = options_.shrink * candidates_.back()) {
    const std::optional<FirstDecrease> found = search(oracle, first);
    if (!found) return std::nullopt;
    if (found->point) return candidates_[*found->point];
    if (std::holds_alternative<NeverRaise>(options_.growth)) return options_.shrink * candidates_.back();
    if (!std::visit([&](const auto& growth) { return grow(oracle, growth); }, options_.growth))
      return std::nullopt;
  }
}

bool LineSearchDescent::draw(PrivateOracle& oracle, double rho, NoisyGradient& gradient) const {
  return methods::draw_gradient(oracle, w_, clip_, rho, gradient);
}

void LineSearchDescent::set_direction() {
  for (std::size_t i = 0; i < w_.size(); ++i) direction_[i] = gradient_.value[i] + options_.ridge * w_[i];
}

void LineSearchDescent::set_candidates(double divisor, double first) {
  const double squared = methods::dot(direction_, direction_);
  const double along = methods::dot(w_, direction_);
  double eta = first;
  for (std::size_t i = 0; i < candidates_.size(); ++i, eta *= options_.shrink) {
    const double ridge_decrease = options_.ridge * (eta * along - eta * eta * squared / 2);
    candidates_[i] = eta;
    margins_[i] = divisor * (options_.decrease * eta * squared - ridge_decrease);
  }
}

std::optional<FirstDecrease> LineSearchDescent::search(PrivateOracle& oracle, double first) {
  set_direction();
  set_candidates(oracle.divisor(), first);
  return oracle.first_decrease({w_, direction_, candidates_}, margins_,
                               {.loss_bound = loss_bound_, .noise = search_});
}

bool LineSearchDescent::grow(PrivateOracle& oracle, const CheckAngles& growth) {
  if (!draw(oracle, gradient_rho_, second_)) return false;
  const double angle = methods::angle_between(gradient_.value, second_.value);
  if (angle > kRightAngle || angle > growth.widest * mean_angle_) {
    gradient_rho_ *= 1 + growth.raise;
    raised_in_this_step_ = true;
  } else if (angle < growth.narrowest * mean_angle_) {
    std::visit([&](auto& search) { search = raised(search, 1 + growth.raise); }, search_);
  }
  gradient_.mix(second_, 0.5);
  return true;
}

bool LineSearchDescent::grow(PrivateOracle& oracle, const RaiseGradient& growth) {
  if (!draw(oracle, growth.raise * gradient_rho_, second_)) return false;
  gradient_rho_ *= 1 + growth.raise;
  raised_in_this_step_ = true;
  gradient_.average_by_precision(second_);
  return true;
}

void LineSearchDescent::take(double eta) {
  methods::move(kName, ++done_, eta, direction_, w_);
  report_ = {.step = done_,
             .learning_rate = eta,
             .gradient_norm = methods::length(gradient_.value),
             .noise_stddev = std::sqrt(gradient_.variance)};
  remember_angle();
  cap_.add(eta, cap_.value());
  if (options_.decay && raised_in_this_step_) shrink_bounds();
  average_.add(done_, w_);
}

void LineSearchDescent::remember_angle() {
  const auto* growth = std::get_if<CheckAngles>(&options_.growth);
  if (growth && done_ > 1) {
    const double angle = methods::angle_between(gradient_.value, previous_);
    mean_angle_ = growth->memory * mean_angle_ + (1 - growth->memory) * angle;
  }
  previous_ = gradient_.value;
}

void LineSearchDescent::shrink_bounds() {
  clip_ = clip_.with_bound(options_.decay->next_bound(clip_.bound()));
  loss_bound_ = options_.decay->next_bound(loss_bound_);
}

MethodState LineSearchDescent::save() const {
  return {{"step", {static_cast<double>(done_)}},
          {"refused", {refused_ ? 1.0 : 0.0}},
          {"weights", w_},
          {"previous_gradient", previous_},
          {"mean_angle", {mean_angle_}},
          {"clip_bound", {clip_.bound()}},
          {"loss_bound", {loss_bound_}},
          {"gradient_rho", {gradient_rho_}},
          {"search", to_numbers(search_)},
          {"step_cap", {cap_.value(), static_cast<double>(cap_.seen()), cap_.largest()}},
          {"average", average_.save()}};
}

void LineSearchDescent::restore(const MethodState& state) {
  const auto number = [&](const std::string& name, const Interval& allowed) {
    return methods::saved_number(state, kName, name, allowed);
  };
  done_ = methods::saved_count(state, kName, "step");
  refused_ = number("refused", at_least(0).at_most(1)) == 1;
  w_ = methods::saved_vector(state, kName, "weights", w_.size());
  previous_ = methods::saved_vector(state, kName, "previous_gradient", w_.size());
  mean_angle_ = number("mean_angle", at_least(0).at_most(std::numbers::pi));
  clip_ = clip_.with_bound(number("clip_bound", greater_than(0)));
  loss_bound_ = number("loss_bound", greater_than(0));
  gradient_rho_ = number("gradient_rho", greater_than(0));
  const std::vector<double>& search = methods::saved_vector(state, kName, "search", 2);
  std::visit([&](auto& noise) { noise = {search[0], search[1]}; }, search_);
  const std::vector<double>& cap = methods::saved_vector(state, kName, "step_cap", 3);
  cap_.restore(cap[0], static_cast<std::int64_t>(cap[1]), cap[2]);
  average_.restore(methods::saved(state, kName, "average"));
}

}  // namespace

std::unique_ptr<Method> make_line_search_descent(const LineSearchOptions& options, std::size_t parameters) {
  return std::make_unique<LineSearchDescent>(options, parameters);
}

LineSearchOptions convex_line_search(double epsilon) {
  const double per_step = require(kName, "epsilon", epsilon, greater_than(0)) / (2 * 50);
  LineSearchOptions options;
  options.search = LaplaceSearch::with_epsilon(per_step);
  options.gradient_rho = per_step * per_step / 2;
  return options;
}

LineSearchOptions neural_line_search(double rho_of_step) {
  LineSearchOptions options;
  options.loss_bound = 3;
  options.gradient_rho = 0.9 * require(kName, "rho_of_step", rho_of_step, greater_than(0));
  options.search = GaussianSearch::with_rho(0.1 * rho_of_step);
  options.decrease = 0.001;
  options.growth = NeverRaise{};
  return options;
}

Event line_search_event(const LineSearchOptions& options, const Sampler& sampler) {
  const Event gradient = Event::gaussian(methods::noise_of_rho(options.gradient_rho));
  const Event search = DecreaseQuery{.noise = options.search}.event();
  return Event::composed({sampler.sampled(gradient), sampler.sampled(search)});
}

}  // namespace ration
