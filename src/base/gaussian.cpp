#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bits_to_reals.h"
#include "base/check.h"
#include "base/distributions.h"
#include "base/per_processor.h"
#include "base/real_draw.h"

namespace ration {
namespace {

constexpr std::size_t kBlock = 1024;      // values, 8 KB: a share of the first cache
constexpr double kLargestStddev = 1e300;  // so that no value overflows
constexpr std::size_t kAtOnce = 64;       // pairs: some 0.1 us
constexpr std::size_t kParts = kBlock / 2 / kAtOnce;

// Random words lie in the memory of the values that they become: one block less in the first cache, and
// nothing to erase.
#if defined(__GNUC__)
using Word [[gnu::may_alias]] = std::uint64_t;
#else
using Word = std::uint64_t;
#endif

// Some pairs, in place: from the words of their radii and angles to their first and second members. Two short
// loops, so that a processor can work on several rounds at once, and so that the division of one and the
// square root of the other do not wait for each other; the first leaves the exponential values that the words
// of the radii stand for.
RATION_INLINE void transform(double* first_members, double* second_members, std::size_t pairs,
                             double stddev) {
  Word* __restrict const radii = reinterpret_cast<Word*>(first_members);
  Word* __restrict const angles = reinterpret_cast<Word*>(second_members);
  for (std::size_t i = 0; i < pairs; ++i) {
    radii[i] = std::bit_cast<std::uint64_t>(bits::exponential_from(radii[i]));
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    const bits::Pair noise = bits::gaussian_from(std::bit_cast<double>(radii[i]), angles[i], stddev);
    radii[i] = std::bit_cast<std::uint64_t>(noise.first);
    angles[i] = std::bit_cast<std::uint64_t>(noise.second);
  }
}

// A block is the first members of its pairs, then as many second ones. It is made a few pairs at a time,
// between which the caller's memory is asked for.
void fill_block(RandomSource& random, std::span<double> block, double stddev, const Ahead& ahead) {
  const std::size_t pairs = block.size() / 2;
  random.fill({reinterpret_cast<std::uint64_t*>(block.data()), block.size()});
  for (std::size_t part = 0; part * kAtOnce < pairs; ++part) {
    ahead.ask_for(part, kParts);
    const std::size_t i = part * kAtOnce;
    PerProcessor<transform>::call(block.data() + i, block.data() + pairs + i, std::min(kAtOnce, pairs - i),
                                  stddev);
  }
}

// --- rounded to whole numbers: what doubles cannot decide is decided by real_draw.h

constexpr double kMostRoundedStddev = 0x1p45;
constexpr double kRoundingShift = 0x1.8p52;  // adding it leaves no room for a fraction

// How near to half way between two whole numbers a value is in doubt: docs/proofs/sampler.md proves that the
// computed value is within 6.2 * 2^-48 standard deviations of the real one, unless in_doubt(word).
double doubt_of(double stddev) {
  return 0x1p-45 * stddev;
}

// The radius's uniform number is within 2^-20 of 0 or 1, where the bits that were not drawn matter.
RATION_INLINE bool in_doubt(std::uint64_t radius_word) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 44;
  return ((radius_word + kEnd) >> 45) == 0;
}

// As transform(), to the nearest whole numbers. Returns other than 0 if any pair is in doubt.
RATION_INLINE std::uint64_t transform_rounded(double* first_members, double* second_members,
                                              std::size_t pairs, double stddev, double clear) {
  Word* __restrict const radii = reinterpret_cast<Word*>(first_members);
  Word* __restrict const angles = reinterpret_cast<Word*>(second_members);
  std::uint64_t doubts = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    doubts |= in_doubt(radii[i]) ? 1u : 0u;
    radii[i] = std::bit_cast<std::uint64_t>(bits::exponential_from(radii[i]));
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    const bits::Pair noise = bits::gaussian_from(std::bit_cast<double>(radii[i]), angles[i], stddev);
    const double first = (noise.first + kRoundingShift) - kRoundingShift;
    const double second = (noise.second + kRoundingShift) - kRoundingShift;
    doubts |= std::fabs(noise.first - first) > clear ? 1u : 0u;
    doubts |= std::fabs(noise.second - second) > clear ? 1u : 0u;
    radii[i] = std::bit_cast<std::uint64_t>(first);
    angles[i] = std::bit_cast<std::uint64_t>(second);
  }
  return doubts;
}

