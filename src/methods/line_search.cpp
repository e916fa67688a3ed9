#include "methods/line_search.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "methods/saved_state.h"
#include "methods/search_noise.h"
#include "methods/search_state.h"
#include "ration/base/error.h"

namespace ration {
namespace {

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
  require(kName, "shrink", options.shrink, greater_than(0).less_than(1));
  require(kName, "decrease", options.decrease, greater_than(0).less_than(1));
  std::visit([](const auto& growth) { validate(growth); }, options.growth);
  if (options.decay) options.decay->next_bound(1);
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
  LineSearchDescent(const LineSearchOptions& options, std::size_t parameters);

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return at_.report; }
  void weights(std::span<double> out) const override { at_.average.result(at_.w, out); }
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  std::optional<double> find_step(PrivateOracle& oracle);
  std::optional<FirstDecrease> search(PrivateOracle& oracle, double first);
  void set_candidates(double divisor, double first);
  // False if the budget refuses.
  bool grow(PrivateOracle& oracle, const CheckAngles& growth);
  bool grow(PrivateOracle& oracle, const RaiseGradient& growth);
  bool grow(PrivateOracle&, const NeverRaise&) {
    throw InternalError("line search: there is nothing to raise");
  }
  void remember_angle();
  void shrink_bounds();

  LineSearchOptions options_;
  methods::SearchState at_;
  std::variant<LaplaceSearch, GaussianSearch> search_;
  double mean_angle_ = kRightAngle;
  std::vector<double> previous_;  // the gradient of the step before
  bool raised_in_this_step_ = false;
  std::vector<double> margins_;
};

LineSearchDescent::LineSearchDescent(const LineSearchOptions& options, std::size_t parameters)
    : options_(validated(options)),
      at_(methods::search_options(kName, options), parameters),
      search_(options.search),
      previous_(parameters, 0.0),
      margins_(at_.candidates.size()) {}

bool LineSearchDescent::step(PrivateOracle& oracle) {
  const std::optional<double> eta = at_.refused ? std::nullopt : find_step(oracle);
  if (!at_.take(eta)) return false;
  remember_angle();
  at_.cap.add(*eta, at_.cap.value());
  if (options_.decay && raised_in_this_step_) shrink_bounds();
  return true;
}

std::optional<double> LineSearchDescent::find_step(PrivateOracle& oracle) {
  raised_in_this_step_ = false;
  if (!at_.draw(oracle, at_.gradient_rho, at_.gradient)) return std::nullopt;
  for (double first = at_.cap.value();; first = options_.shrink * at_.candidates.back()) {
    const std::optional<FirstDecrease> found = search(oracle, first);
    if (!found) return std::nullopt;
    if (found->point) return at_.candidates[*found->point];
    if (std::holds_alternative<NeverRaise>(options_.growth) || at_.is_trusted())
      return options_.shrink * at_.candidates.back();
    if (!std::visit([&](const auto& growth) { return grow(oracle, growth); }, options_.growth))
      return std::nullopt;
  }
}

std::optional<FirstDecrease> LineSearchDescent::search(PrivateOracle& oracle, double first) {
  at_.set_direction(1);
  set_candidates(oracle.divisor(), first);
  return oracle.first_decrease({at_.w, at_.direction, at_.candidates}, margins_,
                               {.loss_bound = at_.loss_bound, .noise = search_});
}

void LineSearchDescent::set_candidates(double divisor, double first) {
  double eta = first;
  for (std::size_t i = 0; i < margins_.size(); ++i, eta *= options_.shrink) {
    at_.candidates[i] = eta;
    margins_[i] = divisor * (options_.decrease * eta * at_.squared - at_.ridge_decrease(eta));
  }
}

bool LineSearchDescent::grow(PrivateOracle& oracle, const CheckAngles& growth) {
  if (!at_.draw(oracle, at_.gradient_rho, at_.second)) return false;
  const double angle = methods::angle_between(at_.gradient.value, at_.second.value);
  if (angle > kRightAngle || angle > growth.widest * mean_angle_) {
    at_.gradient_rho *= 1 + growth.raise;
    raised_in_this_step_ = true;
  } else if (angle < growth.narrowest * mean_angle_) {
    std::visit([&](auto& search) { search = raised(search, 1 + growth.raise); }, search_);
  }
  at_.gradient.mix(at_.second, 0.5);
  return true;
}

bool LineSearchDescent::grow(PrivateOracle& oracle, const RaiseGradient& growth) {
  if (!at_.draw_more(oracle, growth.raise)) return false;
  raised_in_this_step_ = true;
  return true;
}

void LineSearchDescent::remember_angle() {
  const auto* growth = std::get_if<CheckAngles>(&options_.growth);
  if (growth && at_.done > 1) {
    const double angle = methods::angle_between(at_.gradient.value, previous_);
    mean_angle_ = growth->memory * mean_angle_ + (1 - growth->memory) * angle;
  }
  previous_ = at_.gradient.value;
}

void LineSearchDescent::shrink_bounds() {
  at_.clip = at_.clip.with_bound(options_.decay->next_bound(at_.clip.bound()));
  at_.loss_bound = options_.decay->next_bound(at_.loss_bound);
}

MethodState LineSearchDescent::save() const {
  MethodState state = at_.save();
  state["previous_gradient"] = previous_;
  state["mean_angle"] = {mean_angle_};
  state["search"] = to_numbers(search_);
  return state;
}

void LineSearchDescent::restore(const MethodState& state) {
  at_.restore(state);
  previous_ = methods::saved_vector(state, kName, "previous_gradient", previous_.size());
  mean_angle_ = methods::saved_number(state, kName, "mean_angle", at_least(0).at_most(std::numbers::pi));
  const std::vector<double>& search = methods::saved_vector(state, kName, "search", 2);
  std::visit([&](auto& noise) { noise = {search[0], search[1]}; }, search_);
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

LineSearchOptions neural_line_search(double rho_of_step, std::int64_t candidates) {
  LineSearchOptions options;
  options.candidates = candidates;
  options.loss_bound = 3;
  options.gradient_rho = 0.9 * require(kName, "rho_of_step", rho_of_step, greater_than(0));
  options.search = gaussian_search_of(0.1 * rho_of_step, candidates);
  options.decrease = 0.001;
  options.growth = NeverRaise{};
  return options;
}

Event line_search_event(const LineSearchOptions& options, const Sampler& sampler) {
  const Event gradient = Event::gaussian(methods::noise_of_rho(options.gradient_rho));
  const Event search =
      DecreaseQuery{.noise = options.search}.event(static_cast<std::size_t>(options.candidates));
  return Event::composed({sampler.sampled(gradient), sampler.sampled(search)});
}

}  // namespace ration
