#include <string.h>  // explicit_bzero, which is faster than what OpenSSL erases memory with

#include <algorithm>
#include <array>
#include <bit>

#include "base/bits_to_reals.h"
#include "base/per_processor.h"
#include "ration/base/check.h"
#include "ration/base/distributions.h"

namespace ration {
namespace {

constexpr std::size_t kBlock = 1024;      // values: 8 KB of words and as much output stay in the first cache
constexpr double kLargestStddev = 1e300;  // so that no value overflows

struct Replace {
  RATION_INLINE void operator()(double& out, double noise) const { out = noise; }
};
struct Add {
  RATION_INLINE void operator()(double& out, double noise) const { out += noise; }
};

// Some pairs: the words of their radii and angles, and the places of their first and second members. Where the words of the
// radii were, the first loop leaves the exponential values that they stand for. Two short loops, so that a processor can work
// on several rounds at once, and so that the division of one and the square root of the other do not wait for each other.
template <class Write>
RATION_INLINE void transform(std::uint64_t* __restrict radii, const std::uint64_t* __restrict angles,
                             std::size_t pairs, double stddev, double* __restrict first,
                             double* __restrict second, Write write) {
  for (std::size_t i = 0; i < pairs; ++i) {
    radii[i] = std::bit_cast<std::uint64_t>(bits::exponential_from(radii[i]));
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    const bits::Pair noise = bits::gaussian_from(std::bit_cast<double>(radii[i]), angles[i], stddev);
    write(first[i], noise.first);
    write(second[i], noise.second);
  }
}

// That the arguments do not overlap must be said here once more, or nothing is vectorised.
RATION_PER_PROCESSOR void replace_pairs(std::uint64_t* __restrict radii,
                                        const std::uint64_t* __restrict angles, std::size_t pairs,
                                        double stddev, double* __restrict first, double* __restrict second) {
  transform(radii, angles, pairs, stddev, first, second, Replace{});
}

RATION_PER_PROCESSOR void add_pairs(std::uint64_t* __restrict radii, const std::uint64_t* __restrict angles,
                                    std::size_t pairs, double stddev, double* __restrict first,
                                    double* __restrict second) {
  transform(radii, angles, pairs, stddev, first, second, Add{});
}

using WritePairs = void (*)(std::uint64_t* radii, const std::uint64_t* angles, std::size_t pairs,
                            double stddev, double* first, double* second);

// A block is the first members of its pairs, then as many second ones. It is made a few pairs at a time, between which the
// caller's memory is asked for.
void write_block(std::span<std::uint64_t> words, double stddev, double* out, WritePairs write,
                 const Ahead& ahead) {
  constexpr std::size_t kAtOnce = 64;  // pairs: some 0.1 us
  constexpr std::size_t kParts = kBlock / 2 / kAtOnce;
  const std::size_t pairs = words.size() / 2;
  for (std::size_t part = 0; part * kAtOnce < pairs; ++part) {
    ahead.ask_for(part, kParts);
    const std::size_t i = part * kAtOnce;
    write(&words[i], &words[pairs + i], std::min(kAtOnce, pairs - i), stddev, out + i, out + pairs + i);
  }
}

// All values but the last of an odd number of them.
void write_pairs(RandomSource& random, std::span<double> values, double stddev, WritePairs write,
                 const Ahead& ahead = {}) {
  alignas(64) std::array<std::uint64_t, kBlock> words;  // whole lines of the cache
  const std::size_t paired = values.size() - values.size() % 2;
  for (std::size_t done = 0; done < paired;) {
    const std::size_t count = std::min(kBlock, paired - done);
    random.fill(std::span(words).first(count));
    write_block(std::span(words).first(count), stddev, values.data() + done, write,
                done == 0 ? ahead : Ahead{});
    done += count;
  }
  explicit_bzero(words.data(), std::min(kBlock, paired) * sizeof(words[0]));
}

}  // namespace

double standard_gaussian(RandomSource& random) {
  const double exponential = bits::exponential_from(random.next_word());
  return bits::gaussian_from(exponential, random.next_word(), 1).first;
}

void fill_gaussian(RandomSource& random, std::span<double> out, double stddev, const Ahead& ahead) {
  require("fill_gaussian", "stddev", stddev, at_least(0).at_most(kLargestStddev));
  write_pairs(random, out, stddev, &replace_pairs, ahead);
  if (out.size() % 2 == 1) out.back() = stddev * standard_gaussian(random);
}

void add_gaussian(RandomSource& random, std::span<double> inout, double stddev) {
  require("add_gaussian", "stddev", stddev, at_least(0).at_most(kLargestStddev));
  write_pairs(random, inout, stddev, &add_pairs);
  if (inout.size() % 2 == 1) inout.back() += stddev * standard_gaussian(random);
}

}  // namespace ration
