// The step of convex_bench.cpp, written by hand in NumPy (numpy_step.py): another process, that is asked for
// some steps at a time, so that its repetitions are interleaved with ours. Without NumPy there is no figure.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "child_process.h"
#include "logistic_table.h"

namespace {

using namespace ration::bench;

// Debian's NumPy belongs to Debian's Python, which need not be the first one in PATH.
std::unique_ptr<ChildProcess> start_numpy() {
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    auto process = std::make_unique<ChildProcess>(std::vector<std::string>{
        python, RATION_NUMPY_STEP, fmt::to_string(kRows), fmt::to_string(kColumns), fmt::to_string(kRate)});
    if (process->hear() == "ready") return process;
  }
  return nullptr;
}

ChildProcess* numpy() {
  static const std::unique_ptr<ChildProcess> process = start_numpy();
  return process.get();
}

void numpy_steps(benchmark::State& state, const std::string& kind) {
  if (numpy() == nullptr) {
    state.SkipWithError("python3-numpy is not installed");
    return;
  }
  constexpr int kStepsAtOnce = 20;
  while (state.KeepRunningBatch(kStepsAtOnce)) {
    numpy()->tell(fmt::format("{} {}", kind, kStepsAtOnce));
    state.SetIterationTime(std::stod(numpy()->hear()));
  }
}

BENCHMARK_CAPTURE(numpy_steps, sampled, "sampled")
    ->Name("convex/numpy_step")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(numpy_steps, gathered, "gathered")
    ->Name("convex/numpy_step_without_sampling")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
