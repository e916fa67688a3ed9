// A private training step of a network next to libtorch's own, on 1 and 2 threads: both kinds in turn in one
// process, the ratio of the medians. And the peak memory of a process that takes only one kind of them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "child_process.h"
#include "nn_steps.h"

namespace {

using namespace ration::bench;

double milliseconds_of(const auto& step) {
  const auto start = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void private_over_plain(benchmark::State& state, const std::string& name) {
  constexpr std::size_t kFewestPairs = 3;
  constexpr std::size_t kMostPairs = 21;
  constexpr double kEnough = 3000;  // milliseconds: a pair of ResNet9's steps takes a second
  NetworkSteps steps(name, static_cast<std::size_t>(state.range(0)));
  std::vector<double> plain, of_private;
  for (int i = 0; i < 2; ++i) steps.plain_step(), steps.private_step();
  for (auto _ : state) {
    double spent = 0;
    while (plain.size() < kFewestPairs || (plain.size() < kMostPairs && spent < kEnough)) {
      plain.push_back(milliseconds_of([&] { steps.plain_step(); }));
      of_private.push_back(milliseconds_of([&] { steps.private_step(); }));
      spent += plain.back() + of_private.back();
    }
  }
  state.counters["plain_ms"] = median(plain);
  state.counters["private_ms"] = median(of_private);
  state.counters["ratio"] = median(of_private) / median(plain);
}

double peak_of(const std::string& which) {
  ChildProcess process({"/proc/self/exe", "--nn-memory=" + which});
  const std::string answer = process.hear();
  return answer.empty() ? 0 : std::stod(answer);
}

void memory(benchmark::State& state, const std::string& name) {
  for (auto _ : state) {
    const double plain = peak_of(name + ":plain");
    const double of_private = peak_of(name + ":private");
    if (plain == 0 || of_private == 0) {
      state.SkipWithError("no answer");
      return;
    }
    state.counters["plain_mb"] = plain / 1e6;
    state.counters["private_mb"] = of_private / 1e6;
    state.counters["memory"] = of_private / plain;
  }
}

const bool kRegistered = [] {
  for (const MeasuredNetwork& network : measured_networks()) {
    const std::string prefix = "nn/" + network.name;
    benchmark::RegisterBenchmark((prefix + "/private_over_plain").c_str(),
                                 [=](benchmark::State& state) { private_over_plain(state, network.name); })
        ->Arg(1)
        ->Arg(2)
        ->Iterations(1)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark((prefix + "/memory").c_str(),
                                 [=](benchmark::State& state) { memory(state, network.name); })
        ->Iterations(1)
        ->Repetitions(1)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
