#include "methods/auto/auto_linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/squared_length.h"
#include "methods/auto/curvature_guess.h"
#include "methods/auto/design.h"
#include "methods/auto/newton_steps.h"
#include "methods/descent_noise.h"
#include "methods/saved_state.h"
#include "ration/base/error.h"
#include "ration/clipping/abadi.h"

namespace ration {
namespace {

constexpr std::string_view kName = "auto";

constexpr double kMeanShare = 0.1;
constexpr double kMomentShare = 0.1;
constexpr double kGradientShare = 1 - kMeanShare - kMomentShare;
constexpr int kGradients = 16;

constexpr double kMeanBound = 4.1;  // longer rows are shortened for the mean alone
// The least part of a row's expected length that is kept; numbers in [0, 1] are closer to what a model says
// of them than classes are to a probability.
constexpr double kClip = 0.2;
constexpr double kClipOfSquared = 0.1;
constexpr double kWarmUp = 0.25;      // of the gradients, before the average; rows that are white
constexpr double kLongWarmUp = 0.75;  // other rows, which take more steps
constexpr std::uint64_t kSeed = 1;    // of guesses that are made of answers; nothing private hangs on it

// The steps one after the other: noise, lengths, curvature, weights, gradient.
std::vector<double> flat(std::span<const NoisyStep> path) {
  std::vector<double> numbers;
  for (const NoisyStep& step : path) {
    numbers.push_back(step.noise);
    for (const auto* part : {&step.lengths, &step.curvature, &step.from, &step.gradient})
      numbers.insert(numbers.end(), part->begin(), part->end());
  }
  return numbers;
}

std::vector<NoisyStep> path_of(std::span<const double> numbers, std::size_t steps, std::size_t outputs,
                               std::size_t weights) {
  std::vector<NoisyStep> path;
  const auto next = [&](std::size_t count) {
    const auto part = numbers.first(count);
    numbers = numbers.subspan(count);
    return std::vector<double>(part.begin(), part.end());
  };
  while (steps-- > 0) {
    NoisyStep step{.from = {}, .gradient = {}, .noise = next(1).front(), .lengths = {}, .curvature = {}};
    step.lengths = next(outputs);
    step.curvature = next(outputs * outputs);
    step.from = next(weights);
    step.gradient = next(weights);
    path.push_back(std::move(step));
  }
  return path;
}

class AutoLinear final : public Method {
 public:
  explicit AutoLinear(const AutoLinearOptions& options) : options_(options) {
    require(kName, "columns", static_cast<double>(options.columns), at_least(2));
    require(kName, "noise", options.noise, greater_than(0));
    gradients_ = gradients_from(0);
  }

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return report_; }
  void weights(std::span<double> out) const override;
  std::optional<KnownNoise> known_noise() const override;
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  bool ask_for_mean(PrivateOracle& oracle);
  bool ask_for_moment(PrivateOracle& oracle);
  bool ask_for_gradient(PrivateOracle& oracle);

  Design scaled(bool with_bias) const;
  void begin_gradients();
  std::size_t gradients_from(std::size_t stage) const {
    const auto first = options_.stages.begin() + static_cast<std::ptrdiff_t>(stage);
    return static_cast<std::size_t>(std::count(first, options_.stages.end(), AutoStage::gradient));
  }

  double gradient_mu() const { return std::sqrt(kGradientShare) / options_.noise; }
  // Of a row of the expected length, how steep it may be before it is clipped.
  double kept_slope(double rows) const;
  StepModel step_model() const { return {options_.loss, options_.huber_width, options_.outputs}; }
  std::vector<double> average() const;
  std::size_t coordinates() const { return design_.view->coordinates(); }

  AutoLinearOptions options_;
  std::size_t done_ = 0;
  std::size_t gradients_ = 0;  // all of them
  std::size_t gradients_done_ = 0;
  std::size_t averaged_ = 0;  // of those, the last ones
  StepReport report_;

  // What was released, with the noise of each number.
  std::vector<double> mean_, moment_;
  double mean_noise_ = 0, moment_noise_ = 0, gradient_noise_ = 0;
  double kept_slope_ = kClip;

