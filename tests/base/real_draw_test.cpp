#include "base/real_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "base/bits_to_reals.h"
#include "base/distributions.h"
#include "base/geometric_gaps.h"
#include "ration/base/error.h"
#include "support/doubles.h"
#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

// An implementation that has nothing to do with ours: 200 decimal digits.
using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<200>>;

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

Real real(const reals::Integer& n, unsigned bits) {
  return ldexp(Real(n), -static_cast<int>(bits));
}

std::vector<std::uint64_t> words(std::size_t count, std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::uint64_t> list(count);
  random.fill(list);
  return list;
}

// Few and many leading zeros and ones.
std::vector<std::uint64_t> hard_words(std::size_t count, std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::uint64_t> list(count);
  for (auto& word : list) {
    word = random.next_word() >> (random.next_word() % 64);
    if (random.next_word() % 2 == 0) word = ~word;
  }
  return list;
}

void expect_contains(const reals::Interval& found, const Real& truth, double most_bits_lost) {
  const Real low = real(found.low, found.bits), high = real(found.high, found.bits);
  EXPECT_LE(low, truth);
  EXPECT_GE(high, truth);
  EXPECT_LE((high - low) / (1 + abs(truth)), pow(Real(2), most_bits_lost - found.bits));
}

TEST(Reals, LogarithmsAreWithinTheirIntervals) {
  SeededRandom random(1);
  for (const unsigned bits : {128u, 256u, 512u}) {
    for (int i = 0; i < 300; ++i) {
      reals::Integer n = 1 + (random.next_word() >> (random.next_word() % 64));
      if (i % 3 == 0) n = (n << 200) + random.next_word();
      const int scale = static_cast<int>(random.next_word() % 300);
      expect_contains(reals::logarithm(n, scale, bits), log(real(n, static_cast<unsigned>(scale))), 14);
    }
    expect_contains(reals::logarithm(1, 0, bits), Real(0), 14);
    expect_contains(reals::logarithm(3, 1, bits), log(Real(1.5)), 14);  // where the mantissa is halved
  }
}

// The real pair that begins with these words and goes on with zeros.
std::pair<Real, Real> exact_pair(std::uint64_t radius_word, std::uint64_t angle_word, unsigned more_zeros) {
  const Real u = ldexp(Real(radius_word) + ldexp(Real(1), -static_cast<int>(more_zeros)), -64);
  const Real radius = sqrt(-2 * log(u));
  const Real angle = acos(Real(-1)) / 2 * (ldexp(Real(angle_word >> 2), -62) - Real(0.5));
  const Real sign = (angle_word & 1) != 0 ? -1 : 1;
  const Real along = sign * radius * cos(angle), across = sign * radius * sin(angle);
  return (angle_word & 2) != 0 ? std::pair(across, along) : std::pair(along, across);
}

