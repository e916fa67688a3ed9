#include "stages.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/atomic_file.h"
#include "public_data.h"
#include "quadratics.h"
#include "ration/base/error.h"
#include "scaling.h"
#include "transfer.h"

namespace ration::e5 {
namespace {

const std::vector<double> kEpsilons{0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8};
constexpr std::array kBaselines = {"agd",     "blsgd",  "blsgd-ac", "dpsgd",      "dpadam",
                                   "sgd-adv", "sgd-ma", "objpert",  "outpert-gd", "nonprivate"};

// One thread: the machine may be shared.
constexpr std::size_t kThreads = 1;

void write(const Places& places, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(places.out);
  write_file_atomically(places.out + "/" + name, text);
}

std::string csv(const std::vector<TransferRun>& runs) {
  std::string text = "from,to,method,epsilon,repeat,accuracy,loss,objective,spent\n";
  for (const TransferRun& run : runs)
    text += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f}\n", run.from, run.to, run.method,
                        run.epsilon, run.repeat, run.accuracy, run.loss, run.objective, run.spent);
  return text;
}

std::string csv(const std::vector<TrainingRecord>& records) {
  std::string text = "from,epsilon,epochs,seconds,validation_loss,validation_start,spent,steps\n";
  for (const TrainingRecord& one : records)
    text += fmt::format("{},{},{},{:.1f},{:.6f},{:.6f},{:.6f},{:.2f}\n", one.from, one.epsilon, one.epochs,
                        one.seconds, one.validation_loss, one.validation_start, one.validation_spent,
                        one.validation_steps);
  return text;
}

// Results are written as they come, so that a study that is stopped leaves what it has.
class Transfer {
 public:
  Transfer(std::string name, const Places& places) : name_(std::move(name)), places_(places) {}

  void learned(const PublicData& from, const PublicData& to, const TrainingSettings& settings,
               const std::vector<double>& epsilons, std::size_t repeats, std::optional<double> only = {}) {
    const auto protectors = train_protectors(from, settings, epsilons, kThreads, records_);
    for (const auto& protector : protectors) {
      if (only && protector->origin.epsilon != *only) continue;
      for (const auto& one : {protector, without_scheduler(*protector)}) {
        for (std::size_t repeat = 0; repeat < repeats; ++repeat)
          keep(from.name, protected_run(to, one, repeat));
      }
    }
    write(places_, name_ + "-training.csv", csv(records_));
  }
  // The smaller budgets of interest first, for who does not wait for the end.
  void baselines(const PublicData& to, std::size_t repeats) {
    for (const double epsilon : {0.05, 0.1, 0.025, 0.0125, 0.2, 0.4, 0.8}) {
      for (const char* const method : kBaselines) {
        try {
          for (std::size_t repeat = 0; repeat < repeats; ++repeat)
            keep("", baseline_run(to, method, epsilon, repeat));
        } catch (const std::exception& error) {
          fmt::print(stderr, "{} at {}: {}\n", method, epsilon, error.what());
        }
      }
    }
  }

 private:
  void keep(const std::string& from, TransferRun run) {
    run.from = from;
    runs_.push_back(std::move(run));
    write(places_, name_ + ".csv", csv(runs_));
  }

  std::string name_;
  const Places& places_;
  std::vector<TransferRun> runs_;
  std::vector<TrainingRecord> records_;
};

PublicData brazil(const Places& places) {
  return census("ipums-br", "IPUMS-BR.dat.gz", places.data, places.examples);
}
PublicData states(const Places& places) {
  return census("ipums-us-1980", "ipums.csv.gz", places.data, places.examples);
}

constexpr std::size_t kRepeats = 10;

void run_tables(const std::string& name, const PublicData& from, const PublicData& to, const Places& places) {
  TrainingSettings settings;
  settings.private_rows = static_cast<double>(to.split(0).train->count());
  Transfer(name, places).learned(from, to, settings, kEpsilons, kRepeats);
}

TrainingSettings for_images(const PublicData& to) {
  TrainingSettings settings;
  settings.private_rows = static_cast<double>(to.all->count());
  settings.steps = 40;
  settings.other_questions = false;
  settings.task_rows = 2000;
  settings.first_epochs = 30;
  settings.epochs = 12;
  return settings;
}

void run_images(const Places& places) {
  const PublicData from = digit_pair(places.data, {4, 6});
  const PublicData to = digit_pair(places.data, {3, 5});
  Transfer("mnist", places).learned(from, to, for_images(to), kEpsilons, kRepeats);
}

// Each pair by itself, trained as for the other experiment with images, and judged at one budget. [L2P, Fig.
// 4]
void run_pairs(const Places& places) {
  const PublicData to = digit_pair(places.data, {3, 5});
  Transfer transfer("pairs", places);
  for (const std::array<int, 2> digits : {std::array{1, 2}, {7, 9}, {0, 8}, {4, 6}})
    transfer.learned(digit_pair(places.data, digits), to, for_images(to), {0.05, 0.1, 0.2, 0.4, 0.8}, 10,
                     0.05);
}

void run_scaling(const Places& places) {
  const PublicData images = digit_pair(places.data, {4, 6});
  std::string text = "steps,seconds,megabytes,paper_seconds\n";
  for (const std::int64_t steps : {200, 400, 1000, 1600}) {
    const ScalingRow row = measure_epoch(images, steps, 2);
    text += fmt::format("{},{:.2f},{:.1f},{}\n", row.steps, row.seconds, row.megabytes, row.paper_seconds);
    fmt::print(stderr, "{} steps: {:.1f} s, {:.1f} MB\n", row.steps, row.seconds, row.megabytes);
    write(places, "scaling.csv", text);
  }
}

}  // namespace

void run_stage(const std::string& name, const Places& places) {
  if (name == "quadratics") return write_quadratics(places.out, kThreads);
  if (name == "quadratic-trainings") return write_quadratic_trainings(places.out, kThreads);
  if (name == "br") return run_tables(name, brazil(places), states(places), places);
  if (name == "us") return run_tables(name, states(places), brazil(places), places);
  if (name == "mnist") return run_images(places);
  if (name == "br-baselines") return Transfer(name, places).baselines(states(places), kRepeats);
  if (name == "us-baselines") return Transfer(name, places).baselines(brazil(places), 3);
  // They are slower than a protector's few steps.
  if (name == "mnist-baselines") return Transfer(name, places).baselines(digit_pair(places.data, {3, 5}), 2);
  if (name == "pairs") return run_pairs(places);
  if (name == "scaling") return run_scaling(places);
  throw InputError(fmt::format("expected a stage: one of {}; got '{}'", fmt::join(all_stages(), ", "), name));
}

const std::vector<std::string>& all_stages() {
  static const std::vector<std::string> kAll{
      "quadratics", "quadratic-trainings", "br",    "br-baselines", "us",    "us-baselines",
      "mnist",      "mnist-baselines",     "pairs", "scaling",      "report"};
  return kAll;
}

}  // namespace ration::e5