  Design design_;  // made of these
  bool is_white_ = false;
  std::shared_ptr<const RowView> looked_through_;  // the oracle's
  std::vector<double> w_, sum_, gradient_;         // empty before the first gradient; of the averaged weights
  std::vector<NoisyStep> path_;                    // as it was gone, for error bars
};

bool AutoLinear::step(PrivateOracle& oracle) {
  if (done_ == options_.stages.size()) return false;
  const bool answered = [&] {
    switch (options_.stages[done_]) {
      case AutoStage::mean:
        return ask_for_mean(oracle);
      case AutoStage::moment:
        return ask_for_moment(oracle);
      case AutoStage::gradient:
        return ask_for_gradient(oracle);
    }
    throw InternalError("auto: no such stage");
  }();
  if (!answered) return false;
  report_.step = static_cast<std::int64_t>(++done_);
  return true;
}

// The last number is the bias's, which stays as it is.
bool AutoLinear::ask_for_mean(PrivateOracle& oracle) {
  const MeanOfRowsQuery query{.bound = kMeanBound,
                              .noise_multiplier = noise_of(AutoStage::mean, options_.noise)};
  std::vector<double> mean(options_.columns);
  if (!oracle.mean_of_rows(query, mean)) return false;
  mean.pop_back();
  mean_ = std::move(mean);
  mean_noise_ = oracle.mean_of_rows_stddev(query);
  report_ = {.noise_stddev = mean_noise_};
  return true;
}

bool AutoLinear::ask_for_moment(PrivateOracle& oracle) {
  const Design before = scaled(/*with_bias=*/false);
  oracle.look_through(before.view);
  const SecondMomentQuery query{.bound = std::sqrt(before.expected_squared_norm),
                                .noise_multiplier = noise_of(AutoStage::moment, options_.noise)};
  std::vector<double> moment(triangle_size(before.directions));
  if (!oracle.second_moment(query, moment)) return false;
  moment_ = std::move(moment);
  moment_noise_ = oracle.second_moment_stddev(query);
  report_ = {.noise_stddev = moment_noise_};
  return true;
}

Design AutoLinear::scaled(bool with_bias) const {
  if (!mean_.empty()) return centred_and_scaled(mean_, mean_noise_, with_bias);
  return centred_and_scaled(std::vector<double>(options_.columns - 1, 0.5), 0, with_bias);
}

void AutoLinear::begin_gradients() {
  is_white_ = !moment_.empty();
  design_ = is_white_ ? whitened(scaled(false), moment_, moment_noise_) : scaled(true);
  w_.assign(coordinates() * options_.outputs, 0.0);
  sum_ = gradient_ = w_;
}

double AutoLinear::kept_slope(double rows) const {
  const auto directions = static_cast<double>(design_.directions * options_.outputs);
  const double signal = 0.2 * rows * gradient_mu() / directions;
  const double least = options_.loss == GlmLoss::squared ? kClipOfSquared : kClip;
  return std::clamp(least * std::sqrt(signal), least, 1.0);
}

bool AutoLinear::ask_for_gradient(PrivateOracle& oracle) {
  if (w_.empty()) begin_gradients();
  if (looked_through_ != design_.view) oracle.look_through(looked_through_ = design_.view);
  kept_slope_ = kept_slope(oracle.divisor());
  const GradientQuery query{.clip = Abadi{kept_slope_ * std::sqrt(design_.expected_squared_norm + 1)},
                            .noise_multiplier = noise_of(AutoStage::gradient, options_.noise)};
  if (!oracle.gradient(w_, query, gradient_)) return false;
  gradient_noise_ = oracle.gradient_stddev(query);
  const std::vector<double> lengths = step_lengths(step_model(), design_, is_white_, w_);
  path_.push_back({w_, gradient_, gradient_noise_, lengths, expected_hessian(step_model(), design_, w_)});
  for (std::size_t i = 0; i < w_.size(); ++i) w_[i] -= lengths[i / coordinates()] * gradient_[i];
  const double warm_up = (is_white_ ? kWarmUp : kLongWarmUp) * static_cast<double>(gradients_);
  if (static_cast<double>(gradients_done_++) >= warm_up) {
    ++averaged_;
    for (std::size_t i = 0; i < w_.size(); ++i) sum_[i] += w_[i];
  }
  report_ = {.learning_rate = lengths[0],
             .gradient_norm = std::sqrt(squared_length(gradient_)),
             .noise_stddev = gradient_noise_};
  return true;
}

std::vector<double> AutoLinear::average() const {
  std::vector<double> w = averaged_ > 0 ? sum_ : w_;
  for (double& weight : w) weight /= static_cast<double>(std::max<std::size_t>(1, averaged_));
  return w;
}

void AutoLinear::weights(std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  if (w_.empty()) return;
  std::vector<double> w = average();
  shrink_by_known_noise(step_model(), design_, is_white_,
                        {gradient_noise_, gradients_done_, averaged_, kept_slope_}, w);
  design_.view->weights_for_rows(w, out);
}

std::optional<KnownNoise> AutoLinear::known_noise() const {
  if (w_.empty()) return std::nullopt;
  const NoiseDesign design =
      is_white_
          ? white_noise_design(*scaled(false).view, {moment_, moment_noise_ / std::sqrt(2), design_.floor},
                               options_.groups, kSeed)
          : plain_noise_design(*design_.view, design_.scales);
  NoisyDescent descent{
      .outputs = options_.outputs, .steps = path_, .shares = std::vector<double>(path_.size(), 0.0)};
  const std::size_t averaged = std::max<std::size_t>(1, averaged_);
  std::fill(descent.shares.end() - static_cast<std::ptrdiff_t>(averaged), descent.shares.end(),
            1 / static_cast<double>(averaged));
  const auto directions = static_cast<std::size_t>(design.factor.rows());
  KnownNoise noise{.centre = std::vector<double>(options_.columns * options_.outputs),
                   .directions = directions,
                   .factor = std::vector<double>(directions * options_.columns),
                   .covariance = covariance_of_average(descent, design.guesses)};
  design_.view->weights_for_rows(average(), noise.centre);
  for (std::size_t k = 0; k < directions; ++k) {
    for (std::size_t j = 0; j < options_.columns; ++j)
      noise.factor[k * options_.columns + j] =
          design.factor(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j));
  }
  return noise;
}

