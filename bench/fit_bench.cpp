// A whole fit of logistic regression at epsilon 1, as `ration train` does it between reading the rows and
// writing the model: calibrate the noise, train, certify. Other libraries are timed on the same shape. The
// argument is the share of the rows in a step, in percent; 100 steps, all other settings as they are if
// nothing is said. On one thread, in processor time, and once on all processors, by the clock.
#include <benchmark/benchmark.h>

#include "logistic_table.h"
#include "ration/privacy/certificate.h"
#include "train/training.h"

namespace {

using namespace ration;
using namespace ration::bench;

Plan plan_with(double rate) {
  Plan plan;
  plan.rows = static_cast<double>(kRows);
  plan.epsilon = 1;
  plan.delta = 1e-6;
  plan.method = "dpsgd";
  plan.rate = rate;
  return plan;
}

void fit(benchmark::State& state, const std::shared_ptr<const Rows>& table, const Plan& plan,
         std::size_t threads = 1) {
  for (auto _ : state) {
    const ResolvedPlan resolved = resolve(plan);
    Training training(resolved, Model{}, RowTransform(table), SecureRandom::for_this_thread(), {},
                      {.threads = threads});
    while (training.step()) continue;
    const Certificate certificate = certify(training.released(), resolved.relation, resolved.accountant,
                                            resolved.budget, resolved.spending_by());
    benchmark::DoNotOptimize(certificate.epsilon);
    benchmark::DoNotOptimize(training.weights().data());
  }
}

void fit_sparse(benchmark::State& state) {
  fit(state, sparse_table(kAdultEntries), plan_with(static_cast<double>(state.range(0)) / 100));
}
BENCHMARK(fit_sparse)->Name("fit/sparse")->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

// Nothing set but the budget; all rows in every step.
void fit_auto(benchmark::State& state) {
  Plan plan = plan_with(1);
  plan.method = "auto";
  fit(state, sparse_table(kAdultEntries), plan);
}
BENCHMARK(fit_auto)->Name("fit/auto")->Unit(benchmark::kMillisecond);

void fit_on_all_processors(benchmark::State& state) {
  fit(state, sparse_table(kAdultEntries), plan_with(1), 0);
}
BENCHMARK(fit_on_all_processors)
    ->Name("fit/sparse_all_processors/100")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void fit_dense(benchmark::State& state) {
  fit(state, dense_table(), plan_with(static_cast<double>(state.range(0)) / 100));
}
BENCHMARK(fit_dense)->Name("fit/dense")->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
