#include "privacy/steps.h"

#include <fmt/format.h>

#include <cmath>

#include "ration/base/error.h"

namespace ration {
namespace {

bool is_sampled(const Event& event) {
  return std::holds_alternative<Event::PoissonSampled>(event.node()) ||
         std::holds_alternative<Event::FixedSizeSampled>(event.node());
}

std::optional<double> joint_gaussian_noise(const std::vector<CountedEvent>& mechanisms) {
  double precision = 0;
  for (const CountedEvent& mechanism : mechanisms) {
    const auto* gaussian = std::get_if<Event::Gaussian>(&mechanism.event.node());
    if (gaussian == nullptr) return std::nullopt;
    precision +=
        static_cast<double>(mechanism.count) / (gaussian->noise_multiplier * gaussian->noise_multiplier);
  }
  if (mechanisms.size() == 1 && mechanisms[0].count == 1) {
    return std::get<Event::Gaussian>(mechanisms[0].event.node()).noise_multiplier;
  }
  return 1 / std::sqrt(precision);
}

void refuse_nested(Sampling sampling, const std::vector<CountedEvent>& mechanisms) {
  for (const CountedEvent& mechanism : mechanisms) {
    if (!is_sampled(mechanism.event)) continue;
    throw InputError(fmt::format(
        "a sample of a sample is not certified: {} of {}; draw once, with the product of the rates",
        in_words(sampling), mechanism.event.describe()));
  }
}

// The cost of such a search grows with the number of its queries, without end. (docs/pitfalls.md)
void refuse_unknown_queries(const std::vector<CountedEvent>& mechanisms) {
  for (const CountedEvent& mechanism : mechanisms) {
    const auto* search = std::get_if<Event::AboveThresholdGaussian>(&mechanism.event.node());
    if (search == nullptr || search->queries > 0) continue;
    throw InputError(fmt::format(
        "{}: not certified, because no bound holds for every number of queries and this event does not say "
        "how many there were; it was written by version 0.2 or older, whose figure for it may be too small",
        mechanism.event.describe()));
  }
}

void refuse_relation(Sampling sampling, Relation relation) {
  if (sampling == Sampling::poisson && relation != Relation::add_remove) {
    throw InputError(
        "sampling 'poisson' with relation 'replace_one' has no amplification theorem here; "
        "use relation 'add_remove', or sampling 'fixed' or 'full' with 'replace_one'");
  }
  if (sampling == Sampling::fixed_size && relation != Relation::replace_one) {
    throw InputError(
        "sampling 'fixed' with relation 'add_remove' has no amplification theorem here; "
        "use relation 'replace_one', or sampling 'poisson' or 'full' with 'add_remove'");
  }
}

Step sampled_step(Sampling sampling, double rate, const Event& base, std::int64_t count, Relation relation) {
  std::vector<CountedEvent> mechanisms = flatten(base);
  refuse_nested(sampling, mechanisms);
  refuse_unknown_queries(mechanisms);
  if (rate == 1) sampling = Sampling::full;
  refuse_relation(sampling, relation);
  const auto noise = joint_gaussian_noise(mechanisms);
  return {sampling, rate, std::move(mechanisms), count, noise};
}

}  // namespace

std::string_view in_words(Sampling sampling) {
  switch (sampling) {
    case Sampling::full:
      break;
    case Sampling::poisson:
      return "Poisson";
    case Sampling::fixed_size:
      return "fixed size";
  }
  return "full batch";
}

std::vector<Step> steps_of(const Event& event, Relation relation) {
  std::vector<Step> steps;
  for (const auto& [item, count] : flatten(event)) {
    const auto n = count;
    const Event& mechanism = item;
    Step step = visit(
        mechanism,
        [&](const Event::PoissonSampled& e) {
          return sampled_step(Sampling::poisson, e.rate, e.base, n, relation);
        },
        [&](const Event::FixedSizeSampled& e) {
          return sampled_step(Sampling::fixed_size, e.rate, e.base, n, relation);
        },
        [&](const auto&) { return sampled_step(Sampling::full, 1, mechanism, n, relation); });
    if (!step.mechanisms.empty()) steps.push_back(std::move(step));
  }
  return steps;
}

SampledGaussianPlan gaussian_plan(const std::vector<Step>& steps) {
  SampledGaussianPlan plan;
  for (const Step& step : steps) {
    plan.push_back({.rate = step.rate, .noise = *step.gaussian_noise, .count = step.count});
  }
  return plan;
}

}  // namespace ration