MethodState AutoLinear::save() const {
  return {{"step", {static_cast<double>(done_)}},
          {"gradients", {static_cast<double>(gradients_done_), static_cast<double>(averaged_)}},
          {"mean", mean_},
          {"moment", moment_},
          {"noise", {mean_noise_, moment_noise_, gradient_noise_, kept_slope_}},
          {"weights", w_},
          {"sum", sum_},
          {"path", flat(path_)}};
}

void AutoLinear::restore(const MethodState& state) {
  const auto noise = methods::saved_vector(state, kName, "noise", 4);
  const auto step = methods::saved_number(state, kName, "step",
                                          at_least(0).at_most(static_cast<double>(options_.stages.size())));
  const auto gradients = methods::saved_vector(state, kName, "gradients", 2);
  require(kName, "gradients", gradients[0], at_least(0).at_most(step));
  require(kName, "averaged", gradients[1], at_least(0).at_most(gradients[0]));
  mean_ = methods::saved(state, kName, "mean");
  moment_ = methods::saved(state, kName, "moment");
  mean_noise_ = noise[0];
  moment_noise_ = noise[1];
  gradient_noise_ = noise[2];
  kept_slope_ = noise[3];
  if (!mean_.empty() && mean_.size() + 1 != options_.columns) {
    throw InputError(fmt::format("checkpoint: auto: expected a mean of {} numbers, got {}",
                                 options_.columns - 1, mean_.size()));
  }
  if (!moment_.empty() && moment_.size() != triangle_size(scaled(false).directions)) {
    throw InputError("checkpoint: auto: the second moment is not of the columns that the mean keeps");
  }
  if (gradients[0] > 0) {
    begin_gradients();
    w_ = methods::saved_vector(state, kName, "weights", w_.size());
    sum_ = methods::saved_vector(state, kName, "sum", w_.size());
  }
  const std::size_t steps = static_cast<std::size_t>(gradients[0]);
  const std::size_t numbers = steps * (1 + options_.outputs * (1 + options_.outputs) + 2 * w_.size());
  path_ = path_of(methods::saved_vector(state, kName, "path", numbers), steps, options_.outputs, w_.size());
  done_ = static_cast<std::size_t>(step);
  gradients_done_ = static_cast<std::size_t>(gradients[0]);
  averaged_ = static_cast<std::size_t>(gradients[1]);
  // Which stages were lost cannot be told from their number, so those that are done go by the state alone.
  gradients_ = gradients_done_ + gradients_from(done_);
  report_ = {.step = static_cast<std::int64_t>(done_), .noise_stddev = gradient_noise_};
}

}  // namespace

std::vector<AutoStage> AutoLinearOptions::usual_stages() {
  std::vector<AutoStage> stages{AutoStage::mean, AutoStage::moment};
  stages.insert(stages.end(), kGradients, AutoStage::gradient);
  return stages;
}

double share_of(AutoStage stage) {
  return stage == AutoStage::mean ? kMeanShare : stage == AutoStage::moment ? kMomentShare : kGradientShare;
}

double noise_of(AutoStage stage, double noise) {
  const int releases = stage == AutoStage::gradient ? kGradients : 1;
  return noise / std::sqrt(share_of(stage) / releases);
}

std::vector<CountedEvent> auto_linear_events(const std::vector<AutoStage>& stages, double noise) {
  std::vector<CountedEvent> events;
  for (const AutoStage stage : stages) {
    const Event event = Event::gaussian(noise_of(stage, noise));
    if (!events.empty() && events.back().event == event) {
      ++events.back().count;
    } else {
      events.push_back({event, 1});
    }
  }
  return events;
}

std::unique_ptr<Method> make_auto_linear(const AutoLinearOptions& options) {
  return std::make_unique<AutoLinear>(options);
}

}  // namespace ration
