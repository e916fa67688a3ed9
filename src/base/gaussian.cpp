#include <algorithm>
#include <bit>

#include "base/bits_to_reals.h"
#include "base/check.h"
#include "base/distributions.h"
#include "base/per_processor.h"

namespace ration {
namespace {

constexpr std::size_t kBlock = 1024;      // values, 8 KB: a share of the first cache
constexpr double kLargestStddev = 1e300;  // so that no value overflows

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
  constexpr std::size_t kAtOnce = 64;  // pairs: some 0.1 us
  constexpr std::size_t kParts = kBlock / 2 / kAtOnce;
  const std::size_t pairs = block.size() / 2;
  random.fill({reinterpret_cast<std::uint64_t*>(block.data()), block.size()});
  for (std::size_t part = 0; part * kAtOnce < pairs; ++part) {
    ahead.ask_for(part, kParts);
    const std::size_t i = part * kAtOnce;
    PerProcessor<transform>::call(block.data() + i, block.data() + pairs + i, std::min(kAtOnce, pairs - i),
                                  stddev);
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

}  // namespace ration
