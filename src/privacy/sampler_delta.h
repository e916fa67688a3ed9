#pragma once

#include "ration/privacy/calibrate.h"

namespace ration {

// What a run's random numbers take of its delta.
//
// Draws       are those of the ideal mechanisms, given ideal bits: nothing is cut off, and nothing is decided
//             by rounding (docs/proofs/sampler.md). A draw that 2^13 bits do not decide is an error, with
//             probability below 2^-4000.
// Bits        are a cipher's. Its blocks under one key never repeat, which ideal ones would: that tells N of
//             them from ideal ones with a probability t of at most N min(N, 2^18) / 2^129 (SecureRandom).
//             That AES cannot be told from a random permutation in another way is assumed.
// In delta    If the outputs of a run are within total variation t of those of the ideal mechanisms, which
//             are (epsilon, d)-DP, then the run is (epsilon, d + (1 + e^epsilon) t)-DP:
//             P'(S) <= P(S) + t <= e^epsilon Q(S) + d + t <= e^epsilon (Q'(S) + t) + d + t.
// A millionth of delta is kept for that, and d is the rest: events are accounted at it. A run whose random
//             numbers could need more is refused before it reads a row.
// Edge cases  Nothing is kept where no part of delta would do: of delta = 0, and beyond epsilon = 20, where
//             e^epsilon exceeds what 128-bit blocks can promise; the certificate says so in its own words.

inline constexpr double kSamplerPart = 1e-6;
inline constexpr double kLargestSamplerEpsilon = 20;

// Whether a part of delta is kept.
bool keeps_sampler_part(const Budget& budget);
// What is left for the events, rounded down.
double delta_of_events(double delta);
Budget budget_of_events(const Budget& budget);

// (1 + e^epsilon) t for so many random words of 64 bits, rounded up.
double sampler_delta(double epsilon, double random_words);

// InputError that names the smallest delta that would do.
void require_deliverable(const Budget& budget, double random_words);

// How many words the queries of a run take, on average at most. Public: each of `queries` adds noise to all
// parameters, or draws for some thousands of candidates, on a batch of `rows_per_batch` drawn rows.
struct RandomWordsOfRun {
  double queries = 0;
  double parameters = 0;
  double rows_per_batch = 0;  // 0 if none are drawn
};
double random_words(const RandomWordsOfRun& run);

}  // namespace ration
