#include "base/geometric_gaps.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>

#include "base/bits_to_reals.h"
#include "base/per_processor.h"
#include "base/real_draw.h"

namespace ration {
namespace {

// A computed gap is in doubt if the real one may be another whole number: its error is below x 2^-46 + scale
// 2^-62 while the uniform number is above 2^-20 [docs/proofs/sampler.md], whose logarithm is below -13.8.
RATION_INLINE bool in_doubt(double x, double exponential, double scale, double trials) {
  const double room = x * 0x1p-46 + scale * 0x1p-62;
  const double above = x - std::floor(x);
  const double far = above < 0.5 ? above : 1 - above;
  return (far <= room || exponential > 13.8) && 0.9 * x < trials;
}

// Other than 0 if any is in doubt.
RATION_INLINE std::uint64_t gaps_from(const std::uint64_t* __restrict words, std::size_t count, double scale,
                                      double trials, double* __restrict gaps) {
  std::uint64_t doubts = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double exponential = bits::exponential_from(words[i]);
    const double x = scale * exponential;
    doubts |= in_doubt(x, exponential, scale, trials) ? 1u : 0u;
    gaps[i] = std::floor(x);
  }
  return doubts;
}

}  // namespace

GeometricGaps::GeometricGaps(RandomSource& random, double rate, double trials)
    : random_(random),
      rate_(rate),
      trials_(trials),
      scale_(-1 / std::log1p(-rate)),
      prepared_(static_cast<std::size_t>(std::min(8 + trials * rate, static_cast<double>(kBlock)))),
      next_(prepared_) {}

GeometricGaps::~GeometricGaps() {
  OPENSSL_cleanse(words_.data(), prepared_ * sizeof(words_[0]));
  OPENSSL_cleanse(gaps_.data(), prepared_ * sizeof(gaps_[0]));
}

void GeometricGaps::prepare() {
  const auto words = std::span(words_).first(prepared_);
  random_.fill(words);
  if (PerProcessor<gaps_from>::call(words.data(), prepared_, scale_, trials_, gaps_.data()) != 0) settle();
  next_ = 0;
}

void GeometricGaps::settle() {
  for (std::size_t i = 0; i < prepared_; ++i) {
    const double exponential = bits::exponential_from(words_[i]);
    const double x = scale_ * exponential;
    const bool doubtful = in_doubt(x, exponential, scale_, trials_);
    gaps_[i] = doubtful ? reals::geometric_gap(words_[i], rate_, random_) : std::floor(x);
  }
}

}  // namespace ration
