#include "text/plan_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "methods/protector.h"
#include "privacy/cautions.h"
#include "privacy/sampler_delta.h"
#include "text/progress_bar.h"
#include "train/method_plan.h"

namespace ration::cli {
namespace {

// What is drawn, counted and protected.
std::string one_of(const ResolvedPlan& plan) {
  return plan.plan.unit.empty() ? "row" : plan.plan.unit;
}

std::string describe_sampling(const ResolvedPlan& plan) {
  if (plan.fixed_size) {
    return fmt::format("{} {}, drawn without replacement", *plan.fixed_size,
                       plan.plan.unit.empty() ? "rows" : "units");
  }
  if (plan.rate < 1)
    return fmt::format("each {} with probability {} (Poisson)", one_of(plan), show(plan.rate));
  return "every " + one_of(plan);
}

std::string describe_clip(const ResolvedPlan& plan) {
  const std::string bound = show(plan.plan.clip_bound.value_or(0));
  if (plan.plan.clip == ClipKind::auto_s) {
    return fmt::format("auto-s, bound {}, gamma {}", bound, show(plan.plan.clip_gamma));
  }
  return fmt::format("{}, bound {}", plan.plan.clip.name(), bound);
}

std::string describe_step(const ResolvedPlan& plan) {
  return fmt::format("{}, learning rate {}, average {}", plan.plan.step.name(),
                     show(plan.plan.lr.value_or(0)), plan.plan.average.name());
}

std::string describe_rows(const ResolvedPlan& plan) {
  if (plan.count_noise) {
    const bool no_hats = plan.plan.method == MethodKind::automatic && plan.plan.features.is_auto();
    return fmt::format("counted with noise {} first, for about 1 % of the budget; give {} to save it{}",
                       show_rounded_up(*plan.count_noise), plan.plan.unit.empty() ? "--rows" : "--units",
                       no_hats ? ", and for features hats" : "");
  }
  if (!plan.plan.rows) return "their number is public under replace_one";
  return fmt::format("{}, declared", show(*plan.plan.rows));
}

std::string describe_model(const ResolvedPlan& plan) {
  const std::string why = plan.why_model.empty() ? "" : "; auto chose it: " + plan.why_model;
  return plan.plan.model.name() + why;
}

std::string describe_method(const ResolvedPlan& plan) {
  const std::string name(plan.plan.method.name());
  if (!plan.is_private()) return name + ": NOT PRIVATE, for comparison only";
  const std::string why = plan.why_method.empty() ? "" : "; auto chose it: " + plan.why_method;
  if (plan.fixed() == nullptr) return name + ", as many steps as the budget allows";
  return fmt::format("{}, {} {}{}", name, plan.steps(), plan.steps() == 1 ? "step" : "steps", why);
}

std::string describe_protector(const ResolvedPlan& plan) {
  const ProtectorOrigin& origin = plan.protector()->origin;
  return fmt::format("{}, trained on {} for epsilon {}", plan.plan.protector, origin.tasks,
                     show(origin.epsilon));
}

std::string describe_spending(const ResolvedPlan& plan) {
  if (!plan.is_private()) return "no budget: the rows are not protected";
  return fmt::format("epsilon {} of {} at delta {}  {}", show_rounded_up(plan.cost.epsilon),
                     show(plan.budget.epsilon), show(plan.budget.delta),
                     bar(plan.cost.epsilon / plan.budget.epsilon, 20));
}

std::string describe_sampler(const ResolvedPlan& plan) {
  if (!keeps_sampler_part(plan.budget))
    return "exact; nothing of delta is kept for the cipher beyond epsilon 20";
  return fmt::format("exact; {} of delta is kept for the cipher's random bits",
                     show_rounded_up(kSamplerPart * plan.budget.delta));
}

std::vector<PlannedRelease> releases_of(const ResolvedPlan& plan) {
  return plan.fixed() == nullptr ? std::vector<PlannedRelease>{} : plan.fixed()->releases();
}

std::string describe_release(const PlannedRelease& release) {
  return fmt::format("{:<18}{:>3.0f} % of mu^2: {}", release.what, 100 * release.share, release.why);
}

std::string describe_accountant(const ResolvedPlan& plan) {
  return fmt::format("{}, relation {}", to_string(plan.accountant), to_string(plan.relation));
}

}  // namespace

std::string to_text(const ResolvedPlan& plan) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, value);
  };
  if (plan.schema_was_found) line("schema", plan.plan.schema + ", found by the name of the data");
  line("model", describe_model(plan));
  line("method", describe_method(plan));
  if (plan.protector() != nullptr) line("protector", describe_protector(plan));
  for (const PlannedRelease& release : releases_of(plan)) line("releases", describe_release(release));
  line("sampling", describe_sampling(plan));
  if (!plan.plan.unit.empty()) line("protects", unit_in_words(plan.plan.unit, *plan.plan.rows_per_unit));
  line(plan.plan.unit.empty() ? "rows" : "units", describe_rows(plan));
  if (plan.mean_noise) {
    line("centred", fmt::format("by their mean with noise {}, for about 1 % of the budget",
                                show_rounded_up(*plan.mean_noise)));
  }
  if (plan.plan.clip_bound) line("clipping", describe_clip(plan));
  if (plan.plan.lr) line("step rule", describe_step(plan));
  if (plan.fixed() != nullptr) {
    line("noise", fmt::format("{} times the sensitivity, {}", show_rounded_down(plan.noise_multiplier),
                              plan.plan.schedule.name()));
  }
  if (plan.is_private()) line("sampler", describe_sampler(plan));
  line("accountant", describe_accountant(plan));
  line("spends", describe_spending(plan));
  for (const std::string& one : cautions(plan)) line("caution", one);
  return text;
}

