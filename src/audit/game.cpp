#include "audit/game.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>

#include "base/parallel.h"
#include "ration/base/error.h"

namespace ration::audit {
namespace {

constexpr std::size_t kBlocks = 200;  // so often is progress told

// Runs of both worlds in turn, so that a game that is stopped has as many of each.
class Table {
 public:
  Table(const Game& game, std::size_t trials) : game_(game), scores_(2 * trials * game.scores) {}

  void play_run(std::size_t run, RandomSource& random) {
    const auto scores = std::span(scores_).subspan(run * game_.scores, game_.scores);
    game_.play(run % 2 == 0 ? World::with : World::without, random, scores);
    std::replace_if(
        scores.begin(), scores.end(), [](double score) { return std::isnan(score); }, 0.0);
  }

  std::vector<Played> by_score() const {
    std::vector<Played> all(game_.scores);
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      Played& one = all[i % game_.scores];
      (i / game_.scores % 2 == 0 ? one.with : one.without).push_back(scores_[i]);
    }
    return all;
  }

 private:
  const Game& game_;
  std::vector<double> scores_;
};

}  // namespace

std::vector<Played> play(const Game& game, const PlayOptions& options) {
  Table table(game, options.trials);
  const std::size_t runs = 2 * options.trials;
  const std::size_t blocks = std::min(kBlocks, options.trials);
  std::mutex mutex;
  std::size_t done = 0;
  std::exception_ptr failure;
  std::atomic<bool> stopped = false;
  for_each_block(blocks, thread_count(options.threads), [&](std::size_t block) {
    if (stopped) return;
    try {
      const std::size_t first = block * runs / blocks;
      const std::size_t end = (block + 1) * runs / blocks;
      for (std::size_t run = first; run < end; ++run) table.play_run(run, SecureRandom::for_this_thread());
      const std::lock_guard lock(mutex);
      done += end - first;
      if (options.on_progress && !options.on_progress(done)) stopped = true;
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      stopped = true;
    }
  });
  if (failure) std::rethrow_exception(failure);
  if (stopped && done < runs) throw Stopped();
  return table.by_score();
}

}  // namespace ration::audit
