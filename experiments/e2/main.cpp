// E2: do schedules that follow the influence of a step's noise beat uniform noise? [Hong22, Sec. 5, App. D]
//   e2 FOLDER-OF-MNIST OUT [THREADS]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "../for_each_job.h"
#include "report.h"
#include "study.h"

namespace ration::e2 {
namespace {

struct Job {
  Task task;
  double scale;
  StudyOptions options;
};

// A net costs a hundred times a linear model, so fewer T are searched, at fewer scales.
StudyOptions net_options(double scale) {
  return {.search = {25, 50, 100},
          .search_repeats = 10,
          .repeats = 100,
          .retraining_steps = scale == 10 ? std::size_t{8} : std::size_t{0},
          .retraining_runs = 2};
}

// The longest first.
std::vector<Job> all_jobs() {
  std::vector<Job> jobs;
  for (const double scale : {10.0, 5.0, 25.0}) jobs.push_back({Task::net, scale, net_options(scale)});
  for (const Task task : {Task::squared, Task::logistic, Task::squared_momentum}) {
    for (const double scale : {1.0, 5.0, 10.0, 15.0, 20.0, 25.0}) jobs.push_back({task, scale, {}});
  }
  return jobs;
}

std::vector<Cell> run_all(const Mnist35& images, const std::vector<Job>& jobs, std::size_t threads) {
  std::vector<Cell> cells(jobs.size());
  for_each_job(
      jobs.size(), threads,
      [&](std::size_t i) { return study(images, jobs[i].task, jobs[i].scale, jobs[i].options); },
      [&](std::size_t i, Cell cell, double seconds) {
        cells[i] = std::move(cell);
        fmt::print(stderr, "{}, data scale {}: {:.0f} s\n", to_string(jobs[i].task), jobs[i].scale, seconds);
      });
  return cells;
}

}  // namespace
}  // namespace ration::e2

int main(int argc, char** argv) {
  using namespace ration::e2;
  if (argc < 3) {
    fmt::print(stderr, "usage: e2 FOLDER-OF-MNIST OUT [THREADS]\n");
    return 1;
  }
  try {
    const Mnist35 images(argv[1]);
    const std::size_t threads = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 2;
    write_report(argv[2], run_all(images, all_jobs(), threads));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "e2: {}\n", error.what());
    return 1;
  }
}
