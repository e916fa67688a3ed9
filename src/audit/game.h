#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ration/base/random.h"

namespace ration::audit {

// Which of two neighbouring tables a game is played on.
enum class World { with, without };

// One run of a mechanism on one of two neighbours, and what an attacker makes of its output: a few numbers,
// each larger, or at least otherwise distributed, if the row is there. May be played by several threads at
// once, each with a random source of its own.
struct Game {
  std::size_t scores = 1;
  std::function<void(World world, RandomSource& random, std::span<double> scores)> play;
};

// What a score was in each run, by world.
struct Played {
  std::vector<double> with;
  std::vector<double> without;
};

// How games are carried out; none of it changes what is found but for its noise.
struct PlayOptions {
  std::size_t trials = 1000;  // in each world
  std::size_t threads = 0;    // 0: one per processor
  // Told now and then how many runs of the game are done, perhaps by another thread, one call at a time;
  // false: stop.
  std::function<bool(std::size_t done)> on_progress{};
};

// Whoever was told of the progress said to stop.
struct Stopped final : std::exception {
  const char* what() const noexcept override { return "audit: stopped"; }
};

// One for each score. Throws what a run throws, or Stopped. The random bits are those of SecureRandom, one
// stream per thread.
std::vector<Played> play(const Game& game, const PlayOptions& options);

}  // namespace ration::audit
