#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "ration/base/random.h"

// Real random numbers that are known as far as somebody asks. A draw keeps the random words it began with and
// takes more of them only when a decision (to which whole number it rounds, which of two is larger) depends
// on digits that the words do not settle. So decisions are those of ideal real numbers, not of their nearest
// doubles, and no tail is cut off. Proofs: docs/proofs/sampler.md.
namespace ration::reals {

using Integer = boost::multiprecision::cpp_int;

// Between low and high, in units of 2^-bits.
struct Interval {
  Integer low;
  Integer high;
  unsigned bits = 0;
};

// A uniform real number in [0, 1), whose binary digits are drawn as they are needed.
// Edge cases  A source that gives nothing but zeros, or always the same digits where two draws must differ,
//             is broken: InternalError after 2^13 bits, which an ideal source reaches with probability below
//             2^-4000.
class Digits {
 public:
  // The first digits are those of `word` without its `dropped` lowest bits.
  explicit Digits(std::uint64_t word, unsigned dropped = 0)
      : digits_(word >> dropped), count_(64 - dropped) {}

  // At least so many digits after the point.
  void extend_to(unsigned count, RandomSource& random);
  // At least so many from the first 1 on.
  void extend_to_significant(unsigned count, RandomSource& random);
  // The number lies in [digits, digits + 1] / 2^count.
  const Integer& digits() const { return digits_; }
  unsigned count() const { return count_; }

 private:
  Integer digits_;
  unsigned count_;
};

// ln(n / 2^scale) for n >= 1, within 2 bits (|log2| + 2) units. bits >= 128.
Interval logarithm(const Integer& n, int scale, unsigned bits);
// -ln(u): an exponential variable.
Interval exponential_of(Digits& u, unsigned bits, RandomSource& random);

// The words of two normal variables, as base/bits_to_reals.h reads them.
class GaussianPair {
 public:
  GaussianPair(std::uint64_t radius_word, std::uint64_t angle_word)
      : radius_(radius_word),
        angle_(angle_word, 2),
        negative_((angle_word & 1) != 0),
        exchanged_((angle_word & 2) != 0) {}

  std::pair<Interval, Interval> at(unsigned bits, RandomSource& random);
  // stddev times both, rounded to whole numbers; 0 < stddev <= 2^45.
  std::pair<double, double> rounded(double stddev, RandomSource& random);

 private:
  Digits radius_;
  Digits angle_;
  bool negative_;
  bool exchanged_;
};

// floor(-ln(u) / -ln(1 - rate)) for the u that begins with `word`: geometric. 0 < rate < 1.
double geometric_gap(std::uint64_t word, double rate, RandomSource& random);

}  // namespace ration::reals

namespace ration {

enum class RealLaw { gaussian, exponential, laplace, gumbel };  // each of scale 1

// One such number, to be compared with another.
class RealDraw {
 public:
  RealDraw(RealLaw law, RandomSource& random);

  // Whether a + a_scale * x >= b + b_scale * y, of the real numbers. All four finite, scales >= 0.
  static bool at_least(double a, double a_scale, RealDraw& x, double b, double b_scale, RealDraw& y,
                       RandomSource& random);
  // To some 40 bits, unless a word is next to an end of the unit interval.
  double approximately() const { return approximately_; }

 private:
  reals::Interval at(unsigned bits, RandomSource& random);

  RealLaw law_;
  std::uint64_t first_word_;
  std::uint64_t second_word_;
  reals::Digits digits_;
  std::optional<reals::GaussianPair> pair_;
  double approximately_;
  bool doubtful_;
};

}  // namespace ration
