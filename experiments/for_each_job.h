#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ration {

// work(i) for each job i < count, in order as threads become free; then done(i, its result, seconds), one at
// a time. The last failure is thrown when all are through.
template <class Work, class Done>
void for_each_job(std::size_t count, std::size_t threads, const Work& work, const Done& done) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_jobs = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        const auto start = std::chrono::steady_clock::now();
        auto result = work(i);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        const std::lock_guard lock(mutex);
        done(i, std::move(result), taken.count());
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, threads); ++i) workers.emplace_back(take_jobs);
  workers.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ration
