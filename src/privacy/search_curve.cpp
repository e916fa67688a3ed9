#include "privacy/search_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/check.h"
#include "privacy/rdp_curves.h"
#include "privacy/search_moments.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPerOctave = 8;
constexpr double kRoundedUp = 1 + 1e-12;

// The largest of (slope a + start) / (a (a-1)) for a in [from, to].
double largest_over_order(double slope, double start, double from, double to) {
  const auto at = [&](double a) { return (slope * a + start) / (a * (a - 1)); };
  double largest = std::max(at(from), at(to));
  const double root = start * (start + slope);  // stationary where slope a^2 + 2 start a - start = 0
  if (root < 0 || slope == 0) return largest;
  for (const double sign : {-1.0, 1.0}) {
    const double a = (-start + sign * std::sqrt(root)) / slope;
    if (a > from && a < to) largest = std::max(largest, at(a));
  }
  return largest;
}

// The last few curves, by their numbers.
template <class Curve, class... Numbers>
std::shared_ptr<const Curve> remembered(Numbers... numbers) {
  constexpr std::size_t kKept = 64;
  static std::mutex mutex;
  static std::map<std::tuple<Numbers...>, std::shared_ptr<const Curve>> known;
  auto made = std::make_shared<const Curve>(numbers...);  // cheap, and refuses what is not a number
  const std::lock_guard lock(mutex);
  if (const auto found = known.find({numbers...}); found != known.end()) return found->second;
  if (known.size() == kKept) known.clear();
  known[{numbers...}] = made;
  return made;
}

}  // namespace

double SearchCurve::order_of(int index) {
  return 1 + std::exp2(index / kPerOctave);
}

// The best share of the threshold's movement is looked for and need not be found: each gives a valid bound.
double SearchCurve::bound(double order) const {
  constexpr double kStride = 1.0 / 8, kFinest = 1.0 / 16;
  double best = closed_form(order);
  double share = std::ceil(likely_share(order) / kStride) * kStride;
  double value = with_moved_threshold(order, share);
  for (; value == kInfinity && share < 1; value = with_moved_threshold(order, share)) share += kStride;
  const auto improve = [&](double stride) {
    const double next = share + stride;
    if (next < 0 || next > 1) return false;
    const double other = with_moved_threshold(order, next);
    if (!(other < value)) return false;
    share = next;
    value = other;
    return true;
  };
  if (improve(-kStride)) {
    while (improve(-kStride)) continue;
  } else {
    while (improve(kStride)) continue;
  }
  for (double finer = kStride / 2; finer >= kFinest; finer /= 2) {
    if (!improve(-finer)) improve(finer);
  }
  return std::min(best, value) * kRoundedUp;
}

double SearchCurve::log_moment(int index) const {
  const std::lock_guard lock(mutex_);
  if (known_.empty()) known_.assign(kLast - kFirst + 1, std::numeric_limits<double>::quiet_NaN());
  double& value = known_[static_cast<std::size_t>(index - kFirst)];
  const double order = order_of(index);
  if (std::isnan(value)) value = (order - 1) * bound(order);
  return value;
}

double SearchCurve::rdp(double order) const {
  const double t = order - 1;
  const double first = std::exp2(kFirst / kPerOctave);
  const double closed = closed_form(order);
  if (t <= first) return std::min(closed, log_moment(kFirst) / first);  // D rises with the order
  if (!(t < std::exp2((kLast - 1) / kPerOctave))) return closed;
  const int left = static_cast<int>(std::floor(kPerOctave * std::log2(t)));
  const double from = std::exp2(left / kPerOctave), to = std::exp2((left + 1) / kPerOctave);
  const double part = std::clamp((t - from) / (to - from), 0.0, 1.0);
  const double chord = (1 - part) * log_moment(left) + part * log_moment(left + 1);
  return std::min(closed, chord / t * kRoundedUp);
}

LaplaceSearchCurve::LaplaceSearchCurve(double threshold_epsilon, double query_epsilon)
    : threshold_(require("AboveThreshold", "threshold_epsilon", threshold_epsilon, greater_than(0))),
      query_(require("AboveThreshold", "query_epsilon", query_epsilon, greater_than(0))) {}

double LaplaceSearchCurve::closed_form(double order) const {
  return rdp_pure(threshold_ + 2 * query_, order);
}

double LaplaceSearchCurve::with_moved_threshold(double order, double share) const {
  const double moment = log_laplace_search_moment(order, {(1 + share) * query_, (1 - share) * query_});
  const double threshold = share == 0 ? 0 : rdp_laplace(1 / (share * threshold_), order);
  return threshold + moment / (order - 1);
}

// Without a threshold that moves, later comparisons cost ever more unless (a-1) e^shift < a.
double LaplaceSearchCurve::likely_share(double order) const {
  return std::clamp(1 - 0.5 / (order * query_), 0.0, 1.0);
}

