#include "train/recipes/learned.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "data/named_data.h"
#include "methods/protector.h"
#include "ration/base/error.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "train/recipes/settings.h"
#include "train/shipped_protectors.h"

namespace ration {
namespace {

constexpr const char* kProjectorAlone = "l2p-proj";

class ProtectedPlan final : public AdaptiveMethod {
 public:
  // `file`: as it was read; `options.protector` may lack the scheduler.
  ProtectedPlan(ProtectedDescentOptions options, Protector file)
      : options_(std::move(options)), file_(std::move(file)) {
    make_protected_descent(options_, 1);  // what it refuses is refused before a row is read
  }
  Event typical(const Sampler& sampler) const override {
    std::vector<Event> parts;
    for (const Event& event : protected_step_events(*options_.protector, options_.noise))
      parts.push_back(sampler.sampled(event));
    return Event::composed(std::move(parts));
  }
  std::unique_ptr<Method> make(const ModelShape& model) const override {
    ProtectedDescentOptions options = options_;
    options.start = model.start;
    return make_protected_descent(options, model.parameters());
  }
  const Protector* protector() const override { return &file_; }

 private:
  ProtectedDescentOptions options_;
  Protector file_;
};

[[noreturn]] void refuse(const Plan& plan, const std::string& message) {
  throw InputError(fmt::format("plan: method {}: {}", plan.method, message));
}

Protector without_what_is_not_used(const Plan& plan, Protector protector) {
  if (plan.method == kProjectorAlone) protector.scheduler.clear();
  if (plan.method != kProjectorAlone && protector.scheduler.empty())
    refuse(plan, fmt::format("{} has no scheduler; use {}", plan.protector, kProjectorAlone));
  return protector;
}

bool asks_for_norm(const Protector& protector) {
  return !protector.scheduler.empty() && protector.norm == NormSource::released;
}

bool is_sampled(const Plan& plan) {
  return plan.sampling == "fixed" || plan.rate.value_or(1) < 1 || plan.batch;
}

// Sampled steps are of a fixed size: Poisson's have a number of rows that is private, and a norm needs a
// public one.
void fill_sampling(Plan& plan, const Protector& protector) {
  if (plan.sampling == "poisson")
    refuse(plan, "expected sampling full or fixed, got poisson, whose batches have a private size");
  choose_if_auto(plan.sampling, is_sampled(plan) ? "fixed" : "full");
  choose_if_auto(plan.accountant, is_sampled(plan) ? "rdp" : "gdp");
  if (is_sampled(plan) || !asks_for_norm(protector)) return;
  choose_if_auto(plan.relation, "replace_one");
  if (plan.relation != "replace_one")
    refuse(plan, fmt::format("{} asks for the norm of a sum over a public number of rows, which relation "
                             "replace_one makes public, not {}",
                             plan.protector, plan.relation));
}

// With the paper's accountant its choice, and otherwise that of the other methods.
void fill_rate(Plan& plan, const Protector& protector) {
  if (!is_sampled(plan) || plan.rate || plan.batch) return;
  constexpr double kUsualRate = 0.1;
  if (plan.accountant != "tcdp") return void(plan.rate = kUsualRate);
  const auto rows = plan.rows ? plan.rows : data::public_rows(plan.data);
  if (!rows) return;  // resolve() asks for them
  plan.rate = protector_rate(protector, {*plan.epsilon, *plan.delta},
                             static_cast<std::int64_t>(std::ceil(*plan.expected_steps)),
                             static_cast<std::int64_t>(*rows));
}

void fill(Plan& plan) {
  if (!plan.epsilon || !plan.delta) return;  // resolve() asks for them
  if (plan.protector.empty()) plan.protector = shipped_protector(loss_of(plan), {*plan.epsilon, *plan.delta});
  const Protector protector = without_what_is_not_used(plan, read_protector(plan.protector));
  set_if_open(plan.expected_steps, static_cast<double>(protector.origin.steps));
  set_if_open(plan.clip_bound, protector.origin.clip_bound);
  choose_if_auto(plan.clip, "abadi");
  choose_if_auto(plan.average, "none");
  fill_sampling(plan, protector);
  fill_rate(plan, protector);
}

std::unique_ptr<Sampler> sampler_of(const Plan& plan) {
  if (plan.sampling != "fixed")
    return std::make_unique<FullSampler>(TableSize{.rows = 1, .declared_rows = 1},
                                         relation_from_string(plan.relation));
  const auto size = static_cast<std::uint64_t>(std::round(*plan.rate * *plan.rows));
  return std::make_unique<FixedSizeSampler>(static_cast<std::uint64_t>(*plan.rows), size);
}

Recipe::Open make(const Plan& plan, const Budget& budget) {
  if (plan.clip == "adaptive") refuse(plan, "does not go with clip adaptive; use abadi, auto-v or auto-s");
  Protector file = read_protector(plan.protector);
  auto protector = std::make_shared<const Protector>(without_what_is_not_used(plan, file));
  const NoiseRange range =
      protector_noise(*protector, *sampler_of(plan), accountant_from_string(plan.accountant), budget,
                      static_cast<std::int64_t>(std::ceil(*plan.expected_steps)));
  return std::make_unique<const ProtectedPlan>(ProtectedDescentOptions{.protector = std::move(protector),
                                                                       .clip = clip_of(plan),
                                                                       .noise = range.even,
                                                                       .least_noise = range.least,
                                                                       .floor = range.floor},
                                               std::move(file));
}

}  // namespace

std::vector<Recipe> learned_recipes() {
  return {
      {"l2p", "a protector chooses noise and steps, as it learned on public tasks [L2P]", fill, make, true},
      {kProjectorAlone, "the same with even noise: its projector alone [L2P]", fill, make, true}};
}

}  // namespace ration
