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
  std::string settings() const override {
    return fmt::format("{}; protector {}; noise {} from {} floor {}", describe(options_.clip),
                       sha256_of(file_), options_.noise, options_.least_noise, options_.floor);
  }

 private:
  ProtectedDescentOptions options_;
  Protector file_;
};

[[noreturn]] void refuse(const Plan& plan, const std::string& message) {
  throw InputError(fmt::format("plan: method {}: {}", plan.method.name(), message));
}

Protector without_what_is_not_used(const Plan& plan, Protector protector) {
  if (plan.method == MethodKind::l2p_proj) protector.scheduler.clear();
  if (plan.method != MethodKind::l2p_proj && protector.scheduler.empty())
    refuse(plan, fmt::format("{} has no scheduler; use {}", plan.protector, to_string(MethodKind::l2p_proj)));
  return protector;
}

bool asks_for_norm(const Protector& protector) {
  return !protector.scheduler.empty() && protector.norm == NormSource::released;
}

bool is_sampled(const Plan& plan) {
  return plan.sampling == Sampling::fixed_size || plan.rate.value_or(1) < 1 || plan.batch;
}

// Sampled steps are of a fixed size: Poisson's have a number of rows that is private, and a norm needs a
// public one.
void fill_sampling(Plan& plan, const Protector& protector) {
  if (plan.sampling == Sampling::poisson)
    refuse(plan, "expected sampling full or fixed, got poisson, whose batches have a private size");
  plan.sampling.choose_if_auto(is_sampled(plan) ? Sampling::fixed_size : Sampling::full);
  plan.accountant.choose_if_auto(is_sampled(plan) ? Accountant::rdp : Accountant::gdp);
  if (is_sampled(plan) || !asks_for_norm(protector)) return;
  plan.relation.choose_if_auto(Relation::replace_one);
  if (plan.relation.value() != Relation::replace_one)
    refuse(plan, fmt::format("{} asks for the norm of a sum over a public number of rows, which relation "
                             "replace_one makes public, not {}",
                             plan.protector, plan.relation.name()));
}

// With the paper's accountant its choice, and otherwise that of the other methods.
void fill_rate(Plan& plan, const Protector& protector) {
  if (!is_sampled(plan) || plan.rate || plan.batch) return;
  constexpr double kUsualRate = 0.1;
  if (!(plan.accountant == Accountant::tcdp)) return void(plan.rate = kUsualRate);
  const auto rows = plan.rows ? plan.rows : data::public_rows(plan.data);
  if (!rows) return;  // resolve() asks for them
  plan.rate = protector_rate(protector, {*plan.epsilon, *plan.delta},
                             static_cast<std::int64_t>(std::ceil(*plan.expected_steps)),
                             static_cast<std::int64_t>(*rows));
}

void fill(Plan& plan) {
  if (!plan.epsilon || !plan.delta) return;  // resolve() asks for them
  if (plan.protector.empty()) plan.protector = shipped_protector(plan.model, {*plan.epsilon, *plan.delta});
  const Protector protector = without_what_is_not_used(plan, read_protector(plan.protector));
  set_if_open(plan.expected_steps, static_cast<double>(protector.origin.steps));
  set_if_open(plan.clip_bound, protector.origin.clip_bound);
  plan.clip.choose_if_auto(ClipKind::abadi);
  fill_sampling(plan, protector);
  fill_rate(plan, protector);
}

std::unique_ptr<Sampler> sampler_of(const Plan& plan) {
  if (plan.sampling.value() != Sampling::fixed_size)
    return std::make_unique<FullSampler>(TableSize{.rows = 1, .declared_rows = 1}, plan.relation.value());
  const auto size = static_cast<std::uint64_t>(std::round(*plan.rate * *plan.rows));
  return std::make_unique<FixedSizeSampler>(static_cast<std::uint64_t>(*plan.rows), size);
}

Recipe::Open make(const Plan& plan, const Budget& budget) {
  if (plan.clip == ClipKind::adaptive)
    refuse(plan, "does not go with clip adaptive; use abadi, auto-v or auto-s");
  Protector file = read_protector(plan.protector);
  auto protector = std::make_shared<const Protector>(without_what_is_not_used(plan, file));
  const NoiseRange range = protector_noise(*protector, *sampler_of(plan), plan.accountant.value(), budget,
                                           static_cast<std::int64_t>(std::ceil(*plan.expected_steps)));
  return std::make_unique<const ProtectedPlan>(ProtectedDescentOptions{.protector = std::move(protector),
                                                                       .clip = clip_of(plan),
                                                                       .noise = range.even,
                                                                       .least_noise = range.least,
                                                                       .floor = range.floor},
                                               std::move(file));
}

Settings settings_of(const Plan&) {
  return joined({clip_settings(), {"expected_steps", "protector"}});
}

}  // namespace

std::vector<Recipe> learned_recipes() {
  const auto recipe = [](MethodKind method) -> Recipe {
    return {method,
            settings_of,
            fill,
            make,
            /*takes_networks=*/true,
            /*needs_bias=*/false,
            /*substitute=*/{},
            UnitForm::even};
  };
  return {recipe(MethodKind::l2p), recipe(MethodKind::l2p_proj)};
}

}  // namespace ration
