#include "ration/privacy/event.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace ration {
namespace {

const Interval kPositive = greater_than(0);
const Interval kRate = greater_than(0).at_most(1);

std::string describe_composed(const std::vector<Event>& parts) {
  std::vector<std::string> words;
  for (const Event& part : parts) words.push_back(part.describe());
  return fmt::format("[{}]", fmt::join(words, "; "));
}

// Nested repetition can overflow a count; no run makes that many releases, so it is an input error.
double require_count(double count) {
  return require("Event::repeated", "count", count, at_least(0).at_most(9.2e18));
}
std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) require_count(static_cast<double>(a) * static_cast<double>(b));
  return product;
}
std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) require_count(static_cast<double>(a) + static_cast<double>(b));
  return sum;
}

void flatten_into(const Event& event, std::int64_t count, std::vector<CountedEvent>& out) {
  if (count == 0) return;
  visit(
      event, [](const Event::Nothing&) {},
      [&](const Event::Composed& composed) {
        for (const Event& part : composed.parts) flatten_into(part, count, out);
      },
      [&](const Event::Repeated& repeated) {
        flatten_into(repeated.base, checked_product(count, repeated.count), out);
      },
      [&](const auto&) {
        if (!out.empty() && &out.back().event.node() == &event.node()) {
          out.back().count = checked_sum(out.back().count, count);
        } else {
          out.push_back({event, count});
        }
      });
}

}  // namespace

Event::Event(Node node) : node_(std::make_shared<const Node>(std::move(node))) {}

Event Event::nothing() {
  return Event(Nothing{});
}

Event Event::gaussian(double noise_multiplier) {
  return Event(Gaussian{require("Gaussian", "noise_multiplier", noise_multiplier, kPositive)});
}

Event Event::laplace(double scale) {
  return Event(Laplace{require("Laplace", "scale", scale, kPositive)});
}

Event Event::pure_dp(double epsilon) {
  return Event(PureDp{require("PureDp", "epsilon", epsilon, at_least(0))});
}

Event Event::above_threshold_laplace(double threshold_epsilon, double query_epsilon) {
  return Event(
      AboveThresholdLaplace{require("AboveThreshold", "threshold_epsilon", threshold_epsilon, kPositive),
                            require("AboveThreshold", "query_epsilon", query_epsilon, kPositive)});
}

Event Event::above_threshold_gaussian(double threshold_noise, double query_noise, std::int64_t queries) {
  require("AboveThreshold", "queries", static_cast<double>(queries), at_least(0));
  return Event(
      AboveThresholdGaussian{require("AboveThreshold", "threshold_noise", threshold_noise, kPositive),
                             require("AboveThreshold", "query_noise", query_noise, kPositive), queries});
}

Event Event::discrete_gaussian(double noise_multiplier) {
  return Event(
      DiscreteGaussian{require("DiscreteGaussian", "noise_multiplier", noise_multiplier, kPositive)});
}

Event Event::bounded_range(double epsilon) {
  return Event(BoundedRange{require("BoundedRange", "epsilon", epsilon, kPositive)});
}

Event Event::noisy_max(double epsilon) {
  return Event(NoisyMax{require("NoisyMax", "epsilon", epsilon, kPositive)});
}

Event Event::poisson_sampled(double rate, Event base) {
  return Event(PoissonSampled{require("Poisson", "rate", rate, kRate), std::move(base)});
}

Event Event::fixed_size_sampled(double rate, Event base) {
  return Event(FixedSizeSampled{require("FixedSize", "rate", rate, kRate), std::move(base)});
}

Event Event::composed(std::vector<Event> parts) {
  return Event(Composed{std::move(parts)});
}

Event Event::repeated(Event base, std::int64_t count) {
  require("Repeated", "count", static_cast<double>(count), at_least(0));
  return Event(Repeated{std::move(base), count});
}

std::string Event::describe() const {
  return visit(
      *this, [](const Nothing&) -> std::string { return "nothing"; },
      [](const Gaussian& e) { return fmt::format("Gaussian(noise {})", e.noise_multiplier); },
      [](const Laplace& e) { return fmt::format("Laplace(scale {})", e.scale); },
      [](const PureDp& e) { return fmt::format("PureDp(epsilon {})", e.epsilon); },
      [](const AboveThresholdLaplace& e) {
        return fmt::format("AboveThreshold(Laplace, epsilon {} + 2 x {})", e.threshold_epsilon,
                           e.query_epsilon);
      },
      [](const AboveThresholdGaussian& e) {
        const std::string queries =
            e.queries > 0 ? fmt::format("at most {}", e.queries) : "unknown number of";
        return fmt::format("AboveThreshold(Gaussian, noise {} and {}, {} queries)", e.threshold_noise,
                           e.query_noise, queries);
      },
      [](const DiscreteGaussian& e) { return fmt::format("DiscreteGaussian(noise {})", e.noise_multiplier); },
      [](const BoundedRange& e) { return fmt::format("BoundedRange(epsilon {})", e.epsilon); },
      [](const NoisyMax& e) { return fmt::format("NoisyMax(epsilon {})", e.epsilon); },
      [](const PoissonSampled& e) { return fmt::format("Poisson({}) of {}", e.rate, e.base.describe()); },
      [](const FixedSizeSampled& e) { return fmt::format("FixedSize({}) of {}", e.rate, e.base.describe()); },
      [](const Composed& e) { return describe_composed(e.parts); },
      [](const Repeated& e) { return fmt::format("{}, {} times", e.base.describe(), e.count); });
}

std::vector<CountedEvent> flatten(const Event& event) {
  std::vector<CountedEvent> out;
  flatten_into(event, 1, out);
  return out;
}

}  // namespace ration
