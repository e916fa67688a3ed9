#include "privacy/sampler_delta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/entropy.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kUpward = 1 + 1e-12;

}  // namespace

bool keeps_sampler_part(const Budget& budget) {
  return budget.delta > 0 && budget.epsilon <= kLargestSamplerEpsilon;
}

double delta_of_events(double delta) {
  constexpr double kMoreThanRounding = 1 + 1e-9;
  return delta * (1 - kSamplerPart * kMoreThanRounding);
}

Budget budget_of_events(const Budget& budget) {
  return keeps_sampler_part(budget) ? Budget{budget.epsilon, delta_of_events(budget.delta)} : budget;
}

// A word may be the only one of its block that is used, so there are no more blocks than words. The square of
// their number goes by key: the j-th block under a key equals none of the j - 1 before it, a probability of
// (j - 1) / 2^128 that ideal bits do not miss.
double sampler_delta(double epsilon, double random_words) {
  const double under_one_key = std::min(random_words, static_cast<double>(kBlocksPerKey));
  return (1 + std::exp(epsilon)) * random_words * under_one_key * 0x1p-129 * kUpward;
}

void require_deliverable(const Budget& budget, double random_words) {
  if (!keeps_sampler_part(budget)) return;
  const double needed = sampler_delta(budget.epsilon, random_words);
  if (needed <= kSamplerPart * budget.delta) return;
  throw InputError(fmt::format(
      "delta {} is less than the random numbers of this run can deliver at epsilon {}; take a delta of at "
      "least {}",
      show(budget.delta), show(budget.epsilon), show_rounded_up(needed / kSamplerPart)));
}

// A Gaussian takes a word, an odd one out two; a candidate of a search two; a row drawn by its gap one, one
// drawn by its number less than two on average. Draws that need more digits are too rare to count: all
// together they take less than a word in a thousand more.
double random_words(const RandomWordsOfRun& run) {
  constexpr double kCandidatesAndBlocks = 65536;
  return run.queries * (2 * run.parameters + 2 * run.rows_per_batch + kCandidatesAndBlocks);
}

}  // namespace ration
