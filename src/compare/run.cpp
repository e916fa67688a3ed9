#include "compare/run.h"

namespace ration::compare {
namespace {

void add_jobs_of_fold(const Comparison& comparison, Job job, std::vector<Job>& jobs) {
  for (job.model = 0; job.model < comparison.models.size(); ++job.model) {
    for (job.method = 0; job.method < comparison.methods.size(); ++job.method) {
      if (!comparison.methods[job.method].is_private) {
        job.epsilon.reset();
        jobs.push_back(job);
        continue;
      }
      for (std::size_t epsilon = 0; epsilon < comparison.epsilons.size(); ++epsilon) {
        job.epsilon = epsilon;
        jobs.push_back(job);
      }
    }
  }
}

}  // namespace

std::vector<Job> jobs_of(const Comparison& comparison) {
  std::vector<Job> jobs;
  for (std::size_t repeat = 0; repeat < comparison.repeats; ++repeat) {
    for (std::size_t data = 0; data < comparison.data.size(); ++data) {
      for (std::size_t fold = 0; fold < comparison.folds; ++fold) {
        add_jobs_of_fold(comparison, {.data = data, .repeat = repeat, .fold = fold}, jobs);
      }
    }
  }
  return jobs;
}

RunName name_of(const Job& job, const Comparison& comparison) {
  return {.data = comparison.data[job.data].name,
          .model = comparison.models[job.model].name,
          .method = comparison.methods[job.method].name,
          .epsilon = job.epsilon ? std::optional(comparison.epsilons[*job.epsilon]) : std::nullopt,
          .repeat = job.repeat + 1,
          .fold = job.fold + 1};
}

}  // namespace ration::compare
