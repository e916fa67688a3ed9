#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "meta/task.h"
#include "methods/protector.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"

namespace ration::meta {

// How a scheduler learns to stay within the budget.
enum class SchedulerTraining {
  soft,        // full unrolls; a weighted mean of the losses around the budget's end [L2P, Eq. 3]
  lagrangian,  // full unrolls; the last loss, augmented Lagrangian on what was spent by then [L2P, Eq. 2]
  batch,  // batches of steps with budgets of their own, shifted by the augmented Lagrangian [L2P, Eq. 6, App.
          // B.5]
  batch_soft,  // the same, shifted by the losses around the budget's end [L2P, Eqs. 7, 8]
};

inline constexpr NamedValue<SchedulerTraining> kSchedulerTrainings[] = {
    {SchedulerTraining::soft, "soft", "Whole runs; losses near the end of the budget count."},
    {SchedulerTraining::lagrangian, "lagrangian", "Whole runs; an augmented Lagrangian limits the spending."},
    {SchedulerTraining::batch, "batch", "Batches of steps, each with a budget of its own."},
    {SchedulerTraining::batch_soft, "batch-soft",
     "Batches of steps; losses near the end of the budget count."},
};
constexpr NameTable<SchedulerTraining> name_table(SchedulerTraining) {
  return {"scheduler", kSchedulerTrainings};
}

struct MetaOptions {
  Budget budget{0.05, 1e-8};
  std::int64_t steps = 30;  // >= 1; that the budget lasts for with even noise
  AnyClipRule clip = Abadi{1};
  Relation relation = Relation::add_remove;  // replace_one for batches of a fixed size and for released norms
  Accountant accountant = Accountant::gdp;
  NormSource norm = NormSource::previous;
  double norm_noise_ratio = 1;  // > 0
  bool scheduler = true;        // false: L2P-Proj, the projector alone
  SchedulerTraining training = SchedulerTraining::soft;

  double rows =
      0;  // >= 0; that the private table is thought to have: noise is as for so many. 0: as for the task's

  std::int64_t epochs = 100;             // of one scheduler update and `projector_updates` projector updates
  std::int64_t projector_updates = 5;    // each
  std::size_t unrolls = 8;               // >= 1; tasks that an update is the mean of
  std::int64_t pretraining_epochs = 30;  // without noise, then with budgets from large to small
  std::size_t batch = 20;                // steps that are unrolled together where not all are
  bool whole_unrolls =
      true;  // the projector too learns from whole unrolls; false: from batches, which need less memory
  double learning_rate = 0.005;  // > 0; of Adam, falling to a tenth
  double output_scale = 0;       // >= 0; 0: chosen so that the first steps are the best plain ones
  std::size_t units = 20;

  std::int64_t validation_tasks = 16;
  std::int64_t validate_every = 5;          // epochs
  std::int64_t patience = 10;               // validations without a better protector, then it stops
  std::shared_ptr<const Protector> from{};  // goes on from it, without pre-training; must have the same
                                            // units, and a scheduler if one is wanted
  std::uint64_t seed = 1;                   // everything here is public
  std::size_t threads = 0;                  // 0: one per processor
  const std::atomic<bool>* stop = nullptr;
};

struct MetaProgress {
  std::string stage;       // "without noise", "epsilon 0.8", ...
  std::int64_t epoch = 0;  // of all stages together, counts from 1
  std::int64_t epochs = 0;
  double training_loss = 0;    // of the last unroll's end, as a share of where it began
  double validation_loss = 0;  // of the best so far, when the budget is used up
};

// Trains a protector on public tasks, and returns the one that had the lowest loss on the validation tasks
// when their budget was used up. [L2P, Sec. 4.2, 5, App. B] `origin` names the tasks and what they were made
// of. Losses are taken as shares of the loss where a task begins, so that large ones do not drown the others.
Protector train_protector(const MetaOptions& options, const TaskSource& tasks, const TaskSource& validation,
                          ProtectorOrigin origin, const std::function<void(const MetaProgress&)>& tell = {});

// The mean loss over `count` tasks when the budget is used up, and at their start; the tasks and the noise
// follow from the seed.
struct ProtectorScore {
  double loss = 0;
  double start = 0;
  double share = 0;  // mean of (loss at the end) / (loss at the start)
  double spent = 0;  // share of the budget
  double steps = 0;  // mean number of steps
};
ProtectorScore score_protector(const Protector& protector, const MetaOptions& options,
                               const TaskSource& tasks, std::int64_t count, std::uint64_t seed);

}  // namespace ration::meta
