#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "base/bits_to_reals.h"
#include "ration/base/check.h"
#include "ration/base/distributions.h"

// One machine code per processor generation, chosen when the program starts; elsewhere the portable one only.
// (The sanitizers do not survive the choosing function, which runs before they are set up.)
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RATION_PER_PROCESSOR __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define RATION_PER_PROCESSOR
#endif

namespace ration {
namespace {

constexpr std::size_t kBlock = 1024;  // values: 8 KB of words and as much output stay in the first cache
using Words = std::array<std::uint64_t, kBlock>;

// The values of one block: `pairs` first members, then as many second members.
struct Replace {
  RATION_INLINE void operator()(double& out, double noise) const { out = noise; }
};
struct Add {
  RATION_INLINE void operator()(double& out, double noise) const { out += noise; }
};

template <class Write>
RATION_INLINE void transform(const std::uint64_t* __restrict words, std::size_t pairs, double stddev,
                             double* __restrict out, Write write) {
  const std::uint64_t* angles = words + pairs;
  double* second = out + pairs;
  for (std::size_t i = 0; i < pairs; ++i) {
    const bits::Pair noise = bits::gaussian_from(words[i], angles[i]);
    write(out[i], stddev * noise.first);
    write(second[i], stddev * noise.second);
  }
}

RATION_PER_PROCESSOR void replace_block(const std::uint64_t* words, std::size_t pairs, double stddev,
                                        double* out) {
  transform(words, pairs, stddev, out, Replace{});
}

RATION_PER_PROCESSOR void add_block(const std::uint64_t* words, std::size_t pairs, double stddev,
                                    double* out) {
  transform(words, pairs, stddev, out, Add{});
}

using Block = void (*)(const std::uint64_t* words, std::size_t pairs, double stddev, double* out);

void in_blocks(RandomSource& random, std::span<double> values, double stddev, Block block) {
  Words words;
  const std::size_t used = std::min(kBlock, values.size());
  for (; values.size() >= 2; values = values.subspan(std::min(kBlock, values.size() & ~std::size_t{1}))) {
    const std::size_t count = std::min(kBlock, values.size() & ~std::size_t{1});
    random.fill(std::span(words).first(count));
    block(words.data(), count / 2, stddev, values.data());
  }
  OPENSSL_cleanse(words.data(), used * sizeof(words[0]));
}

}  // namespace

double standard_gaussian(RandomSource& random) {
  const std::uint64_t radius = random.next_word();
  return bits::gaussian_from(radius, random.next_word()).first;
}

void fill_gaussian(RandomSource& random, std::span<double> out, double stddev) {
  require("fill_gaussian", "stddev", stddev, at_least(0));
  in_blocks(random, out, stddev, &replace_block);
  if (out.size() % 2 == 1) out.back() = stddev * standard_gaussian(random);
}

void add_gaussian(RandomSource& random, std::span<double> inout, double stddev) {
  require("add_gaussian", "stddev", stddev, at_least(0));
  in_blocks(random, inout, stddev, &add_block);
  if (inout.size() % 2 == 1) inout.back() += stddev * standard_gaussian(random);
}

}  // namespace ration
