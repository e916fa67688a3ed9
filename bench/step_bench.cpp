// What a step costs around the gradients, for models of many parameters: budget, noise, mean, step rule,
// average. The objective has its sum, zeros, at hand in floats, as nets do; in `doubles` it writes them, and
// `step/sum` is the time of that alone.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "methods/gradient_descent.h"
#include "ration/sampling/full.h"

namespace {

using namespace ration;

constexpr std::int64_t kMostSteps = 100'000;  // of one repetition

class NoRows final : public Objective {
 public:
  NoRows(std::size_t parameters, bool floats) : parameters_(parameters), floats_(floats ? parameters : 0) {}

  std::size_t rows() const override { return 0; }
  std::size_t parameters() const override { return parameters_; }
  std::uint64_t longest_chain(std::uint64_t) const override { return 0; }
  void clipped_gradient_sum(Parameters, const Batch&, const AnyClipRule&, std::span<double> sum) override {
    std::fill(sum.begin(), sum.end(), 0.0);
  }
  std::span<const float> clipped_gradient_float_sum(const AnyWeights&, const Batch&,
                                                    const AnyClipRule&) override {
    return floats_;
  }
  void clipped_loss_sums(std::span<const Parameters>, const Batch&, double, std::span<double>) override {}
  void clipped_loss_sums_along(const Line&, const Batch&, double, std::span<double>) override {}
  std::uint64_t count_norms_at_most(Parameters, const Batch&, double) override { return 0; }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}

 private:
  std::size_t parameters_;
  std::vector<float> floats_;
};

struct With {
  GradientDescentOptions options{};
  std::size_t threads = 1;
  bool floats = true;
};

void large_steps(benchmark::State& state, const With& with) {
  const auto parameters = static_cast<std::size_t>(state.range(0));
  NoRows objective(parameters, with.floats);
  const FullSampler sampler({.rows = 0, .declared_rows = 256}, Relation::add_remove);
  const auto filter = make_plan_filter(Event::repeated(Event::gaussian(1), kMostSteps), Accountant::rdp,
                                       {.epsilon = 1e9, .delta = 1e-6}, Relation::add_remove);
  PrivateOracle oracle(objective, sampler, *filter, SecureRandom::for_this_thread(), with.threads);
  GradientDescentOptions options = with.options;
  options.noise = std::vector<double>(kMostSteps, 1.0);
  const auto method = make_gradient_descent(options, parameters);
  for (auto _ : state) {
    if (!method->step(oracle)) state.SkipWithError("no more steps");
  }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(26'000)->Arg(795'000)->Arg(2'400'000)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(large_steps, sgd, With{})->Name("step/large/sgd")->Apply(sizes);
BENCHMARK_CAPTURE(large_steps, momentum, With{{.step = {.kind = StepKind::momentum}}})
    ->Name("step/large/momentum")
    ->Apply(sizes);
BENCHMARK_CAPTURE(large_steps, adam, With{{.step = {.kind = StepKind::adam}}})
    ->Name("step/large/adam")
    ->Apply(sizes);
BENCHMARK_CAPTURE(large_steps, averaged, With{{.average = {.kind = Averaging::exponential}}})
    ->Name("step/large/averaged")
    ->Apply(sizes);

BENCHMARK_CAPTURE(large_steps, sgd_on_two, With{.threads = 2})
    ->Name("step/large/sgd_on_two_threads")
    ->Apply(sizes)
    ->UseRealTime();

BENCHMARK_CAPTURE(large_steps, doubles, With{.floats = false})->Name("step/large/doubles")->Apply(sizes);

void sum_alone(benchmark::State& state) {
  std::vector<double> sum(static_cast<std::size_t>(state.range(0)));
  NoRows objective(sum.size(), false);
  for (auto _ : state) {
    objective.clipped_gradient_sum({}, {}, Abadi{}, sum);
    benchmark::DoNotOptimize(sum.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(sum_alone)->Name("step/sum")->Apply(sizes);

}  // namespace
