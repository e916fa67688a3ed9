#include "steps/step_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/per_processor.h"
#include "ration/base/error.h"
#include "steps/saved_state.h"
#include "steps/updates.h"

namespace ration {
namespace {

bool can_correct_noise(StepKind kind) {
  return kind == StepKind::adam || kind == StepKind::adamw || kind == StepKind::nadam;
}

void check(const StepOptions& options) {
  require("step", "momentum", options.momentum, at_least(0).less_than(1));
  require("step", "second_momentum", options.second_momentum, greater_than(0).less_than(1));
  require("step", "stability", options.stability, greater_than(0));
  require("step", "weight_decay", options.weight_decay, at_least(0));
  if (options.noise_correction && !can_correct_noise(options.kind)) {
    throw InputError(fmt::format("step: noise_correction needs one of adam, adamw, nadam, got '{}'",
                                 to_string(options.kind)));
  }
}

// What all coordinates of a block share besides the update.
struct Rates {
  double decay_in_gradient;
  double decay_in_direction;
  double learning_rate;
};

// `memory` has the slots of the block's first coordinate, `stride` apart; gradient, memory and w do not
// overlap. False if a coordinate of w is not finite as a Number.
template <steps::Update Update, class Number>
RATION_INLINE bool move_block(const Update& prepared, const Rates& rates, const double* __restrict gradient,
                              std::size_t count, Number* __restrict memory, std::size_t stride,
                              Number* __restrict w) {
  const Update update = prepared;  // copies that no store can change, so that they stay in registers
  const Rates with = rates;
  // Without their signs, the bits of numbers are in the order of their size, infinity and NaN above all
  // others.
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kWithoutSign = std::numeric_limits<Bits>::max() >> 1;
  Bits largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<double, Update::kSlots> slots;
    for (std::size_t k = 0; k < Update::kSlots; ++k) slots[k] = static_cast<double>(memory[k * stride + i]);
    const auto before = static_cast<double>(w[i]);
    const double direction = update.direction(gradient[i] + with.decay_in_gradient * before, slots.data());
    const double after = before - with.learning_rate * (direction + with.decay_in_direction * before);
    w[i] = static_cast<Number>(after);
    largest = std::max(largest, std::bit_cast<Bits>(w[i]) & kWithoutSign);
    for (std::size_t k = 0; k < Update::kSlots; ++k) memory[k * stride + i] = static_cast<Number>(slots[k]);
  }
  return largest <= std::bit_cast<Bits>(std::numeric_limits<Number>::max());
}

// Any update, with its weight decay, in one pass over the parameters; w and what it remembers are kept as
// `Number`.
template <steps::Update Update, class Number>
class UpdateRule final : public StepRule {
 public:
  UpdateRule(const StepOptions& options, std::size_t parameters)
      : options_(options), parameters_(parameters), update_(options), memory_(Update::kSlots * parameters) {
    const bool decoupled = options.kind == StepKind::adamw;
    (decoupled ? decay_in_direction_ : decay_in_gradient_) = options.weight_decay;
  }

  std::size_t parameters() const override { return parameters_; }

  void begin(double noise_stddev, double learning_rate) override {
    require("step", "learning_rate", learning_rate, at_least(0));
    advance(noise_stddev);
    learning_rate_ = learning_rate;
  }

  bool move(std::size_t first, std::span<const double> gradient, AnyNumbers w) override {
    const std::span<Number> block = numbers_of(w);
    steps::require_size("step", "a block", block.size(), gradient.size());
    if (first > parameters_ || gradient.size() > parameters_ - first) {
      throw InputError(fmt::format("step: expected a block that ends at {} or before, got {} + {}",
                                   parameters_, first, gradient.size()));
    }
    return PerProcessor<move_block<Update, Number>>::call(
        update_, {decay_in_gradient_, decay_in_direction_, learning_rate_}, gradient.data(), gradient.size(),
        memory_.data() + first, parameters_, block.data());
  }

