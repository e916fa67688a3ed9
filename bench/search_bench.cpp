// Private line search on a table of adult's shape: what looking at seven points of a line costs next to a
// gradient, a whole run of DP-BLSGD, and how `ration compare` shares its jobs between processors.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "compare/run_comparison.h"
#include "logistic_table.h"
#include "ration/clipping/abadi.h"
#include "ration/data/census.h"
#include "ration/objectives/glm/glm.h"
#include "train/training.h"

namespace {

using namespace ration;
using namespace ration::bench;

Batch all_rows() {
  Batch batch{.rows = std::vector<std::uint64_t>(kRows), .divisor = static_cast<double>(kRows)};
  std::iota(batch.rows.begin(), batch.rows.end(), std::uint64_t{0});
  return batch;
}

const std::vector<double> kWeights(kColumns, 0.01);

void gradient(benchmark::State& state) {
  const auto objective = make_glm(sparse_table(kAdultEntries), {.loss = GlmLoss::logistic, .threads = 1});
  const Batch batch = all_rows();
  std::vector<double> sum(kColumns);
  for (auto _ : state) objective->clipped_gradient_sum(kWeights, batch, Abadi{3}, sum);
}
BENCHMARK(gradient)->Name("search/gradient")->Unit(benchmark::kMillisecond);

void losses_along(benchmark::State& state) {
  const auto objective = make_glm(sparse_table(kAdultEntries), {.loss = GlmLoss::logistic, .threads = 1});
  const Batch batch = all_rows();
  const std::vector<double> direction(kColumns, 0.02);
  std::vector<double> steps(static_cast<std::size_t>(state.range(0))), sums(steps.size());
  std::iota(steps.begin(), steps.end(), 0.0);
  for (auto _ : state) objective->clipped_loss_sums_along({kWeights, direction, steps}, batch, 1, sums);
}
BENCHMARK(losses_along)->Name("search/losses_along")->Arg(7)->Arg(21)->Unit(benchmark::kMillisecond);

void blsgd(benchmark::State& state) {
  Plan plan;
  plan.method = "blsgd";
  plan.rows = static_cast<double>(kRows);
  plan.epsilon = 0.4;
  plan.delta = 1e-8;
  for (auto _ : state) {
    const ResolvedPlan resolved = resolve(plan);
    Training training(resolved, Model{}, RowTransform(sparse_table(kAdultEntries)),
                      SecureRandom::for_this_thread());
    while (training.step()) continue;
    benchmark::DoNotOptimize(training.weights().data());
  }
}
BENCHMARK(blsgd)->Name("search/blsgd_run")->Unit(benchmark::kMillisecond);

// A made-up census and a comparison on it, on disk for as long as the object lives.
class CompareFolder {
 public:
  CompareFolder()
      : path_(std::filesystem::temp_directory_path() / ("ration-compare-" + std::to_string(std::rand()))) {
    std::filesystem::create_directories(path_);
    std::ofstream table(path_ / "census.csv");
    data::write_census(table, 20'000, 1);
    std::ofstream(path_ / "census.toml") << data::to_toml(data::census_schema());
    std::ofstream(path_ / "compare.toml")
        << "public = true\nepsilons = [0.2, 0.8]\ndelta = 1e-8\nfolds = 10\n"
           "[data.census]\nfiles = 'census.csv'\nschema = 'census.toml'\n"
           "[models.logistic]\n[methods.blsgd]\n[methods.dpsgd]\n";
  }
  ~CompareFolder() { std::filesystem::remove_all(path_); }

  void run(std::size_t threads) const {
    const std::string out = (path_ / "out").string();
    std::filesystem::remove_all(out);
    compare::run_comparison(compare::read_comparison((path_ / "compare.toml").string()),
                            {.out = out, .threads = threads});
  }

 private:
  std::filesystem::path path_;
};

void compare_on_threads(benchmark::State& state) {
  const CompareFolder folder;
  for (auto _ : state) folder.run(static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(compare_on_threads)
    ->Name("search/compare_on_threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
