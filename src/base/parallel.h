#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

namespace ration {

// How many threads to use if the caller asks for `wanted`; 0 asks for one per processor.
inline std::size_t thread_count(std::size_t wanted) {
  return wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

// task(i) for i = 0, ..., count - 1, at the same time as far as there are threads; returns when all are done.
using Task = std::function<void(std::size_t)>;
using Crew = void (*)(std::size_t count, const Task& task);

// Helpers that wait, asleep, from one call to the next. The calling thread works too and takes every task
// that no helper has begun: on a busy machine a helper may get a processor milliseconds later, and nobody
// waits for it. So two threads are not slower than one. A forked child starts helpers of its own.
void share_out(std::size_t count, const Task& task);

// Who does the work. A library that keeps threads of its own which wait by spinning, as OpenMP's do, puts
// them here: next to them, others would get half a processor.
inline std::atomic<Crew> crew{share_out};

// work(block) for every block below `blocks`, on up to `threads` threads, the calling one among them; returns
// when all are done. `work` must not throw. Any thread may do any block. A block should be worth several
// times 20 us, which is what waking a helper costs.
template <class Work>
void for_each_block(std::size_t blocks, std::size_t threads, const Work& work) {
  const std::size_t used = std::min(blocks, threads);
  if (used <= 1) {
    for (std::size_t block = 0; block < blocks; ++block) work(block);
    return;
  }
  std::atomic<std::size_t> next{0};
  crew.load()(used, [&](std::size_t) {
    for (std::size_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) work(block);
  });
}

}  // namespace ration
