// Meta-training of a protector in batches of 20 steps, on made-up images of the size of MNIST's, and its
// fused LSTM.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <string>

#include "base/distributions.h"
#include "base/public_random.h"
#include "child_process.h"
#include "meta/first_weights.h"
#include "meta/train_protector.h"
#include "methods/protector/coordinate_lstm.h"
#include "peak_memory.h"
#include "protector_memory.h"
#include "ration/base/random.h"

namespace {

using namespace ration;
using Clock = std::chrono::steady_clock;

// As many as the fours and sixes, a fifth of the pixels bright.
Rows made_up_images() {
  constexpr std::size_t kImages = 11'760, kColumns = 785;
  PublicRandom random(1);
  SparseMatrix matrix;
  matrix.columns = kColumns;
  std::vector<double> labels(kImages);
  for (double& label : labels) {
    label = bernoulli(random, 0.5) ? 1 : 0;
    for (std::int32_t j = 0; j < static_cast<std::int32_t>(kColumns); ++j) {
      if (!bernoulli(random, 0.2)) continue;
      matrix.indices.push_back(j);
      matrix.values.push_back(uniform(random));
    }
    matrix.starts.push_back(matrix.indices.size());
  }
  return Rows::build_public(std::move(matrix), std::move(labels));
}

std::shared_ptr<const Protector> untrained(double steps) {
  PublicRandom random(1);
  Protector protector;
  protector.output_scale = 0.01;
  protector.scheduler = meta::first_scheduler({Protector::kSchedulerInputs, protector.units}, steps, random);
  protector.projector =
      meta::first_projector({Protector::kProjectorInputs, protector.units}, {}, steps, random);
  return std::make_shared<const Protector>(std::move(protector));
}

// One epoch: a scheduler's update of two passes and five of the projector, on a network of four layers. From
// the end of the first epoch to that of the second, since nothing else happens between them.
double epoch_seconds(const Rows& images, std::int64_t steps, const std::vector<std::size_t>& hidden,
                     std::int64_t projector_updates) {
  const auto count = static_cast<double>(images.count());
  const meta::TaskSource tasks = meta::networks_on(images, hidden, (std::sqrt(count) + 10) / count);
  std::atomic<bool> stop{false};
  meta::MetaOptions options;
  options.budget = {0.8, 1e-8};
  options.steps = steps;
  options.relation = Relation::replace_one;
  options.accountant = Accountant::rdp;
  options.training = meta::SchedulerTraining::batch_soft;
  options.whole_unrolls = false;
  options.unrolls = 1;
  options.projector_updates = projector_updates;
  options.epochs = 3;
  options.validate_every = 1000;
  options.validation_tasks = 1;
  options.threads = 2;
  options.from = untrained(static_cast<double>(steps));
  options.stop = &stop;
  Clock::time_point first{}, second{};
  meta::train_protector(options, tasks, tasks, {}, [&](const meta::MetaProgress& progress) {
    (progress.epoch == 1 ? first : second) = Clock::now();
    if (progress.epoch == 2) stop = true;
  });
  return std::chrono::duration<double>(second - first).count();
}

// Every step costs the same, so that a part of an epoch tells of the whole: 40 steps are measured, by the
// clock on two threads, and the counters are for 200, 1000 and 1600.
void epoch(benchmark::State& state) {
  constexpr std::int64_t kPart = 40;
  const Rows images = made_up_images();
  double seconds = 0;
  for (auto _ : state) seconds = epoch_seconds(images, kPart, {20, 20, 20}, 5);
  for (const int steps : {200, 1000, 1600})
    state.counters["seconds_" + std::to_string(steps)] = seconds * steps / kPart;
}
BENCHMARK(epoch)->Name("protector/epoch")->Iterations(1)->Repetitions(1)->Unit(benchmark::kMillisecond);

// The largest size of a program of its own that trains for two epochs of so many steps; 0 if it did not
// answer.
double bytes_of(std::int64_t steps) {
  ration::bench::ChildProcess process({"/proc/self/exe", "--protector-memory=" + std::to_string(steps)});
  const std::string answer = process.hear();
  return answer.empty() ? 0 : std::stod(answer);
}

void memory(benchmark::State& state) {
  double few = 0, many = 0;
  for (auto _ : state) {
    few = bytes_of(200);
    many = bytes_of(1600);
  }
  if (few == 0 || many == 0) return state.SkipWithError("no answer");
  state.counters["ratio"] = many / few;
}
BENCHMARK(memory)->Name("protector/memory")->Iterations(1)->Repetitions(1)->Unit(benchmark::kMillisecond);

// A step of the projector for 795,000 parameters, on one thread.
void fused_step(benchmark::State& state) {
  const protector::LstmShape shape{Protector::kProjectorInputs, 20};
  const auto coordinates = static_cast<std::size_t>(state.range(0));
  const std::vector<float> weights = untrained(30)->projector;
  protector::Lanewise<float> inputs(shape.inputs, coordinates), before(shape.state(), coordinates),
      after(shape.state(), coordinates), output(1, coordinates);
  double seconds = 0;
  std::int64_t steps = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    protector::lstm_forward<float>(shape, weights, inputs, before, after, output);
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
    ++steps;
  }
  state.counters["ns_per_coordinate"] =
      1e9 * seconds / static_cast<double>(steps) / static_cast<double>(coordinates);
}
BENCHMARK(fused_step)->Name("protector/step")->Arg(795'000)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace

// A narrower network, one projector update an epoch: memory, not time, is asked for.
int ration::bench::print_protector_memory(std::int64_t steps) {
  epoch_seconds(made_up_images(), steps, {4, 4, 4}, 1);
  fmt::print("{}\n", peak_bytes());
  return 0;
}