std::vector<std::string> cautions(const ResolvedPlan& plan) {
  if (!plan.is_private()) return {};
  return cautions_before_rows({plan.cost.epsilon, plan.budget.delta}, plan.plan.rows);
}

void write_to(nlohmann::ordered_json& json, const ResolvedPlan& plan) {
  json["method"] = plan.plan.method.name();
  if (!plan.why_method.empty()) json["why_method"] = plan.why_method;
  for (const PlannedRelease& release : releases_of(plan)) {
    json["releases"].push_back({{"what", release.what}, {"share", release.share}, {"why", release.why}});
  }
  json["model"] = plan.plan.model.name();
  if (!plan.why_model.empty()) json["why_model"] = plan.why_model;
  if (plan.is_private()) {
    json["epsilon"] = plan.cost.epsilon;
  } else {
    json["epsilon"] = nullptr;
  }
  json["delta"] = plan.budget.delta;
  json["epsilon_budget"] = plan.budget.epsilon;
  json["accountant"] = to_string(plan.accountant);
  json["relation"] = to_string(plan.relation);
  json["noise_multiplier"] = nullptr;
  json["steps"] = nullptr;
  if (plan.fixed() != nullptr) {
    json["noise_multiplier"] = plan.noise_multiplier;
    json["steps"] = plan.steps();
  }
  if (plan.protector() != nullptr) {
    json["protector"] = plan.plan.protector;
    json["protector_sha256"] = sha256_of(*plan.protector());
  }
  if (plan.is_private()) {
    json["sampler"] = "exact";
    json["sampler_delta"] = plan.budget.delta - plan.budget_of_events().delta;
  }
  json["sampling"] = plan.plan.sampling.name();
  json["rate"] = plan.rate;
  if (plan.plan.clip_bound) {
    json["clip"] = plan.plan.clip.name();
    json["clip_bound"] = *plan.plan.clip_bound;
  }
  if (plan.schema_was_found) json["schema"] = plan.plan.schema;
  if (!plan.plan.unit.empty()) {
    json["unit"] = plan.plan.unit;
    json["rows_per_unit"] = *plan.plan.rows_per_unit;
    if (plan.plan.units) json["units_declared"] = *plan.plan.units;
  } else if (plan.plan.rows)
    json["rows_declared"] = *plan.plan.rows;
  if (plan.count_noise) json["count_noise"] = *plan.count_noise;
  if (plan.mean_noise) json["mean_noise"] = *plan.mean_noise;
  json["cautions"] = cautions(plan);
}

}  // namespace ration::cli
