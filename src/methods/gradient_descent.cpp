#include "methods/gradient_descent.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/check.h"
#include "base/squared_length.h"
#include "methods/noisy_gradient.h"
#include "methods/saved_state.h"
#include "oracle/descent.h"
#include "ration/base/error.h"

namespace ration {
namespace {

// A bound of 0 or infinity, which a long or fast pursuit could reach, would end a run that is paid for.
constexpr double kSmallestBound = 1e-30;
constexpr double kLargestBound = 1e30;

constexpr std::string_view kName = "gradient descent";

class GradientDescent final : public Method, private PrivateOracle::Descent {
 public:
  GradientDescent(GradientDescentOptions options, std::size_t parameters)
      : options_(std::move(options)),
        w_(methods::first_weights(kName, std::exchange(options_.start, {}), parameters),
           options_.step.in_floats ? Weights::Kept::in_floats : Weights::Kept::in_doubles),
        rule_(make_step_rule(options_.step, parameters)),
        average_(options_.average, parameters, std::max<std::int64_t>(1, total())) {
    options_.learning_rate.at(1, std::max<std::int64_t>(1, total()));
    if (options_.follow && options_.clip.kind() != ClipKind::abadi) {
      throw InputError(
          fmt::format("adaptive clipping: expected the rule 'abadi', got '{}'", options_.clip.name()));
    }
  }

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override {
    w_.copy_to(out);
    average_.result(out, out);
  }
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  std::vector<double> values() const {
    std::vector<double> out(w_.size());
    w_.copy_to(out);
    return out;
  }
  std::int64_t total() const { return static_cast<std::int64_t>(options_.noise.size()); }
  void begin(double noise_stddev);
  void move(std::size_t first, std::span<const double> gradient, AnyNumbers w) override;
  void expect(std::size_t first, std::size_t count, Ahead& ahead) const override {
    rule_->expect(first, count, ahead);
    average_.expect_block(first, count, ahead);
  }
  void end();
  void follow(const CountQuery& query, double share);

  GradientDescentOptions options_;
  std::int64_t done_ = 0;
  Weights w_;
  std::unique_ptr<StepRule> rule_;
  IterateAverage average_;
  StepReport report_;
  // Of the blocks that were moved so far in this step, by whichever thread.
  std::atomic<double> squared_length_ = 0;
  std::atomic<bool> finite_ = true;
};

// Every block of the gradient is used up while it is in the first cache; only a bound that follows a quantile
// needs the whole, since it asks about the rows at the same w before that moves.
bool GradientDescent::step(PrivateOracle& oracle) {
  if (done_ == total()) return false;
  const GradientQuery query{.clip = options_.clip,
                            .noise_multiplier = options_.noise[static_cast<std::size_t>(done_)]};
  const double noise_stddev = oracle.gradient_stddev(query);
  if (!options_.follow) {
    auto sample = oracle.one_sample({query.event()});
    if (!sample) return false;
    begin(noise_stddev);
    sample->descend(w_, query, *this);
  } else {
    const CountQuery count{.bound = query.clip.bound(),
                           .noise_multiplier = query.noise_multiplier * options_.follow->count_noise_ratio};
    auto sample = oracle.one_sample({query.event(), count.event()});
    if (!sample) return false;
    std::vector<double> gradient(w_.size());
    const std::vector<double> w = values();
    sample->gradient(w, query, gradient);
    follow(count, sample->count(w, count));
    begin(noise_stddev);
    move(0, gradient, w_.block(0, w_.size()));
  }
  end();
  return true;
}

void GradientDescent::begin(double noise_stddev) {
  const double rate = options_.learning_rate.at(done_ + 1, total());
  rule_->begin(noise_stddev, rate);
  average_.begin(done_ + 1);
  report_ = {.step = ++done_, .learning_rate = rate, .noise_stddev = noise_stddev};
  squared_length_ = 0;
  finite_ = true;
}

void GradientDescent::move(std::size_t first, std::span<const double> gradient, AnyNumbers w) {
  if (!rule_->move(first, gradient, w)) finite_ = false;
  std::visit([&](auto block) { average_.add_block(first, block); }, w);
  squared_length_ += squared_length(gradient);
}

// Whether the weights are finite depends on the data only through private answers, so saying it tells nothing
// more.
void GradientDescent::end() {
  report_.gradient_norm = std::sqrt(squared_length_);
  if (finite_) return;
  throw InputError(fmt::format(
      "gradient descent: the weights overflow in step {}; take a smaller learning rate or weight decay",
      done_));
}

void GradientDescent::follow(const CountQuery& query, double share) {
  const double next = options_.follow->follower.next_bound(query.bound, share, 1);
  options_.clip = options_.clip.with_bound(std::clamp(next, kSmallestBound, kLargestBound));
}

MethodState GradientDescent::save() const {
  return {{"step", {static_cast<double>(done_)}},
          {"weights", values()},
          {"rule", rule_->save()},
          {"average", average_.save()},
          {"clip_bound", {options_.clip.bound()}}};
}

void GradientDescent::restore(const MethodState& state) {
  const std::vector<double>& weights = methods::saved_vector(state, kName, "weights", w_.size());
  const double bound = methods::saved_number(state, kName, "clip_bound", greater_than(0));
  done_ = static_cast<std::int64_t>(
      methods::saved_number(state, kName, "step", at_least(0).at_most(static_cast<double>(total()))));
  w_.set(weights);
  rule_->restore(methods::saved(state, kName, "rule"));
  average_.restore(methods::saved(state, kName, "average"));
  options_.clip = options_.clip.with_bound(bound);
}

}  // namespace

std::unique_ptr<Method> make_gradient_descent(GradientDescentOptions options, std::size_t parameters) {
  return std::make_unique<GradientDescent>(std::move(options), parameters);
}

Event gradient_descent_event(double noise_multiplier, const std::optional<FollowQuantile>& follow) {
  const Event gradient = Event::gaussian(noise_multiplier);
  if (!follow) return gradient;
  return Event::composed({gradient, Event::gaussian(noise_multiplier * follow->count_noise_ratio)});
}

}  // namespace ration
