#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace ration {

// How many threads to use if the caller asks for `wanted`; 0 asks for one per processor.
inline std::size_t thread_count(std::size_t wanted) {
  return wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

// task(i) for i = 0, ..., count - 1 at the same time; returns when all are done.
using Task = std::function<void(std::size_t)>;
using Crew = void (*)(std::size_t count, const Task& task);

// Nothing outlives the call, so a process that forks between two calls is no special case. Starting a thread
// costs some 20 us.
inline void start_threads(std::size_t count, const Task& task) {
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < count; ++i) others.emplace_back(task, i);
  task(0);
}

// Who does the work. A library that keeps threads of its own which wait by spinning, as OpenMP's do, puts
// them here: next to them, others would get half a processor.
inline std::atomic<Crew> crew{start_threads};

// work(block) for every block below `blocks`, on up to `threads` threads, the calling one among them; returns
// when all are done. `work` must not throw. Which thread does a block is fixed. A block should be worth
// several times 20 us.
template <class Work>
void for_each_block(std::size_t blocks, std::size_t threads, const Work& work) {
  const std::size_t used = std::min(blocks, threads);
  const auto every_nth = [&](std::size_t first) {
    for (std::size_t block = first; block < blocks; block += used) work(block);
  };
  if (used > 1) return crew.load()(used, every_nth);
  if (blocks > 0) every_nth(0);
}

}  // namespace ration
