// Random bits, secure Gaussian noise and Poisson samples of rows, on one thread.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "base/distributions.h"
#include "base/index_sampling.h"

namespace {

void random_words(benchmark::State& state) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(state.range(0)));
  auto& random = ration::SecureRandom::for_this_thread();
  for (auto _ : state) {
    random.fill(words);
    benchmark::DoNotOptimize(words.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}
BENCHMARK(random_words)->Name("random/words")->Arg(1024)->Arg(1 << 20);

// Rounded to a grid, as it is released.
void gaussian_fill(benchmark::State& state) {
  std::vector<double> noise(static_cast<std::size_t>(state.range(0)));
  auto& random = ration::SecureRandom::for_this_thread();
  for (auto _ : state) {
    ration::fill_rounded_gaussian(random, noise, 0x1.8p24);
    benchmark::DoNotOptimize(noise.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(gaussian_fill)->Name("random/gaussian_fill")->Arg(1000)->Arg(100'000)->Arg(1 << 20);

// Equal expected draw from 1e5 and 1e9 rows: the cost is that of the rows drawn.
void poisson_sample(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  const double rate = 10'000 / static_cast<double>(rows);
  std::vector<std::uint64_t> drawn;
  auto& random = ration::SecureRandom::for_this_thread();
  std::int64_t total = 0;
  for (auto _ : state) {
    ration::sample_poisson(random, rows, rate, drawn);
    total += static_cast<std::int64_t>(drawn.size());
    benchmark::DoNotOptimize(drawn.data());
  }
  state.SetItemsProcessed(total);
}
BENCHMARK(poisson_sample)->Name("random/poisson_sample")->Arg(100'000)->Arg(1'000'000'000);

void subset_sample(benchmark::State& state) {
  const auto rows = static_cast<std::uint64_t>(state.range(0));
  std::vector<std::uint64_t> drawn;
  auto& random = ration::SecureRandom::for_this_thread();
  for (auto _ : state) {
    ration::sample_subset(random, rows, 10'000, drawn);
    benchmark::DoNotOptimize(drawn.data());
  }
  state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(subset_sample)->Name("random/subset_sample")->Arg(100'000)->Arg(1'000'000'000);

void binomial_draw(benchmark::State& state) {
  auto& random = ration::SecureRandom::for_this_thread();
  for (auto _ : state) {
    benchmark::DoNotOptimize(ration::binomial(random, static_cast<std::uint64_t>(state.range(0)), 0.3));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(binomial_draw)->Name("random/binomial")->Arg(20)->Arg(1000)->Arg(1'000'000'000'000);

}  // namespace