GaussianSearchCurve::GaussianSearchCurve(double threshold_noise, double query_noise, std::int64_t queries)
    : threshold_(require("AboveThreshold", "threshold_noise", threshold_noise, greater_than(0))),
      query_(require("AboveThreshold", "query_noise", query_noise, greater_than(0))),
      queries_(queries) {
  require("AboveThreshold", "queries", static_cast<double>(queries), at_least(1));
  const double ratio = query_ / threshold_;
  const double count = static_cast<double>(queries_);
  best_share_ = std::clamp((count - 2) / (count + ratio * ratio), 0.0, 1.0);
}

double GaussianSearchCurve::limit_rho() const {
  const double c = best_share_, count = static_cast<double>(queries_);
  const double comparisons = (1 + c) * (1 + c) + (count - 1) * (1 - c) * (1 - c);
  return c / threshold_ * (c / threshold_) / 2 + comparisons / query_ / query_ / 2;
}

// The composition of all comparisons, or the sum over the outputs of the largest that each can contribute.
// The latter falls at first; the divergence does not, so there it is at most the least value.
double GaussianSearchCurve::closed_form(double order) const {
  const double count = static_cast<double>(queries_), outputs = std::log1p(count), rho = limit_rho();
  const double all = count * order / query_ / query_ / 2;
  const double least_at = 1 + std::sqrt(outputs / rho);
  const double rising = std::max(order, least_at);
  return std::min(all, rising * rho + outputs / (rising - 1)) * kRoundedUp;
}

// zcdp_rho() comes from chords over longer stretches too, and may be the smaller bound.
double GaussianSearchCurve::rdp(double order) const {
  return std::min(SearchCurve::rdp(order), zcdp_rho() * order);
}

double GaussianSearchCurve::with_moved_threshold(double order, double share) const {
  constexpr double kLargestNoise = 1e100;  // beyond, squares may vanish
  if (query_ > kLargestNoise) return kInfinity;
  const double moment =
      GaussianComparisons::log_moment(order, shifted_by(1 + share), shifted_by(1 - share), queries_);
  return order * (share / threshold_) * (share / threshold_) / 2 + moment / (order - 1);
}

GaussianComparisons& GaussianSearchCurve::shifted_by(double sensitivities) const {
  auto& known = shifted_[sensitivities];
  if (!known) known = std::make_unique<GaussianComparisons>(sensitivities / query_);
  return *known;
}

double GaussianSearchCurve::likely_share(double order) const {
  return best_share_ * -std::expm1(-order / query_ / 2);
}

// The largest D(a)/a between two computed orders, if that is above `known`. The chord over the whole stretch
// may do; else each half is looked at.
double GaussianSearchCurve::largest_between(int first, int last, double known) const {
  const double from = order_of(first), to = order_of(last);
  const double low = log_moment(first), high = log_moment(last);
  const double slope = (high - low) / (to - from);
  const double chord = largest_over_order(slope, low - slope * from, from, to);
  if (last - first == 1) return std::max(known, chord);
  known = std::max({known, low / (from * (from - 1)), high / (to * (to - 1))});
  if (chord <= known) return known;
  const int middle = (first + last) / 2;
  return largest_between(middle, last, largest_between(first, middle, known));
}

double GaussianSearchCurve::zcdp_rho() const {
  std::call_once(rho_once_, [this] {
    const double all = static_cast<double>(queries_) / query_ / query_ / 2;
    // Up to the first order D(a)/a <= D(first); from the last order on the closed form falls.
    const double wanted = std::log2(GaussianComparisons::kLargest * query_);
    const int last = static_cast<int>(kPerOctave * std::clamp(std::ceil(wanted), 1.0, kLast / kPerOctave));
    const double after = order_of(last);
    const double tail = limit_rho() + std::log1p(static_cast<double>(queries_)) / (after * (after - 1));
    double rho = std::max(tail, log_moment(kFirst) / (order_of(kFirst) - 1));
    if (rho < all) {
      constexpr int kOctave = static_cast<int>(kPerOctave);
      for (int index = last; index > kFirst; index -= kOctave) {
        rho = largest_between(std::max(kFirst, index - kOctave), index, rho);
      }
    }
    rho_ = std::min(rho, all) * kRoundedUp;
  });
  return rho_;
}

std::shared_ptr<const LaplaceSearchCurve> laplace_search_curve(double threshold_epsilon,
                                                               double query_epsilon) {
  return remembered<LaplaceSearchCurve>(threshold_epsilon, query_epsilon);
}

std::shared_ptr<const GaussianSearchCurve> gaussian_search_curve(double threshold_noise, double query_noise,
                                                                 std::int64_t queries) {
  return remembered<GaussianSearchCurve>(threshold_noise, query_noise, queries);
}

}  // namespace ration
