#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace ration {

// How many threads to use if the caller asks for `wanted`; 0 asks for one per processor.
inline std::size_t thread_count(std::size_t wanted) {
  return wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

// work(block) for every block below `blocks`, on up to `threads` threads, the calling one among them; returns
// when all are done. `work` must not throw. Which thread does a block is fixed, and nothing outlives the
// call, so a process that forks between two calls is no special case; starting a thread costs some 20 us, so
// a block should be worth several times that.
template <class Work>
void for_each_block(std::size_t blocks, std::size_t threads, const Work& work) {
  const std::size_t used = std::min(blocks, threads);
  const auto every_nth = [&](std::size_t first) {
    for (std::size_t block = first; block < blocks; block += used) work(block);
  };
  std::vector<std::jthread> others;
  for (std::size_t first = 1; first < used; ++first) others.emplace_back(every_nth, first);
  if (blocks > 0) every_nth(0);
}

}  // namespace ration
