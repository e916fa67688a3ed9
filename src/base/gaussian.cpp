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

// Writes one block: `pairs` first members of the pairs, then as many second members. Where the words of the radii
// were, the first loop leaves the exponential values that they stand for. Two short loops, so that a processor can work
// on several rounds at once, and so that the division of one and the square root of the other do not wait for each other.
template <class Write>
RATION_INLINE void transform(std::uint64_t* __restrict words, std::size_t pairs, double stddev,
                             double* __restrict out, Write write) {
  for (std::size_t i = 0; i < pairs; ++i) {
    words[i] = std::bit_cast<std::uint64_t>(bits::exponential_from(words[i]));
  }
  const std::uint64_t* angles = words + pairs;
  double* second = out + pairs;
  for (std::size_t i = 0; i < pairs; ++i) {
    const bits::Pair noise = bits::gaussian_from(std::bit_cast<double>(words[i]), angles[i], stddev);
    write(out[i], noise.first);
    write(second[i], noise.second);
  }
}

RATION_PER_PROCESSOR void replace_block(std::uint64_t* words, std::size_t pairs, double stddev, double* out) {
  transform(words, pairs, stddev, out, Replace{});
}

RATION_PER_PROCESSOR void add_block(std::uint64_t* words, std::size_t pairs, double stddev, double* out) {
  transform(words, pairs, stddev, out, Add{});
}

using WriteBlock = void (*)(std::uint64_t* words, std::size_t pairs, double stddev, double* out);

// All values but the last of an odd number of them.
void write_pairs(RandomSource& random, std::span<double> values, double stddev, WriteBlock write_block) {
  alignas(64) std::array<std::uint64_t, kBlock> words;  // whole lines of the cache
  const std::size_t paired = values.size() - values.size() % 2;
  for (std::size_t done = 0; done < paired;) {
    const std::size_t count = std::min(kBlock, paired - done);
    random.fill(std::span(words).first(count));
    write_block(words.data(), count / 2, stddev, values.data() + done);
    done += count;
  }
  explicit_bzero(words.data(), std::min(kBlock, paired) * sizeof(words[0]));
}

}  // namespace

double standard_gaussian(RandomSource& random) {
  const double exponential = bits::exponential_from(random.next_word());
  return bits::gaussian_from(exponential, random.next_word(), 1).first;
}

void fill_gaussian(RandomSource& random, std::span<double> out, double stddev) {
  require("fill_gaussian", "stddev", stddev, at_least(0).at_most(kLargestStddev));
  write_pairs(random, out, stddev, &replace_block);
  if (out.size() % 2 == 1) out.back() = stddev * standard_gaussian(random);
}

void add_gaussian(RandomSource& random, std::span<double> inout, double stddev) {
  require("add_gaussian", "stddev", stddev, at_least(0).at_most(kLargestStddev));
  write_pairs(random, inout, stddev, &add_block);
  if (inout.size() % 2 == 1) inout.back() += stddev * standard_gaussian(random);
}

}  // namespace ration
