// ration_bench [--only=PREFIX] [--out=FILE]: runs the benchmarks, prints each promised figure beside its
// target, and writes them as JSON. Seven interleaved repetitions, medians of processor time: a busy machine
// disturbs both sides of a ratio alike. A figure that could not be measured here, for want of memory or a
// program, is missing, not missed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/openblas_core.h"
#include "figures.h"
#include "large_table.h"
#include "protector_memory.h"
#ifdef RATION_TORCH
#include "nn_steps.h"
#endif

namespace ration::bench {
namespace {

// Keeps the medians and prints the usual table.
class Collector : public benchmark::ConsoleReporter {
 public:
  Collector() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      const bool median = run.run_type == Run::RT_Aggregate && run.aggregate_name == "median";
      const bool only_one = run.run_type == Run::RT_Iteration && run.repetitions == 1;
      if ((median || only_one) && !run.error_occurred) keep(run);
    }
  }
  const Measurements& measurements() const { return measurements_; }

 private:
  // Without what the library adds to say how it measured.
  static std::string name(const Run& run) {
    return run.run_name.args.empty() ? run.run_name.function_name
                                     : run.run_name.function_name + "/" + run.run_name.args;
  }

  // Another process measures itself, as manual time; several threads are measured by the clock.
  void keep(const Run& run) {
    const double per_millisecond = 1e3 / benchmark::GetTimeUnitMultiplier(run.time_unit);
    const bool by_processor = run.run_name.time_type.empty();
    const double time = by_processor ? run.GetAdjustedCPUTime() : run.GetAdjustedRealTime();
    Measured measured{time * per_millisecond, 0, {}};
    for (const auto& [key, counter] : run.counters) measured.counters[key] = counter.value;
    if (const auto items = measured.counters.find("items_per_second"); items != measured.counters.end()) {
      measured.items_per_second = items->second;
    }
    measurements_[name(run)] = measured;
  }
  Measurements measurements_;
};

struct Flags {
  std::string only;
  std::string out;
};

Flags parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--only=")) {
      flags.only = argument.substr(7);
    } else if (argument.starts_with("--out=")) {
      flags.out = argument.substr(6);
    } else {
      fmt::print(stderr, "ration_bench: unknown argument '{}'; expected --only=PREFIX or --out=FILE\n",
                 argument);
      std::exit(1);
    }
  }
  return flags;
}

Measurements run(const std::string& only) {
  std::vector<std::string> words = {"ration_bench",
                                    fmt::format("--benchmark_filter=^{}", only),
                                    "--benchmark_repetitions=7",
                                    "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_min_time=0.1",
                                    "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  return collector.measurements();
}

bool is_measured(const Figure& figure, const Measurements& measurements) {
  return std::all_of(figure.needs.begin(), figure.needs.end(),
                     [&](const std::string& name) { return measurements.contains(name); });
}

nlohmann::json judge(const Figure& figure, const Measurements& measurements) {
  const double value = figure.value(measurements);
  const bool at_most = figure.goal == Figure::Goal::at_most;
  const bool ok = at_most ? value <= figure.target : value >= figure.target;
  fmt::print("{:<45} {:>12.4g} {:<8} {} {:<8g} {}\n", figure.name, value, figure.unit,
             at_most ? "<=" : ">=", figure.target, ok ? "ok" : "MISSED");
  return {
      {"name", figure.name}, {"value", value}, {"unit", figure.unit}, {"target", figure.target}, {"ok", ok}};
}

nlohmann::json missing(const Figure& figure) {
  fmt::print("{:<45} {:>12}\n", figure.name, "missing");
  return {{"name", figure.name},
          {"value", nullptr},
          {"unit", figure.unit},
          {"target", figure.target},
          {"ok", nullptr}};
}

// Whether the run was asked for everything the figure needs.
bool is_wanted(const Figure& figure, const std::string& only) {
  return std::all_of(figure.needs.begin(), figure.needs.end(),
                     [&](const std::string& name) { return name.starts_with(only); });
}

int report(const Flags& flags) {
  const Measurements measurements = run(flags.only);
  nlohmann::json results = nlohmann::json::array();
  fmt::print("\n");
  for (const Figure& figure : figures()) {
    if (is_measured(figure, measurements)) {
      results.push_back(judge(figure, measurements));
    } else if (is_wanted(figure, flags.only)) {
      results.push_back(missing(figure));
    }
  }
  if (!flags.out.empty()) {
    std::ofstream(flags.out + ".part") << results.dump(2) << "\n";
    std::rename((flags.out + ".part").c_str(), flags.out.c_str());
  }
  return 0;  // a missed target is a figure to read, not a failure to run
}

}  // namespace
}  // namespace ration::bench

int main(int argc, char** argv) {
  // Libtorch's own products are the measure, so they shall be as fast as they can be; OpenBLAS is loaded by
  // now, so once more.
  if (ration::name_core_for_openblas()) execv("/proc/self/exe", argv);
  if (argc == 2 && argv[1] == std::string_view("--large-table")) return ration::bench::train_large_table();
  constexpr std::string_view kProtector = "--protector-memory=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kProtector))
    return ration::bench::print_protector_memory(std::stoll(argv[1] + kProtector.size()));
#ifdef RATION_TORCH
  constexpr std::string_view kMemory = "--nn-memory=";
  if (argc == 2 && std::string_view(argv[1]).starts_with(kMemory))
    return ration::bench::print_network_memory(argv[1] + kMemory.size());
#endif
  return ration::bench::report(ration::bench::parse(argc, argv));
}