TEST(Reals, GaussianPairsAreWithinTheirIntervals) {
  const auto list = hard_words(400, 2);
  for (std::size_t i = 0; i < list.size(); i += 2) {
    if (list[i] == 0) continue;
    for (const unsigned bits : {128u, 256u}) {
      ScriptedRandom zeros({});
      const auto [first, second] = reals::GaussianPair(list[i], list[i + 1]).at(bits, zeros);
      const auto [x, y] = exact_pair(list[i], list[i + 1], 100'000);
      EXPECT_LE(real(first.low, bits), x);
      EXPECT_GE(real(first.high, bits), x);
      EXPECT_LE(real(second.low, bits), y);
      EXPECT_GE(real(second.high, bits), y);
    }
  }
}

// The bound of docs/proofs/sampler.md, step 3: in standard deviations, of every real pair whose digits begin
// with the words, so long as the radius's word is not near an end. Every instruction set.
TEST(Reals, DoublesAreWithinTheProvenErrorOfTheRealNumbers) {
  constexpr double kProven = 6.2 * 0x1p-48;
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 44;
  std::vector<std::uint64_t> radii;
  for (auto word : hard_words(3000, 3)) {
    if (((word + kEnd) >> 45) != 0) radii.push_back(word);
  }
  for (const std::uint64_t word : {kEnd, kEnd + 1, 2 * kEnd, ~kEnd, ~kEnd - 1, std::uint64_t{1} << 63,
                                   (std::uint64_t{1} << 63) - 1, std::uint64_t{0xb504f333f9de6484}}) {
    radii.push_back(word);
  }
  const auto angles = hard_words(radii.size(), 4);
  double worst = 0;
  for (std::size_t i = 0; i < radii.size(); ++i) {
    const auto computed = bits::gaussian_from(bits::exponential_from(radii[i]), angles[i], 1);
    for (const auto& digits : {std::uint64_t{0}, kAllOnes}) {
      ConstantRandom rest(digits);
      const auto [x, y] = reals::GaussianPair(radii[i], angles[i]).at(256, rest);
      const Real far_x = abs(Real(computed.first) - real(x.low, 256));
      const Real far_y = abs(Real(computed.second) - real(y.low, 256));
      worst = std::max({worst, far_x.convert_to<double>(), far_y.convert_to<double>()});
    }
  }
  EXPECT_LE(worst, kProven);
  EXPECT_GE(worst, kProven / 8);  // the bound is no empty one
}

// What the proof says of the three series: how far they are from their functions, at all their arguments. The
// difference is evaluated on a grid so fine that its slope cannot hide more than is allowed for.
double worst_difference(const std::function<Real(const Real&)>& difference, double most) {
  constexpr int kPoints = 4000;
  Real worst = 0;
  for (int i = 0; i <= kPoints; ++i) worst = std::max(worst, Real(abs(difference(Real(most) * i / kPoints))));
  return worst.convert_to<double>();
}

template <std::size_t N>
Real exact_polynomial(const std::array<double, N>& c, const Real& x) {
  Real sum = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + Real(c[i]);
  return sum;
}

TEST(BitsToReals, TheSeriesAreAsNearAsTheProofSays) {
  const auto root = [](const Real& z) { return Real(sqrt(z + Real(1e-60))); };
  EXPECT_LE(worst_difference(
                [&](const Real& z) {
                  const Real s = root(z);
                  return Real(exact_polynomial(bits::kAtanh, z) - log((1 + s) / (1 - s)) / s);
                },
                0.0295),
            1.5 * 0x1p-53);
  const double square = std::numbers::pi * std::numbers::pi / 16;
  EXPECT_LE(
      worst_difference(
          [&](const Real& z) { return Real(exact_polynomial(bits::kSine, z) - sin(root(z)) / root(z)); },
          square),
      0.6 * 0x1p-53);
  EXPECT_LE(
      worst_difference([&](const Real& z) { return Real(exact_polynomial(bits::kCosine, z) - cos(root(z))); },
                       square),
      1.2 * 0x1p-53);
}

// Rounding.

constexpr double kScales[] = {0.3, 5, 1000, 0x1.8p24, 0x1.fp31, 0x1p38};

// Both continuations of the words that lie at the ends agree with what was filled in, unless they differ from
// each other; then it is one of them.
TEST(FillRoundedGaussian, IsTheRealPairRounded) {
  constexpr std::size_t kPairs = 512;
  auto list = hard_words(2 * kPairs, 5);
  for (auto& word : list) word = std::max<std::uint64_t>(word, 1);  // zeros would go on for ever here
  for (const double stddev : kScales) {
    std::vector<double> values(list.size());
    ScriptedRandom random(list);
    fill_rounded_gaussian(random, values, stddev);
    for (std::size_t i = 0; i < kPairs; ++i) {
      ConstantRandom ones(kAllOnes);
      ScriptedRandom low({0, 0, 0, 0, 0, 0, 1, 1});
      const auto a = reals::GaussianPair(list[i], list[kPairs + i]).rounded(stddev, low);
      const auto b = reals::GaussianPair(list[i], list[kPairs + i]).rounded(stddev, ones);
      EXPECT_TRUE(a.first != b.first || values[i] == a.first) << i << " " << stddev;
      EXPECT_TRUE(a.second != b.second || values[kPairs + i] == a.second) << i << " " << stddev;
    }
  }
}

TEST(FillRoundedGaussian, IsTheOldNoiseRoundedWhereDoublesCanTell) {
  for (const std::size_t size : {1u, 2u, 17u, 1024u, 5001u}) {
    SeededRandom random(7), same(7);
    std::vector<double> rounded(size), real(size);
    fill_rounded_gaussian(random, rounded, 0x1.3p25);
    fill_gaussian(same, real, 0x1.3p25);
    for (std::size_t i = 0; i < size; ++i) {
      const bool clear = std::abs(std::abs(real[i] - std::trunc(real[i])) - 0.5) > 1e-5;
      EXPECT_TRUE(!clear || rounded[i] == std::round(real[i])) << i;
    }
  }
}

TEST(FillRoundedGaussian, IsTheSameUnderEachInstructionSet) {
  for (const double stddev : {0x1.8p24, 0x1.fp31, 0x1p38}) {
    expect_same_under_each_set(
        [&] {
          SeededRandom random(7);
          std::vector<double> values(50'001);
          fill_rounded_gaussian(random, values, stddev);
          return values;
        },
        0);
  }
}

// Half way between two whole numbers, as far as a double can say. Of forty pairs, doubles get about half
// wrong.
TEST(FillRoundedGaussian, WhatDoublesCannotTellIsDecidedByTheRealNumber) {
  constexpr std::uint64_t kRest = 0x5555555555555555;
  const auto list = words(80, 9);
  for (std::size_t pair = 0; pair < list.size(); pair += 2) {
    const std::uint64_t radius = list[pair], angle = list[pair + 1];
    const double standard = bits::gaussian_from(bits::exponential_from(radius), angle, 1).first;
    const double stddev = 1000000.5 / std::abs(standard);
    const auto at = [&](double scale) {
      ConstantRandom more(kRest);
      return std::abs(reals::GaussianPair(radius, angle).rounded(scale, more).first);
    };
    // The two neighbouring doubles between which the real noise passes half way.
    double low = stddev * (1 - 1e-12), high = stddev * (1 + 1e-12);
    while (std::nextafter(low, high) < high) {
      const double middle = low + (high - low) / 2;
      (at(middle) <= 1000000 ? low : high) = middle;
    }
    EXPECT_EQ(at(low), 1000000);
    EXPECT_EQ(at(high), 1000001);
    // A fill at either scale finds the same, of a value alone and of a pair.
    for (const double scale : {low, high}) {
      for (const std::size_t size : {1u, 2u}) {
        std::vector<double> values(size);
        ScriptedRandom random({radius, angle, kRest, kRest, kRest, kRest, kRest, kRest});
        fill_rounded_gaussian(random, values, scale);
        EXPECT_EQ(std::abs(values[0]), scale == low ? 1000000 : 1000001) << pair << " " << size;
      }
    }
  }
}

// 64 bits end at 9.42 standard deviations. More zeros reach further; nothing ends there.
TEST(FillRoundedGaussian, TheTailGoesOnBeyond64Bits) {
  const std::uint64_t along_the_axis = std::uint64_t{1} << 63;
  double before = 0;
  for (const std::size_t zero_words : {1u, 2u, 4u, 16u}) {
    std::vector<std::uint64_t> script(zero_words + 1, 0);
    script[1] = along_the_axis;
    script.push_back(kAllOnes);
    for (int i = 0; i < 8; ++i) script.push_back(0x123456789abcdef0);
    std::vector<double> one(1);
    ScriptedRandom random(script);
    fill_rounded_gaussian(random, one, 0x1p24);
    const double reached = std::abs(one[0]) * 0x1p-24;
    EXPECT_NEAR(reached, std::sqrt(128 * std::numbers::ln2 * static_cast<double>(zero_words)), 1e-6);
    EXPECT_GT(reached, before);
    before = reached;
  }
  EXPECT_GT(before, 37);
}

TEST(FillRoundedGaussian, ASourceThatIsBrokenIsAnErrorAndNotNoise) {
  ConstantRandom zeros(0);
  std::vector<double> values(4);
  EXPECT_THROW(fill_rounded_gaussian(zeros, values, 0x1p24), InternalError);
}

TEST(FillRoundedGaussian, RefusesWhatIsNoScale) {
  SeededRandom random(1);
  std::vector<double> values(3);
  for (const double bad : {0.0, -1.0, 1e14, std::nan("")}) {
    EXPECT_THROW(fill_rounded_gaussian(random, values, bad), InputError) << bad;
  }
}

// Gaps.

double exact_gap(std::uint64_t word, const Real& rate) {
  return Real(floor(log(ldexp(Real(word), -64)) / log(1 - rate))).convert_to<double>();
}

TEST(GeometricGaps, AreThoseOfTheRealNumbers) {
  for (const double rate : {0.5, 0.9999, 0.1, 0.01, 1e-3, 1e-6, 1e-9, 0x1p-53, 1 - 0x1p-53}) {
    const auto list = words(256, 11);
    ScriptedRandom random(list);
    GeometricGaps gaps(random, rate, 1e12);
    const std::size_t prepared = static_cast<std::size_t>(std::min(256.0, 8 + 1e12 * rate));
    for (std::size_t i = 0; i < prepared; ++i) {
      const double gap = gaps.next();
      EXPECT_TRUE(gap >= 1e12 || gap == exact_gap(list[i], Real(rate))) << i << " " << rate;
    }
  }
}

// Words at which -log(u) / -log(1 - rate) is a whole number, as far as a double can say. Doubles get about
// half of the gaps wrong.
TEST(GeometricGaps, WhatDoublesCannotTellIsDecidedByMoreDigits) {
  const double rate = 0.001, trials = 1000;
  constexpr std::uint64_t kRest = 0x8000000000000000;
  const std::uint64_t clear = kRest;  // a gap of 692.8
  for (int k = 1; k < 200; ++k) {
    const Real u = pow(1 - Real(rate), k);
    const auto word = static_cast<std::uint64_t>(Real(ldexp(u, 64)));
    for (const std::uint64_t one : {word, word + 1}) {
      const double expected = one == word && Real(one) + Real(0.5) < ldexp(u, 64) ? k : k - 1;
      ScriptedRandom rest({kRest, 1, 2, 3, 4, 5});
      EXPECT_EQ(reals::geometric_gap(one, rate, rest), expected) << k;
      // The first of the nine that are prepared; what follows them are its further digits.
      ScriptedRandom random(
          {one, clear, clear, clear, clear, clear, clear, clear, clear, kRest, 1, 2, 3, 4, 5});
      EXPECT_EQ(GeometricGaps(random, rate, trials).next(), expected) << k;
    }
  }
}

// Comparisons.

TEST(RealDraw, ComparesAsDoublesWhereTheyCanTell) {
  for (const RealLaw law : {RealLaw::gaussian, RealLaw::exponential, RealLaw::laplace, RealLaw::gumbel}) {
    SeededRandom random(21);
    for (int i = 0; i < 2000; ++i) {
      RealDraw x(law, random), y(law, random);
      const double a = 0.001 * i, left = a + 2 * x.approximately(), right = 1 + 3 * y.approximately();
      if (std::abs(left - right) < 1e-6) continue;
      EXPECT_EQ(RealDraw::at_least(a, 2, x, 1, 3, y, random), left > right);
    }
  }
}

// The same first words: equal to 64 bits, and told apart by what follows. The draw with the smaller rest has
// the larger exponential.
TEST(RealDraw, EqualDoublesAreToldApart) {
  const std::uint64_t word = 0x3456789abcdef012, second = 0x9999999999999999;
  for (const RealLaw law : {RealLaw::exponential, RealLaw::laplace, RealLaw::gumbel, RealLaw::gaussian}) {
    for (const bool left_is_smaller : {true, false}) {
      const bool two = law == RealLaw::gaussian || law == RealLaw::laplace;
      ScriptedRandom first(two ? std::vector{word, second, word, second} : std::vector{word, word});
      RealDraw x(law, first), y(law, first);
      const std::uint64_t small = 5, large = 0xf000000000000000;
      const std::uint64_t a = left_is_smaller ? small : large, b = left_is_smaller ? large : small;
      // Enough for the first precision: two words for the radius, then two for the angle.
      std::vector<std::uint64_t> script;
      const std::uint64_t same = 0x7777777777777777;
      if (law == RealLaw::gaussian) {
        script = {a, same, same, same, b, same, same, same};
      } else {
        script = {a, same, b, same};
      }
      ScriptedRandom rest(script);
      const bool exponential_is_larger = left_is_smaller;
      const bool expected = law == RealLaw::exponential || (law == RealLaw::laplace && (second & 1) != 0) ||
                                    law == RealLaw::gaussian
                                ? exponential_is_larger
                                : !exponential_is_larger;
      const bool sign_flips = law == RealLaw::gaussian && x.approximately() < 0;
      EXPECT_EQ(RealDraw::at_least(1, 1, x, 1, 1, y, rest), expected != sign_flips) << static_cast<int>(law);
    }
  }
}

TEST(RealDraw, ScoresOfAnySizeAreCompared) {
  SeededRandom random(3);
  for (int i = 0; i < 50; ++i) {
    RealDraw x(RealLaw::exponential, random), y(RealLaw::exponential, random);
    EXPECT_TRUE(RealDraw::at_least(1e308, 1e-300, x, -1e308, 1e-300, y, random));
    EXPECT_FALSE(RealDraw::at_least(-1e308, 1, x, 1e308, 1, y, random));
    // The difference of the scores is far below a double's last digit of them, and the noise decides.
    EXPECT_EQ(RealDraw::at_least(1e300, 1, x, 1e300, 1, y, random), x.approximately() > y.approximately());
  }
}

}  // namespace
}  // namespace ration::testing
