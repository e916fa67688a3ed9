#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meta/task.h"
#include "methods/protector.h"
#include "public_data.h"

namespace ration::e5 {

// One training on the private table.
struct TransferRun {
  std::string from, to;  // trained on, protects
  std::string method;
  double epsilon = 0;
  std::size_t repeat = 0;
  double accuracy = 0;   // on test rows
  double loss = 0;       // mean, on test rows
  double objective = 0;  // mean, on training rows
  double spent = 0;      // share of the budget; 0 for a baseline, which certifies its own
  double steps = 0;
};

struct TrainingRecord {
  std::string from;
  double epsilon = 0;
  std::int64_t epochs = 0;
  double seconds = 0;
  // On tasks that were neither trained nor chosen on.
  double validation_loss = 0, validation_start = 0, validation_spent = 0, validation_steps = 0;
};

constexpr double kDelta = 1e-8;

struct TrainingSettings {
  double private_rows = 0;       // of the table it will protect
  std::int64_t steps = 60;       // that the budget lasts for with even noise
  std::size_t task_rows = 3000;  // of a task; its noise is that of the private table
  bool other_questions = true;   // about the columns of the public table, beside its label
  std::size_t unrolls = 2;
  std::int64_t validation_tasks = 8;
  std::int64_t first_epochs = 60;
  std::int64_t epochs = 20;  // of each later one
};

// Protectors for each epsilon, from the largest down: each goes on from the one before. [L2P, App. B.7]
std::vector<std::shared_ptr<const Protector>> train_protectors(const PublicData& practice,
                                                               const TrainingSettings& settings,
                                                               const std::vector<double>& epsilons,
                                                               std::size_t threads,
                                                               std::vector<TrainingRecord>& records);
// L2P-Proj: the same projector with even noise.
std::shared_ptr<const Protector> without_scheduler(Protector protector);

TransferRun protected_run(const PublicData& to, const std::shared_ptr<const Protector>& protector,
                          std::size_t repeat);
TransferRun baseline_run(const PublicData& to, const std::string& method, double epsilon, std::size_t repeat);

}  // namespace ration::e5