// One pair, by doubles if they can tell, else by as many digits as it takes.
bits::Pair rounded_pair(std::uint64_t radius_word, std::uint64_t angle_word, double stddev,
                        RandomSource& random) {
  if (!in_doubt(radius_word)) {
    const bits::Pair noise = bits::gaussian_from(bits::exponential_from(radius_word), angle_word, stddev);
    const double first = (noise.first + kRoundingShift) - kRoundingShift;
    const double second = (noise.second + kRoundingShift) - kRoundingShift;
    const double clear = 0.5 - doubt_of(stddev);
    if (std::fabs(noise.first - first) <= clear && std::fabs(noise.second - second) <= clear)
      return {first, second};
  }
  const auto [first, second] = reals::GaussianPair(radius_word, angle_word).rounded(stddev, random);
  return {first, second};
}

// A few pairs whose words are kept beside them until all are settled.
class RoundedPart {
 public:
  ~RoundedPart() { OPENSSL_cleanse(words_.data(), sizeof(words_)); }

  void settle(double* first_members, double* second_members, std::size_t pairs, double stddev,
              RandomSource& random) {
    std::memcpy(words_.data(), first_members, pairs * sizeof(words_[0]));
    std::memcpy(words_.data() + kAtOnce, second_members, pairs * sizeof(words_[0]));
    const double clear = 0.5 - doubt_of(stddev);
    if (PerProcessor<transform_rounded>::call(first_members, second_members, pairs, stddev, clear) == 0)
      return;
    for (std::size_t i = 0; i < pairs; ++i) {
      const bits::Pair settled = rounded_pair(words_[i], words_[kAtOnce + i], stddev, random);
      first_members[i] = settled.first;
      second_members[i] = settled.second;
    }
  }

 private:
  std::array<std::uint64_t, 2 * kAtOnce> words_;
};

void fill_rounded_block(RandomSource& random, std::span<double> block, double stddev, const Ahead& ahead) {
  const std::size_t pairs = block.size() / 2;
  random.fill({reinterpret_cast<std::uint64_t*>(block.data()), block.size()});
  RoundedPart rounded;
  for (std::size_t part = 0; part * kAtOnce < pairs; ++part) {
    ahead.ask_for(part, kParts);
    const std::size_t i = part * kAtOnce;
    rounded.settle(block.data() + i, block.data() + pairs + i, std::min(kAtOnce, pairs - i), stddev, random);
  }
}

}  // namespace

double standard_gaussian(RandomSource& random) {
  const double exponential = bits::exponential_from(random.next_word());
  return bits::gaussian_from(exponential, random.next_word(), 1).first;
}

void fill_gaussian(RandomSource& random, std::span<double> out, double stddev, const Ahead& ahead) {
  require("fill_gaussian", "stddev", stddev, at_least(0).at_most(kLargestStddev));
  const std::size_t paired = out.size() - out.size() % 2;
  for (std::size_t done = 0; done < paired; done += kBlock) {
    const auto block = out.subspan(done, std::min(kBlock, paired - done));
    fill_block(random, block, stddev, done == 0 ? ahead : Ahead{});
  }
  if (out.size() % 2 == 1) out.back() = stddev * standard_gaussian(random);
}

void fill_rounded_gaussian(RandomSource& random, std::span<double> out, double stddev, const Ahead& ahead) {
  require("fill_rounded_gaussian", "stddev", stddev, greater_than(0).at_most(kMostRoundedStddev));
  const std::size_t paired = out.size() - out.size() % 2;
  for (std::size_t done = 0; done < paired; done += kBlock) {
    const auto block = out.subspan(done, std::min(kBlock, paired - done));
    fill_rounded_block(random, block, stddev, done == 0 ? ahead : Ahead{});
  }
  if (out.size() % 2 == 0) return;
  const std::uint64_t radius_word = random.next_word();
  out.back() = rounded_pair(radius_word, random.next_word(), stddev, random).first;
}

}  // namespace ration