  void expect(std::size_t first, std::size_t count, Ahead& ahead) const override {
    for (std::size_t k = 0; k < Update::kSlots; ++k) {
      ahead.want(std::span(memory_).subspan(k * parameters_ + first, count));
    }
  }

  std::vector<double> save() const override {
    std::vector<double> state = {static_cast<double>(progress_.step), progress_.noise_moment};
    state.insert(state.end(), memory_.begin(), memory_.end());
    return state;
  }

  void restore(std::span<const double> state) override {
    steps::require_size("step", "a saved state", state.size(), kShared + memory_.size());
    const std::int64_t step = steps::saved_count("step", state[0]);
    progress_ = {step, require("step", "noise_moment", state[1], at_least(0))};
    std::ranges::transform(state.subspan(kShared), memory_.begin(),
                           [](double saved) { return static_cast<Number>(saved); });
  }

 private:
  static constexpr std::size_t kShared = 2;  // the numbers of StepContext

  static std::span<Number> numbers_of(AnyNumbers w) {
    if (const auto* const numbers = std::get_if<std::span<Number>>(&w)) return *numbers;
    throw InputError(fmt::format("step: expected weights in {} bits", 8 * sizeof(Number)));
  }

  void advance(double noise_stddev) {
    if (options_.noise_correction) {
      require("step", "noise_stddev", noise_stddev, at_least(0));
      const double beta = options_.second_momentum;
      progress_.noise_moment = beta * progress_.noise_moment + (1 - beta) * noise_stddev * noise_stddev;
    }
    ++progress_.step;
    update_.prepare(progress_);
  }

  StepOptions options_;
  std::size_t parameters_;
  double decay_in_gradient_ = 0;
  double decay_in_direction_ = 0;
  double learning_rate_ = 0;  // of this step
  Update update_;
  steps::StepContext progress_;
  std::vector<Number> memory_;  // slot by slot, each over all parameters
};

template <steps::Update Update>
std::unique_ptr<StepRule> rule(const StepOptions& options, std::size_t parameters) {
  if (options.in_floats) return std::make_unique<UpdateRule<Update, float>>(options, parameters);
  return std::make_unique<UpdateRule<Update, double>>(options, parameters);
}

}  // namespace

void StepRule::step(const NoisyGradient& gradient, double learning_rate, AnyNumbers w) {
  steps::require_size("step", "a gradient", gradient.value.size(), parameters());
  steps::require_size("step", "parameters", size_of(w), parameters());
  begin(gradient.noise_stddev, learning_rate);
  move(0, gradient.value, w);
}

StepOptions usual_step_options(StepKind kind) {
  if (kind == StepKind::rmsprop) return {.kind = kind, .second_momentum = 0.99};
  if (kind == StepKind::adadelta) return {.kind = kind, .second_momentum = 0.95, .stability = 1e-6};
  return {.kind = kind};
}

std::unique_ptr<StepRule> make_step_rule(const StepOptions& options, std::size_t parameters) {
  check(options);
  require("step", "parameters", static_cast<double>(parameters), at_least(1));
  switch (options.kind) {
    case StepKind::sgd:
      return rule<steps::Gradient>(options, parameters);
    case StepKind::heavy_ball:
      return rule<steps::HeavyBall>(options, parameters);
    case StepKind::momentum:
      return rule<steps::Momentum>(options, parameters);
    case StepKind::nesterov:
      return rule<steps::Nesterov>(options, parameters);
    case StepKind::adam:
    case StepKind::adamw:
      return rule<steps::Adam>(options, parameters);
    case StepKind::nadam:
      return rule<steps::NAdam>(options, parameters);
    case StepKind::adagrad:
      return rule<steps::AdaGrad>(options, parameters);
    case StepKind::rmsprop:
      return rule<steps::RmsProp>(options, parameters);
    case StepKind::adadelta:
      return rule<steps::AdaDelta>(options, parameters);
  }
  throw InternalError("step: unknown kind");
}

}  // namespace ration
