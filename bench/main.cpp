// ration_bench [--only=PREFIX] [--out=FILE]: runs the benchmarks, prints each promised figure beside its
// target, and writes them as JSON. Seven interleaved repetitions, medians of processor time: a busy machine
// disturbs both sides of a ratio alike. A figure that could not be measured here, for want of memory or a
// program, is missing, not missed.
//
// Figures that depend on the instruction set are measured with each that the machine has, in a process of its
// own, and have its name at their end: random/gaussian_fill/avx2. Networks are not measured with the portable
// one, and what is measured with it has no target. RATION_CPU=avx2 measures that set alone.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/instruction_set.h"
#include "base/library_kernels.h"
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
  std::string filter;  // of a process that measures for another one: which benchmarks
};

Flags parse(int argc, char** argv) {
  Flags flags;
  const auto read = [](std::string_view argument, std::string_view flag, std::string& value) {
    if (argument.starts_with(flag)) value = argument.substr(flag.size());
    return argument.starts_with(flag);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (read(argument, "--only=", flags.only) || read(argument, "--out=", flags.out)) continue;
    if (read(argument, "--measure=", flags.filter)) continue;
    fmt::print(stderr, "ration_bench: unknown argument '{}'; expected --only=PREFIX or --out=FILE\n",
               argument);
    std::exit(1);
  }
  return flags;
}

Measurements run(const std::string& filter) {
  std::vector<std::string> words = {"ration_bench",
                                    "--benchmark_filter=" + filter,
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

// --- one process for each instruction set

void write(const Measurements& measurements, const std::string& file) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, one] : measurements)
    json[name] = {one.milliseconds, one.items_per_second, one.counters};
  std::ofstream(file) << json;
}

Measurements read(const std::string& file) {
  const auto json = nlohmann::json::parse(std::ifstream(file));
  Measurements measurements;
  for (const auto& [name, one] : json.items()) measurements[name] = {one.at(0), one.at(1), one.at(2)};
  return measurements;
}

// Nothing if the process failed.
Measurements measure_with(InstructionSet set, const std::string& filter) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string file = folder / fmt::format("ration_bench_{}.json", getpid());
  fmt::print("\n--- {}\n", to_string(set));
  std::fflush(stdout);
  const pid_t process = fork();
  if (process == 0) {
    setenv("RATION_CPU", std::string(to_string(set)).c_str(), 1);
    const std::string measure = "--measure=" + filter, out = "--out=" + file;
    execl("/proc/self/exe", "ration_bench", measure.c_str(), out.c_str(), nullptr);
    _exit(1);
  }
  int status = 0;
  if (process < 0 || waitpid(process, &status, 0) < 0 || status != 0) return {};
  const Measurements measured = read(file);
  std::remove(file.c_str());
  return measured;
}

bool is_measured(const Figure& figure, const Measurements& measurements) {
  return std::all_of(figure.needs.begin(), figure.needs.end(),
                     [&](const std::string& name) { return measurements.contains(name); });
}

// Whether the run was asked for everything the figure needs.
bool is_wanted(const Figure& figure, const std::string& only) {
  return std::all_of(figure.needs.begin(), figure.needs.end(),
                     [&](const std::string& name) { return name.starts_with(only); });
}

bool is_for_set(const Figure& figure, InstructionSet set) {
  const bool network = figure.name.starts_with("nn/");
  return figure.per_set && !(network && set == InstructionSet::portable);
}

// The benchmarks that figures of a lower set need; empty if there are none. The library adds words to names,
// such as real_time.
std::string filter_for(InstructionSet set, const std::string& only) {
  std::string names;
  for (const Figure& figure : figures()) {
    if (!is_for_set(figure, set) || !is_wanted(figure, only)) continue;
    for (const std::string& name : figure.needs) names += (names.empty() ? "" : "|") + name;
  }
  return names.empty() ? "" : fmt::format("^({})(/[a-z].*)?$", names);
}

nlohmann::json judge(const Figure& figure, const std::string& name, const Measurements& measurements,
                     bool has_target) {
  const double value = figure.value(measurements);
  const bool at_most = figure.goal == Figure::Goal::at_most;
  const bool ok = at_most ? value <= figure.target : value >= figure.target;
  fmt::print("{:<50} {:>12.4g} {:<8}", name, value, figure.unit);
  if (has_target) fmt::print(" {} {:<8g} {}", at_most ? "<=" : ">=", figure.target, ok ? "ok" : "MISSED");
  fmt::print("\n");
  nlohmann::json result = {
      {"name", name}, {"value", value}, {"unit", figure.unit}, {"target", figure.target}, {"ok", ok}};
  if (!has_target) result["target"] = result["ok"] = nullptr;
  return result;
}

nlohmann::json missing(const Figure& figure, const std::string& name) {
  fmt::print("{:<50} {:>12}\n", name, "missing");
  return {
      {"name", name}, {"value", nullptr}, {"unit", figure.unit}, {"target", figure.target}, {"ok", nullptr}};
}

// The figures of one set; those that do not depend on it are told of the best one.
void report_set(InstructionSet set, bool best, const Measurements& measurements, const std::string& only,
                nlohmann::json& results) {
  for (const Figure& figure : figures()) {
    if (!best && !is_for_set(figure, set)) continue;
    const std::string name = figure.per_set ? fmt::format("{}/{}", figure.name, to_string(set)) : figure.name;
    if (is_measured(figure, measurements)) {
      results.push_back(judge(figure, name, measurements, set != InstructionSet::portable));
    } else if (is_wanted(figure, only)) {
      results.push_back(missing(figure, name));
    }
  }
}

std::vector<InstructionSet> sets_to_measure() {
  const InstructionSet best = requested_instruction_set();
  if (std::getenv("RATION_CPU") != nullptr) return {best};
  const auto all = available_instruction_sets();
  return {all.rbegin(), all.rend()};
}

int report(const Flags& flags) {
  if (!flags.filter.empty()) {
    write(run(flags.filter), flags.out);
    return 0;
  }
  const std::vector<InstructionSet> sets = sets_to_measure();
  std::vector<Measurements> measurements;
  for (const InstructionSet set : sets) {
    const std::string filter = set == sets.front() ? "^" + flags.only : filter_for(set, flags.only);
    measurements.push_back(filter.empty() ? Measurements{} : measure_with(set, filter));
  }
  nlohmann::json results = nlohmann::json::array();
  fmt::print("\n");
  for (std::size_t i = 0; i < sets.size(); ++i)
    report_set(sets[i], i == 0, measurements[i], flags.only, results);
  if (!flags.out.empty()) {
    std::ofstream(flags.out + ".part") << results.dump(2) << "\n";
    std::rename((flags.out + ".part").c_str(), flags.out.c_str());
  }
  return 0;  // a missed target is a figure to read, not a failure to run
}

}  // namespace
}  // namespace ration::bench

int main(int argc, char** argv) {
  // Libtorch's own products are the measure, so they shall be as fast as they can be with the set; OpenBLAS
  // is loaded by now, so once more.
  const bool measures = argc > 1 && std::string_view(argv[1]).starts_with("--measure=");
  if (measures && ration::choose_library_kernels()) execv("/proc/self/exe", argv);
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
