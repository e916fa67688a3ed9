#include "ration/methods/gradient_descent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "methods/noisy_gradient.h"
#include "methods/saved_state.h"
#include "ration/base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

// A bound of 0 or infinity, which a long or fast pursuit could reach, would end a run that is paid for.
constexpr double kSmallestBound = 1e-30;
constexpr double kLargestBound = 1e30;

constexpr std::string_view kName = "gradient descent";

class GradientDescent final : public Method {
 public:
  GradientDescent(const GradientDescentOptions& options, std::size_t parameters)
      : options_(options),
        w_(methods::first_weights(kName, options.start, parameters)),
        gradient_(parameters, 0.0),
        rule_(make_step_rule(options.step, parameters)),
        average_(options.average, parameters, std::max<std::int64_t>(1, total())) {
    options.learning_rate.at(1, std::max<std::int64_t>(1, total()));
    if (options.follow && options.clip.name() != "abadi") {
      throw InputError(
          fmt::format("adaptive clipping: expected the rule 'abadi', got '{}'", options.clip.name()));
    }
  }

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override { average_.result(out); }
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  std::int64_t total() const { return static_cast<std::int64_t>(options_.noise.size()); }
  void require_finite_weights() const;
  bool ask(PrivateOracle& oracle, const GradientQuery& query);
  bool ask_and_follow(PrivateOracle& oracle, const GradientQuery& query);

  GradientDescentOptions options_;
  std::int64_t done_ = 0;
  std::vector<double> w_;
  std::vector<double> gradient_;
  std::unique_ptr<StepRule> rule_;
  IterateAverage average_;
  StepReport report_;
};

bool GradientDescent::step(PrivateOracle& oracle) {
  if (done_ == total()) return false;
  const GradientQuery query{.clip = options_.clip,
                            .noise_multiplier = options_.noise[static_cast<std::size_t>(done_)]};
  if (!ask(oracle, query)) return false;
  ++done_;
  const double rate = options_.learning_rate.at(done_, total());
  report_ = {.step = done_,
             .learning_rate = rate,
             .gradient_norm = methods::length(gradient_),
             .noise_stddev = oracle.gradient_stddev(query)};
  rule_->step({.value = gradient_, .noise_stddev = report_.noise_stddev}, rate, w_);
  require_finite_weights();
  average_.add(done_, w_);
  return true;
}

// They depend on the data only through private answers, so saying this tells nothing more.
void GradientDescent::require_finite_weights() const {
  if (std::all_of(w_.begin(), w_.end(), [](double weight) { return std::isfinite(weight); })) return;
  throw InputError(fmt::format(
      "gradient descent: the weights overflow in step {}; take a smaller learning rate or weight decay",
      done_));
}

bool GradientDescent::ask(PrivateOracle& oracle, const GradientQuery& query) {
  return options_.follow ? ask_and_follow(oracle, query) : oracle.gradient(w_, query, gradient_);
}

bool GradientDescent::ask_and_follow(PrivateOracle& oracle, const GradientQuery& query) {
  const CountQuery count{.bound = query.clip.bound(),
                         .noise_multiplier = query.noise_multiplier * options_.follow->count_noise_ratio};
  auto sample = oracle.one_sample({query.event(), count.event()});
  if (!sample) return false;
  sample->gradient(w_, query, gradient_);
  const double share = sample->count(w_, count);
  const double next = options_.follow->follower.next_bound(query.clip.bound(), share, 1);
  options_.clip = query.clip.with_bound(std::clamp(next, kSmallestBound, kLargestBound));
  return true;
}

MethodState GradientDescent::save() const {
  return {{"step", {static_cast<double>(done_)}},
          {"weights", w_},
          {"rule", rule_->save()},
          {"average", average_.save()},
          {"clip_bound", {options_.clip.bound()}}};
}

void GradientDescent::restore(const MethodState& state) {
  const std::vector<double>& weights = methods::saved_vector(state, kName, "weights", w_.size());
  const double bound = methods::saved_number(state, kName, "clip_bound", greater_than(0));
  done_ = static_cast<std::int64_t>(
      methods::saved_number(state, kName, "step", at_least(0).at_most(static_cast<double>(total()))));
  w_ = weights;
  rule_->restore(methods::saved(state, kName, "rule"));
  average_.restore(methods::saved(state, kName, "average"));
  options_.clip = options_.clip.with_bound(bound);
}

}  // namespace

std::unique_ptr<Method> make_gradient_descent(const GradientDescentOptions& options, std::size_t parameters) {
  return std::make_unique<GradientDescent>(options, parameters);
}

Event gradient_descent_event(double noise_multiplier, const std::optional<FollowQuantile>& follow) {
  const Event gradient = Event::gaussian(noise_multiplier);
  if (!follow) return gradient;
  return Event::composed({gradient, Event::gaussian(noise_multiplier * follow->count_noise_ratio)});
}

}  // namespace ration
