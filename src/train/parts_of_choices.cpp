#include "train/parts_of_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "ration/base/error.h"
#include "train/method_plan.h"

namespace ration {
namespace {

using Names = std::string_view[];

constexpr Names kHuber = {"huber"};
constexpr Names kOfConditionNumbers = {"influence", "influence-momentum"};
constexpr Names kFalling = {"exponential", "time"};
constexpr Names kStep = {"step"};
constexpr Names kPolynomial = {"polynomial"};
constexpr Names kAutoS = {"auto-s"};
constexpr Names kAdaptive = {"adaptive"};
constexpr Names kExponential = {"exponential"};
constexpr Names kAdams = {"adam", "adamw", "nadam"};
constexpr Names kWithMeanSquares = {"adam", "adamw", "nadam", "rmsprop", "adadelta"};
constexpr Names kWithSquares = {"adam", "adamw", "nadam", "adagrad", "rmsprop", "adadelta"};

constexpr PartOfChoice kParts[] = {
    {"huber_width", "model", kHuber},
    {"gamma", "schedule", kOfConditionNumbers},
    {"schedule_rate", "schedule", kFalling},
    {"schedule_every", "schedule", kStep},
    {"schedule_factor", "schedule", kStep},
    {"schedule_end", "schedule", kPolynomial},
    {"schedule_power", "schedule", kPolynomial},
    {"clip_gamma", "clip", kAutoS},
    {"clip_quantile", "clip", kAdaptive},
    {"clip_follow_rate", "clip", kAdaptive},
    {"drop_every", "lr_shape", kStep},
    {"drop_factor", "lr_shape", kStep},
    {"second_momentum", "step", kWithMeanSquares},
    {"stability", "step", kWithSquares},
    {"noise_correction", "step", kAdams},
    {"average_decay", "average", kExponential},
};

// As a user writes it.
std::string chosen(const Plan& plan, std::string_view choice) {
  const std::string toml = plan_key(choice).get(plan).value_or("");
  return toml.starts_with('"') ? toml.substr(1, toml.size() - 2) : toml;
}

bool counts(const Plan& plan, const PartOfChoice& part) {
  return std::find(part.values.begin(), part.values.end(), chosen(plan, part.choice)) != part.values.end();
}

}  // namespace

std::span<const PartOfChoice> parts_of_choices() {
  return kParts;
}

void refuse_parts_of_other_choices(const Plan& plan) {
  const Plan usual;
  for (const PartOfChoice& part : kParts) {
    const PlanKey& key = plan_key(part.key);
    const bool given = key.get(plan) != key.get(usual);
    if (!given || !is_used(plan, part.choice) || counts(plan, part)) continue;
    throw InputError(fmt::format("plan: {}: only {} {} uses it, and this plan has {}; leave it out", part.key,
                                 part.choice, fmt::join(part.values, ", "), chosen(plan, part.choice)));
  }
}

}  // namespace ration
