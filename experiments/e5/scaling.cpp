#include "scaling.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <map>

#include "base/public_random.h"
#include "meta/first_weights.h"
#include "meta/train_protector.h"
#include "ration/base/error.h"

namespace ration::e5 {
namespace {

double paper_seconds(std::int64_t steps) {
  static const std::map<std::int64_t, double> kTable{{200, 21},   {400, 89},   {600, 173},
                                                     {1000, 190}, {1200, 266}, {1600, 350}};
  const auto found = kTable.find(steps);
  return found == kTable.end() ? std::nan("") : found->second;
}

// Untrained: what is measured does not depend on it.
std::shared_ptr<const Protector> some_protector(std::int64_t steps) {
  PublicRandom random(1);
  Protector protector;
  protector.output_scale = 0.01;
  protector.scheduler = meta::first_scheduler({Protector::kSchedulerInputs, protector.units},
                                              static_cast<double>(steps), random);
  protector.projector = meta::first_projector({Protector::kProjectorInputs, protector.units}, {},
                                              static_cast<double>(steps), random);
  return std::make_shared<const Protector>(std::move(protector));
}

meta::MetaOptions options_for(std::int64_t steps, std::size_t threads) {
  meta::MetaOptions options;
  options.budget = {0.8, 1e-8};
  options.steps = steps;
  options.relation = Relation::replace_one;
  options.accountant = Accountant::rdp;
  options.training = meta::SchedulerTraining::batch_soft;
  options.whole_unrolls = false;
  options.unrolls = 1;
  options.epochs = 3;
  options.validate_every = 1000;
  options.validation_tasks = 1;
  options.threads = threads;
  options.from = some_protector(steps);
  return options;
}

// With one validation run before it, which takes about a twentieth.
double epoch_seconds(const PublicData& images, std::int64_t steps, std::size_t threads) {
  using Clock = std::chrono::steady_clock;
  const auto count = static_cast<double>(images.all->count());
  const meta::TaskSource tasks =
      meta::networks_on(*images.all, {20, 20, 20}, (std::sqrt(count) + 10) / count);
  meta::MetaOptions options = options_for(steps, threads);
  std::atomic<bool> stop{false};
  options.stop = &stop;
  const Clock::time_point begin = Clock::now();
  meta::train_protector(options, tasks, tasks, {}, [&](const meta::MetaProgress&) { stop = true; });
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double largest_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

// In a child, whose largest size is its own.
ScalingRow measure_epoch(const PublicData& images, std::int64_t steps, std::size_t threads) {
  int ends[2];
  if (pipe(ends) != 0) throw InternalError("e5: no pipe");
  const pid_t child = fork();
  if (child < 0) throw InternalError("e5: no child");
  double answer[2] = {};
  if (child == 0) {
    answer[0] = epoch_seconds(images, steps, threads);
    answer[1] = largest_megabytes();
    const bool told = write(ends[1], answer, sizeof answer) == sizeof answer;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  const bool heard = read(ends[0], answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!heard) throw InternalError("e5: an epoch did not end");
  return {steps, answer[0], answer[1], paper_seconds(steps)};
}

}  // namespace ration::e5
