// Accountants on the plan that public libraries are timed on: rate .01, noise 1, 10,000 steps, delta 1e-5.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "privacy/exact.h"
#include "privacy/pld.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"

namespace {

using namespace ration;

constexpr double kRate = 0.01;
constexpr double kDelta = 1e-5;
constexpr std::int64_t kSteps = 10'000;

Event plan(double noise) {
  return Event::repeated(Event::poisson_sampled(kRate, Event::gaussian(noise)), kSteps);
}

void rdp_epsilon(benchmark::State& state) {
  const Event event = plan(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(account(event, Relation::add_remove, Accountant::rdp, kDelta).epsilon);
  }
}
BENCHMARK(rdp_epsilon)->Name("accounting/rdp_epsilon_10k")->Unit(benchmark::kMillisecond);

void pld_epsilon(benchmark::State& state) {
  const Event event = plan(1);
  double bracket = 0;
  for (auto _ : state) {
    const Guarantee guarantee = account(event, Relation::add_remove, Accountant::pld, kDelta);
    bracket = guarantee.epsilon - guarantee.epsilon_lower.value();
  }
  state.counters["bracket"] = bracket;
}
BENCHMARK(pld_epsilon)->Name("accounting/pld_epsilon_10k")->Unit(benchmark::kMillisecond);

void exact_curve(benchmark::State& state) {
  const SampledGaussianPlan steps = {{kRate, 1, kSteps}};
  for (auto _ : state) benchmark::DoNotOptimize(exact_epsilon(steps, kDelta));
}
BENCHMARK(exact_curve)->Name("accounting/exact_epsilon_10k")->Unit(benchmark::kMillisecond);

// The largest distance to the multi-precision reference values.
void exact_vectors(benchmark::State& state) {
  const nlohmann::json file = nlohmann::json::parse(std::ifstream(RATION_VECTORS));
  double error = 0;
  for (auto _ : state) {
    for (const auto& vector_case : file.at("cases")) {
      if (vector_case.at("kind") != "tight_eps") continue;
      const auto& p = vector_case.at("params");
      const SampledGaussianPlan steps = {{p.at("q"), p.at("sigma"), p.at("T")}};
      const double expected = vector_case.at("expected").at("eps");
      error = std::max(error, std::abs(exact_epsilon(steps, p.at("delta")).value_or(NAN) - expected));
    }
  }
  state.counters["error"] = error;
}
BENCHMARK(exact_vectors)->Name("accounting/exact_vectors")->Unit(benchmark::kMillisecond);

void calibrate_pld(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        calibrate_noise(plan, Relation::add_remove, Accountant::pld, {.epsilon = 3, .delta = kDelta}));
  }
}
BENCHMARK(calibrate_pld)->Name("accounting/calibrate_pld_eps3")->Unit(benchmark::kMillisecond);

}  // namespace
