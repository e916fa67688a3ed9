#include "large_table.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "child_process.h"
#include "peak_memory.h"
#include "train/training.h"

namespace ration::bench {
namespace {

constexpr std::size_t kLargeRows = 10'000'000;
constexpr std::size_t kLargeColumns = 50;
constexpr double kBytesNeeded = 8e9;

double available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) return 1024 * std::stod(line.substr(13));
  }
  return 0;
}

// Steele, Lea and Flood's SplitMix64: enough for numbers that only have to differ.
class Numbers {
 public:
  double next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 1;
};

std::shared_ptr<const Rows> large_table() {
  Numbers numbers;
  std::vector<double> values(kLargeRows * kLargeColumns);
  for (double& value : values) value = numbers.next();
  std::vector<double> labels(kLargeRows);
  for (std::size_t row = 0; row < kLargeRows; ++row) labels[row] = values[row * kLargeColumns] > 0.5 ? 1 : 0;
  return std::make_shared<const Rows>(Rows::dense(kLargeColumns, std::move(values), std::move(labels)));
}

Plan large_plan() {
  Plan plan;
  plan.rows = static_cast<double>(kLargeRows);
  plan.epsilon = 1;
  plan.delta = 1e-9;
  plan.method = "dpsgd";
  plan.rate = 0.01;
  plan.steps = 100;
  return plan;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void large_training(benchmark::State& state) {
  for (auto _ : state) {
    ChildProcess process({"/proc/self/exe", "--large-table"});
    std::istringstream answer(process.hear());
    std::string outcome;
    double seconds = 0, peak = 0, table = 1;
    if (!(answer >> outcome >> seconds >> peak >> table) || outcome != "ok") {
      state.SkipWithError(answer.str().c_str());
      return;
    }
    state.SetIterationTime(seconds);
    state.counters["memory"] = peak / table;
  }
}
BENCHMARK(large_training)
    ->Name("large/train_10m_x_50")
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

int train_large_table() {
  if (available_bytes() < kBytesNeeded) {
    fmt::print("skipped: less than {:.0f} GB of memory are free\n", kBytesNeeded / 1e9);
    return 0;
  }
  const auto table = large_table();
  const double start = seconds_now();
  const ResolvedPlan plan = resolve(large_plan());
  Training training(plan, Model{}, RowTransform(table), SecureRandom::for_this_thread(), {}, {});
  while (training.step()) continue;
  fmt::print("ok {} {} {}\n", seconds_now() - start, peak_bytes(),
             static_cast<double>(kLargeRows * kLargeColumns * sizeof(double)));
  return 0;
}

}  // namespace ration::bench
