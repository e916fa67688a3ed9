#include "base/geometric_gaps.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>

#include "base/bits_to_reals.h"
#include "base/per_processor.h"

namespace ration {
namespace {

RATION_INLINE void gaps_from(const std::uint64_t* __restrict words, std::size_t count, double scale,
                             double* __restrict gaps) {
  for (std::size_t i = 0; i < count; ++i) gaps[i] = std::floor(scale * bits::exponential_from(words[i]));
}

}  // namespace

GeometricGaps::GeometricGaps(RandomSource& random, double rate, double expected_count)
    : random_(random),
      scale_(-1 / std::log1p(-rate)),
      prepared_(static_cast<std::size_t>(std::min(8 + expected_count, static_cast<double>(kBlock)))),
      next_(prepared_) {}

GeometricGaps::~GeometricGaps() {
  OPENSSL_cleanse(words_.data(), prepared_ * sizeof(words_[0]));
  OPENSSL_cleanse(gaps_.data(), prepared_ * sizeof(gaps_[0]));
}

void GeometricGaps::prepare() {
  random_.fill(std::span(words_).first(prepared_));
  PerProcessor<gaps_from>::call(words_.data(), prepared_, scale_, gaps_.data());
  next_ = 0;
}

}  // namespace ration
