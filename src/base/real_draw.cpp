#include "base/real_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/bits_to_reals.h"
#include "ration/base/error.h"

namespace ration {
namespace reals {
namespace {

constexpr unsigned kFirstBits = 128;
constexpr unsigned kMostBits = 8192;

[[noreturn]] void broken_source() {
  throw InternalError("random numbers: the random source repeats itself");
}

// Toward zero.
Integer shifted_down(const Integer& x, unsigned places) {
  return x < 0 ? Integer(-(Integer(-x) >> places)) : Integer(x >> places);
}

// Toward minus infinity.
Integer floor_shifted(const Integer& x, unsigned places) {
  if (x >= 0) return x >> places;
  return -((Integer(-x) + (Integer(1) << places) - 1) >> places);
}

Integer product(const Integer& a, const Integer& b, unsigned bits) {
  return shifted_down(a * b, bits);
}

Integer power_of_two(unsigned places) {
  return Integer(1) << places;
}

Interval around(const Integer& value, const Integer& error, unsigned bits) {
  return {value - error, value + error, bits};
}

Interval negated(const Interval& x) {
  return {-x.high, -x.low, x.bits};
}

// atanh(1 / q) or atan(1 / q): the sum of (+-1)^i q^-(2i + 1) / (2i + 1).
Integer inverse_series(unsigned q, bool alternating, unsigned bits) {
  Integer term = power_of_two(bits) / q;
  Integer sum = term;
  for (unsigned i = 1; term != 0; ++i) {
    term /= q * q;
    const Integer part = term / (2 * i + 1);
    if (alternating && i % 2 == 1) {
      sum -= part;
    } else {
      sum += part;
    }
  }
  return sum;
}

struct Constants {
  Integer ln2;      // within 2 bits units
  Integer half_pi;  // within 5 bits units
  unsigned bits = 0;
};

// Those of the precision asked for last are kept: nearly always the first.
const Constants& constants(unsigned bits) {
  thread_local Constants kept;
  if (kept.bits != bits) {
    kept = {.ln2 = 2 * inverse_series(3, false, bits),
            .half_pi = 8 * inverse_series(5, true, bits) - 2 * inverse_series(239, true, bits),  // Machin
            .bits = bits};
  }
  return kept;
}

// atanh(s), |s| <= 1/5.
Integer atanh_series(const Integer& s, unsigned bits) {
  const Integer square = product(s, s, bits);
  Integer term = s;
  Integer sum = s;
  for (unsigned i = 1; term != 0; ++i) {
    term = product(term, square, bits);
    sum += term / static_cast<int>(2 * i + 1);
  }
  return sum;
}

// The sum of (-1)^i angle^(2i + first) / (2i + first)!: sine (first = 1) or cosine (first = 0).
Integer circular_series(const Integer& angle, unsigned first, unsigned bits) {
  const Integer square = product(angle, angle, bits);
  Integer term = first == 1 ? angle : power_of_two(bits);
  Integer sum = term;
  for (unsigned n = first; term != 0; n += 2) {
    term = -product(term, square, bits) / static_cast<int>((n + 1) * (n + 2));
    sum += term;
  }
  return sum;
}

// Of a radius that is not negative.
Interval times(const Interval& radius, const Interval& factor) {
  const Integer low = (factor.low < 0 ? radius.high : radius.low) * factor.low;
  const Integer high = (factor.high < 0 ? radius.low : radius.high) * factor.high;
  return {floor_shifted(low, radius.bits), floor_shifted(high, radius.bits) + 1, radius.bits};
}

// sqrt(2 x), x >= 0.
Interval root_of_twice(const Interval& x) {
  const Integer low = x.low < 0 ? Integer(0) : x.low;
  return {sqrt(Integer((2 * low) << x.bits)), sqrt(Integer((2 * x.high) << x.bits)) + 1, x.bits};
}

// A finite double is integer * 2^exponent.
struct ExactDouble {
  Integer integer;
  int exponent;
};
ExactDouble exactly(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {Integer(static_cast<std::int64_t>(std::ldexp(fraction, 53))), exponent - 53};
}

// The nearest whole number to factor * x, if all of the interval has the same.
std::optional<double> rounded(const Interval& x, const ExactDouble& factor) {
  const auto places = static_cast<unsigned>(static_cast<int>(x.bits) - factor.exponent);
  const Integer half = power_of_two(places - 1);
  const Integer low = floor_shifted(x.low * factor.integer + half, places);
  const Integer high = floor_shifted(x.high * factor.integer + half, places);
  if (low != high) return std::nullopt;
  return low.convert_to<double>();
}

// Asks for more and more digits until there is an answer.
template <class Attempt>
auto decided(const Attempt& attempt) {
  for (unsigned bits = kFirstBits; bits <= kMostBits; bits *= 2) {
    if (const auto answer = attempt(bits)) return *answer;
  }
  broken_source();
}

}  // namespace

void Digits::extend_to(unsigned count, RandomSource& random) {
  while (count_ < count) {
    digits_ = (digits_ << 64) | random.next_word();
    count_ += 64;
  }
}

void Digits::extend_to_significant(unsigned count, RandomSource& random) {
  while (digits_ == 0 || msb(digits_) + 1 < count) {
    if (count_ > kMostBits + count) broken_source();
    extend_to(count_ + 1, random);
  }
}

Interval logarithm(const Integer& n, int scale, unsigned bits) {
  auto places = static_cast<unsigned>(msb(n));
  const auto as_mantissa = [&] {
    return places > bits ? Integer(n >> (places - bits)) : Integer(n << (bits - places));
  };
  Integer mantissa = as_mantissa();  // in [3/4, 3/2) of 2^bits
  if (2 * mantissa >= 3 * power_of_two(bits)) {
    ++places;
    mantissa = as_mantissa();
  }
  const Integer s = ((mantissa - power_of_two(bits)) << bits) / (mantissa + power_of_two(bits));
  const int exponent = static_cast<int>(places) - scale;
  const Integer value = 2 * atanh_series(s, bits) + exponent * constants(bits).ln2;
  return around(value, Integer(2 * bits) * (std::abs(exponent) + 1), bits);
}

// The digits that are not drawn add less than one unit to ln(u).
Interval exponential_of(Digits& u, unsigned bits, RandomSource& random) {
  u.extend_to_significant(bits + 1, random);
  Interval log = logarithm(u.digits(), static_cast<int>(u.count()), bits);
  log.high += 2;
  Interval result = negated(log);
  if (result.low < 0) result.low = 0;
  return result;
}

std::pair<Interval, Interval> GaussianPair::at(unsigned bits, RandomSource& random) {
  const Interval radius = root_of_twice(exponential_of(radius_, bits, random));
  angle_.extend_to(bits + 1, random);
  const Integer fraction = (angle_.digits() >> (angle_.count() - bits)) - power_of_two(bits - 1);
  const Integer angle = product(fraction, constants(bits).half_pi, bits);  // within 4 bits units
  const Integer error = 8 * bits;
  const Interval cosine = times(radius, around(circular_series(angle, 0, bits), error, bits));
  const Interval sine = times(radius, around(circular_series(angle, 1, bits), error, bits));
  const Interval first = exchanged_ ? sine : cosine;
  const Interval second = exchanged_ ? cosine : sine;
  if (negative_) return {negated(first), negated(second)};
  return {first, second};
}

std::pair<double, double> GaussianPair::rounded(double stddev, RandomSource& random) {
  const ExactDouble factor = exactly(stddev);
  return decided([&](unsigned bits) -> std::optional<std::pair<double, double>> {
    const auto [first, second] = at(bits, random);
    const auto a = reals::rounded(first, factor);
    const auto b = reals::rounded(second, factor);
    if (!a || !b) return std::nullopt;
    return std::pair(*a, *b);
  });
}

double geometric_gap(std::uint64_t word, double rate, RandomSource& random) {
  const ExactDouble exact_rate = exactly(rate);
  const auto scale = -exact_rate.exponent;
  const Integer others = power_of_two(static_cast<unsigned>(scale)) - exact_rate.integer;  // 1 - rate
  Digits u(word);
  return decided([&](unsigned bits) -> std::optional<double> {
    const Interval wait = exponential_of(u, bits, random);
    const Interval per_trial = negated(logarithm(others, scale, bits));
    if (per_trial.low <= 0) return std::nullopt;
    const Integer low = wait.low / per_trial.high;
    const Integer high = wait.high / per_trial.low;
    if (low != high) return std::nullopt;
    return low.convert_to<double>();
  });
}

}  // namespace reals

namespace {

using reals::ExactDouble;
using reals::Integer;
using reals::Interval;

double approximate(RealLaw law, std::uint64_t first, std::uint64_t second) {
  const double exponential = bits::exponential_from(first);
  switch (law) {
    case RealLaw::gaussian:
      return bits::gaussian_from(exponential, second, 1).first;
    case RealLaw::laplace:
      return (second & 1) != 0 ? exponential : -exponential;
    case RealLaw::gumbel:
      return -std::log(exponential);
    case RealLaw::exponential:
      break;
  }
  return exponential;
}

// The end of the unit interval, where the word says little of the logarithm.
bool is_near_an_end(std::uint64_t word) {
  return ((word + (std::uint64_t{1} << 47)) >> 48) == 0;
}

}  // namespace

RealDraw::RealDraw(RealLaw law, RandomSource& random)
    : law_(law),
      first_word_(random.next_word()),
      second_word_(law == RealLaw::gaussian || law == RealLaw::laplace ? random.next_word() : 0),
      digits_(first_word_),
      approximately_(approximate(law, first_word_, second_word_)),
      doubtful_(is_near_an_end(first_word_)) {
  if (law == RealLaw::gaussian) pair_.emplace(first_word_, second_word_);
}

Interval RealDraw::at(unsigned bits, RandomSource& random) {
  if (pair_) return pair_->at(bits, random).first;
  Interval result = reals::exponential_of(digits_, bits, random);
  if (law_ == RealLaw::laplace && (second_word_ & 1) == 0) return reals::negated(result);
  if (law_ != RealLaw::gumbel) return result;
  const auto scale = static_cast<int>(bits);
  const Integer low = result.low < 1 ? Integer(1) : result.low;  // wide enough to decide nothing
  const Integer far = (Integer(1) << bits) << bits;
  const Integer high = result.low < 1 ? far : Integer(-reals::logarithm(low, scale, bits).low);
  return {-reals::logarithm(result.high, scale, bits).high, high, bits};
}

bool RealDraw::at_least(double a, double a_scale, RealDraw& x, double b, double b_scale, RealDraw& y,
                        RandomSource& random) {
  constexpr double kRoom = 0x1p-36;
  const double difference = (a - b) + (a_scale * x.approximately_ - b_scale * y.approximately_);
  const double size = std::abs(a) + std::abs(b) + a_scale * (1 + std::abs(x.approximately_)) +
                      b_scale * (1 + std::abs(y.approximately_));
  const bool clear = !x.doubtful_ && !y.doubtful_ && std::abs(difference) > kRoom * size;
  if (clear) return difference >= 0;
  // All in units of 2^-(bits + 1200), which every product with a double is a multiple of.
  constexpr int kBelow = 1200;
  const auto in_units = [&](const Integer& integer, const ExactDouble& factor, int at) {
    return Integer((integer * factor.integer) << static_cast<unsigned>(factor.exponent + kBelow + at));
  };
  const ExactDouble first = reals::exactly(a), second = reals::exactly(b);
  const ExactDouble of_x = reals::exactly(a_scale), of_y = reals::exactly(b_scale);
  return reals::decided([&](unsigned bits) -> std::optional<bool> {
    const Interval left = x.at(bits, random);
    const Interval right = y.at(bits, random);
    const auto units = static_cast<int>(bits);
    const Integer public_part = in_units(1, first, units) - in_units(1, second, units);
    if (public_part + in_units(left.low, of_x, 0) - in_units(right.high, of_y, 0) >= 0) return true;
    if (public_part + in_units(left.high, of_x, 0) - in_units(right.low, of_y, 0) < 0) return false;
    return std::nullopt;
  });
}

}  // namespace ration
