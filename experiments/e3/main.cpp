// E3: does a private line search train networks faster than a tuned rate? [Chen20, Fig. 5]
//   e3 DATA OUT [THREADS [REPEATS [TASKS]]]     DATA holds the folders mnist and cifar10; TASKS: only those
//                                               with this in their name
// Runs that OUT has already are not repeated, so that a study can be stopped and go on.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "../for_each_job.h"
#include "base/library_kernels.h"
#include "report.h"
#include "study.h"

namespace ration::e3 {
namespace {

struct Job {
  const Task* task;
  Trainer trainer;
  std::size_t repeat;
};

std::vector<Task> all_tasks(const std::string& data) {
  const std::string mnist = "mnist:" + data + "/mnist";
  const std::string fashion = "fashion-mnist";
  return {make_task("MNIST, MLP 1000", mnist, "mlp:1000", 0.2, 1000),
          make_task("MNIST, CNN", mnist, "cnn:bls", 0.2, 600),
          make_task("Fashion-MNIST, MLP 256-256", fashion, "mlp:256,256", 0.2, 1000),
          make_task("Fashion-MNIST, CNN", fashion, "cnn:bls", 0.2, 600),
          make_task("CIFAR-10 subset, CNN", "cifar10:" + data + "/cifar10", "cnn:bls-cifar", 0.1, 300, 50)};
}

// The report is written anew after each run, so that a study that is stopped leaves what it has.
void run_all(const std::vector<Job>& jobs, std::size_t threads, const std::string& folder,
             std::vector<Trace> traces) {
  for_each_job(
      jobs.size(), threads,
      [&](std::size_t i) { return train(*jobs[i].task, jobs[i].trainer, jobs[i].repeat); },
      [&](std::size_t i, const std::vector<Trace>& both, double seconds) {
        fmt::print(stderr, "{}, {}: accuracy {:.4f}, averaged {:.4f}, {:.0f} s\n", jobs[i].task->name,
                   to_string(jobs[i].trainer), both[0].points.back().accuracy, both[1].points.back().accuracy,
                   seconds);
        traces.insert(traces.end(), both.begin(), both.end());
        write_report(folder, traces);
      });
}

// The repeats one after the other, so that all networks have as many.
std::vector<Job> jobs_for(const std::vector<Task>& tasks, std::size_t repeats, const std::string& only,
                          const std::vector<Trace>& known) {
  std::vector<Job> jobs;
  for (std::size_t repeat = 1; repeat <= std::max<std::size_t>(1, repeats); ++repeat) {
    for (const Task& task : tasks) {
      if (task.name.find(only) == std::string::npos) continue;
      for (const Trainer trainer : {Trainer::line_search, Trainer::sgd, Trainer::adam}) {
        const Trace wanted{.task = task.name, .trainer = trainer, .repeat = repeat, .points = {}};
        if (std::none_of(known.begin(), known.end(), [&](const Trace& one) { return same_run(one, wanted); }))
          jobs.push_back({&task, trainer, repeat});
      }
    }
  }
  return jobs;
}

}  // namespace
}  // namespace ration::e3

int main(int argc, char** argv) {
  using namespace ration::e3;
  if (ration::choose_library_kernels())
    execv("/proc/self/exe", argv);  // OpenBLAS, which is loaded by now, asks only once
  if (argc < 3) {
    fmt::print(stderr, "usage: e3 DATA OUT [THREADS [REPEATS [TASKS]]]\n");
    return 1;
  }
  try {
    const std::size_t threads = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 2;
    const std::size_t repeats = argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 3;
    const std::vector<Task> tasks = all_tasks(argv[1]);
    const std::vector<Trace> known = read_traces(argv[2]);
    run_all(jobs_for(tasks, repeats, argc > 5 ? argv[5] : "", known), threads, argv[2], known);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "e3: {}\n", error.what());
    return 1;
  }
}
