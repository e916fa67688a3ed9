#include "privacy/search_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

// Notation of docs/proofs/above-threshold.md. A comparison at the position x says yes with probability u =
// tail(x), and on the neighbour with v = tail(x + shift). With W the moment of all later comparisons,
//   W' = max over x and shift of  u^a v^(1-a) + (1-u)^a (1-v)^(1-a) W,
// and with w = W - 1 >= 0
//   w' = max over x and shift of  g + (1 - d) w,   g = u^a v^(1-a) + (1-u)^a (1-v)^(1-a) - 1,
//                                                  1 - d = (1-u)^a (1-v)^(1-a).
// g is of second order in the shift; in this form nothing cancels, however small the shift is.

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Relative room for rounding in what a position contributes; the largest error is that of erfc, below 1e-12.
constexpr double kRoom = 1e-10;
// Exponents beyond here are not split into their first terms and the rest.
constexpr double kModerate = 30;

// e^x - 1 - x >= 0 without cancellation.
double expm1_minus(double x) {
  if (std::abs(x) > 0.25) return std::expm1(x) - x;
  double sum = 1.0 / 479001600;  // 1/12!, by Horner's rule down to 1/2!
  for (const double factorial :
       {39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0}) {
    sum = sum * x + 1 / factorial;
  }
  return sum * x * x;
}

// x - log(1 + x) >= 0 without cancellation, |x| <= 0.1.
double minus_log1p(double x) {
  double power = x * x, sum = 0;
  for (int k = 2; k <= 15; ++k) {
    sum += (k % 2 == 0 ? power : -power) / k;
    power *= x;
  }
  return sum;
}

// One answer, yes or no: of probability p, and p + moved on the neighbour.
struct Answer {
  double p;
  double change;  // moved / p
  double ratio;   // log(1 + change)
  double second;  // change - ratio, if that is small

  Answer(double probability, double moved, double on_neighbour)
      : p(probability),
        change(moved / probability),
        ratio(change < -0.5 ? std::log(on_neighbour / probability) : std::log1p(change)),
        second(std::abs(change) > kSmall ? 0 : minus_log1p(change)) {}

  // p (1 + change)^(1-a) - p = p_more, and what is left of it without the term of first order, (1-a) moved,
  // which cancels between yes and no.
  struct Moment {
    double more;
    double beyond_first_order;
  };
  Moment moment(double alpha) const {
    const double exponent = -(alpha - 1) * ratio;
    if (exponent > kModerate) {
      const double all = std::exp(std::log(p) + exponent);
      return {all, all};
    }
    const double beyond = expm1_minus(exponent);
    const double more = exponent + beyond;
    const bool small = std::abs(change) <= kSmall;
    return {p * more, p * (small ? beyond + (alpha - 1) * second : more + (alpha - 1) * change)};
  }

  static constexpr double kSmall = 0.1;
};

// 1 - (p + more), given q = 1 - p; rounded downwards.
double one_minus(double q, double more) {
  return q - more - kRoom * (q + std::abs(more));
}

// One comparison of two neighbours, by which a yes becomes less likely.
struct Comparison {
  Answer yes, no;

  struct Moment {
    double gain;        // g
    double yes, no;     // u^a v^(1-a) and (1-u)^a (1-v)^(1-a)
    double loss_of_no;  // 1 - no, rounded downwards
    double loss_of_yes;
  };
  Moment moment(double alpha) const {
    const Answer::Moment y = yes.moment(alpha), n = no.moment(alpha);
    return {.gain = (y.beyond_first_order + n.beyond_first_order) * (1 + kRoom),
            .yes = yes.p + y.more,
            .no = no.p + n.more,
            .loss_of_no = one_minus(yes.p, n.more),
            .loss_of_yes = one_minus(no.p, y.more)};
  }
};

// w' = gain + (1 - loss) w: what the best comparison makes of w is the maximum of such lines.
struct Line {
  double gain;
  double loss;

  double added_to(double w) const { return gain - loss * w; }
};

// w after a few steps, each along the best of all lines.
double after_few_steps(const std::vector<Line>& lines, std::int64_t steps) {
  double w = 0;
  for (; steps > 0; --steps) {
    double added = 0;
    for (const Line& line : lines) added = std::max(added, line.added_to(w));
    w += added * (1 + kRoom);
  }
  return w;
}

// The lines that are the largest for some w >= 0, by increasing w.
std::vector<Line> upper_envelope(std::vector<Line> lines) {
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.loss > b.loss || (a.loss == b.loss && a.gain < b.gain);
  });
  // Where b takes over from a; its loss is not larger.
  const auto crossing = [](const Line& a, const Line& b) {
    if (b.gain >= a.gain) return 0.0;
    return a.loss > b.loss ? (a.gain - b.gain) / (a.loss - b.loss) : kInfinity;
  };
  std::vector<Line> hull;
  for (const Line& line : lines) {
    while (!hull.empty() && crossing(hull.back(), line) == 0) hull.pop_back();
    while (hull.size() > 1 && crossing(hull.back(), line) <= crossing(hull[hull.size() - 2], hull.back())) {
      hull.pop_back();
    }
    hull.push_back(line);
  }
  return hull;
}

// w after `steps` along one line.
double along(const Line& line, double w, std::int64_t steps) {
  const double count = static_cast<double>(steps);
  const double times = steps == 1         ? 1
                       : line.loss == 0   ? count
                       : line.loss >= 0.5 ? (1 - std::pow(1 - line.loss, count)) / line.loss
                                          : -std::expm1(count * std::log1p(-line.loss)) / line.loss;
  return w + line.added_to(w) * times * (1 + kRoom);
}

// w after `steps`, each along the best line. As w grows the best line changes in the order of the envelope;
// many steps are taken at once where the same line is the best before and after them, and so between. Where
// the next line is too close for that to be seen, w is rounded up, past it: w' increases with w.
double after_steps(const std::vector<Line>& hull, std::int64_t steps) {
  constexpr double kLargest = 1e280, kSeen = 1 + 1e-12;
  double w = 0;
  std::size_t best = 0;
  while (steps > 0 && w < kLargest) {
    while (best + 1 < hull.size() && hull[best + 1].added_to(w) >= hull[best].added_to(w)) ++best;
    const Line& line = hull[best];
    const auto still_best = [&](double next) {
      return best + 1 == hull.size() || hull[best + 1].added_to(next) <= line.added_to(next);
    };
    std::int64_t at_once = steps > 64 ? steps : 1;
    double next = along(line, w, at_once);
    for (; at_once > 1 && !still_best(next); next = along(line, w, at_once)) at_once /= 2;
    if (!(line.added_to(w) > 0)) return w;
    w = std::max(next, w * kSeen);
    steps -= at_once;
  }
  return w < kLargest ? w : kInfinity;
}

// Standard normal noise.

double normal_tail(double x) {
  return 0.5 * std::erfc(x / std::numbers::sqrt2);
}
double normal_density(double x) {
  constexpr double kInverseRoot = 0.3989422804014327;  // 1/sqrt(2 pi)
  return kInverseRoot * std::exp(-0.5 * x * x);
}

// The probability between x and x + width. Where the density hardly changes, by a quadrature (five points of
// Gauss, relative error below 1e-12); elsewhere the difference of the smaller tails loses one bit or two.
double normal_between(double x, double width) {
  if (width * (std::abs(x) + width + 1) < 1) {
    constexpr double kNodes[] = {0.5384693101056831, 0.9061798459386640};
    constexpr double kWeights[] = {0.2844444444444444, 0.2393143352496832, 0.1184634425280945};
    const double middle = x + width / 2, half = width / 2;
    double sum = kWeights[0] * normal_density(middle);
    for (int i = 0; i < 2; ++i) {
      sum += kWeights[i + 1] *
             (normal_density(middle - half * kNodes[i]) + normal_density(middle + half * kNodes[i]));
    }
    return width * sum;
  }
  return x + width / 2 > 0 ? normal_tail(x) - normal_tail(x + width)
                           : normal_tail(-x - width) - normal_tail(-x);
}

double normal_hazard(double x) {
  return normal_density(x) / normal_tail(x);
}

}  // namespace

// Between two positions: the logarithms of g and of 1 - d are bent downwards by at most some curvature, so
// they are below their chords plus curvature cell^2/8, and a sum of exponentials of straight lines is the
// largest at one end. So each position is charged for the curvature of the cells beside it: 2 + 2/pi for g;
// for 1 - d it follows from m(x) = density/tail, which is convex with 0 < m' = m (m - x) < 1.
struct GaussianComparisons::Table {
  static constexpr double kCell = 1.0 / 16;
  static constexpr double kBent = kCell * kCell / 8;
  static constexpr double kSlopeOfOdds = 0.8;  // above sqrt(2/pi)
  static constexpr double kReach = 11;         // into the tails: 2^63 queries there add nothing

  struct Position {
    double x;
    Comparison comparison;
    double no_hazard_before;  // m(-x), one cell before
    double bent_yes;          // m'(x), one cell after
  };

  explicit Table(double by) : shift(by) {}

  const Position& at(std::size_t index) {
    while (positions.size() <= index) add();
    return positions[index];
  }
  double x_of(std::size_t index) const { return -shift - kReach + kCell * static_cast<double>(index); }
  void add() {
    const double x = x_of(positions.size());
    const double u = normal_tail(x), n = normal_tail(-x), moved = normal_between(x, shift);
    const double after = normal_hazard(x + kCell);
    positions.push_back(
        {.x = x,
         .comparison = {.yes = Answer(u, -moved, normal_tail(x + shift)), .no = Answer(n, moved, n + moved)},
         .no_hazard_before = normal_hazard(kCell - x),
         .bent_yes = after * (after - x - kCell)});
  }

  // By which part a curve may rise above the chord of a cell: e^(curvature cell^2/8) - 1, from above.
  static double bend(double curvature) {
    const double exponent = kBent * curvature;
    return exponent < 1 ? exponent * (1 + exponent) : std::expm1(exponent);
  }
  static double bent_gain(double gain) { return gain * (1 + bend(2 + 2 / std::numbers::pi)); }

  // Left of the first position g and 1 - d increase; right of the last g decreases and 1 - d is at most 1.
  // 1 - d increases everywhere, so that in a cell it is also at most what it is at the right end; that is
  // taken for both ends where it is less than the left end with its curvature. (In the upper tail the
  // curvature is more than the loss, and without this many queries would seem to cost exponentially much.)
  void add_lines_up(double alpha, std::vector<Line>& lines) {
    auto index = static_cast<std::size_t>((kReach - kSlopeOfOdds) / kCell);
    double gain = 0, loss = 0, bent_before = -kInfinity;
    bool flat_before = false;
    for (const double last = alpha * shift + kReach; x_of(index) < last + kCell; ++index) {
      const Position& here = at(index);
      const Comparison::Moment moment = here.comparison.moment(alpha);
      const double m = here.no_hazard_before, x = here.x;
      const double curvature = m * (m + x - kCell) * (1 + (alpha - 1) * shift * (2 * m + x + kCell + shift));
      loss = moment.loss_of_no;
      const double bent = loss - moment.no * bend(curvature);
      const bool flat = loss >= bent_before;
      if (flat && flat_before) lines.back().loss = loss;  // both cells beside the position before are flat
      gain = bent_gain(moment.gain);
      lines.push_back({gain, bent});
      bent_before = bent;
      flat_before = flat;
    }
    if (flat_before) lines.back().loss = loss;
    lines.push_back({gain, 0});
  }

  // In mirrored positions, where yes and no change places. Right of the last one g and u^a v^(1-a) decrease;
  // left of the first g decreases too, and the moment of a no is at most (1-v)^(1-a).
  void add_lines_down(double alpha, std::vector<Line>& lines) {
    const double last = (alpha - 1) * shift + kSlopeOfOdds;
    for (std::size_t index = 0; x_of(index) < last + kCell; ++index) {
      const Position& here = at(index);
      const Comparison::Moment moment = here.comparison.moment(alpha);
      lines.push_back({bent_gain(moment.gain), moment.loss_of_yes - moment.yes * bend(here.bent_yes)});
    }
    const double log_no = std::log1p(-normal_tail(kReach));
    const double gain = bent_gain(at(0).comparison.moment(alpha).gain);
    lines.push_back({gain, -std::expm1(-(alpha - 1) * log_no) * (1 + kRoom)});
  }

  double shift;
  std::vector<Position> positions;
};

GaussianComparisons::GaussianComparisons(double shift) : table_(std::make_unique<Table>(shift)) {}
GaussianComparisons::~GaussianComparisons() = default;

double GaussianComparisons::log_moment(double alpha, GaussianComparisons& up, GaussianComparisons& down,
                                       std::int64_t queries) {
  constexpr double kFurthest = 26;  // in the far tails the doubles end
  constexpr std::int64_t kFew = 64;
  const double largest = std::max(up.table_->shift, down.table_->shift);
  if (alpha * largest > kLargest || (alpha + 1) * largest > kFurthest) return kInfinity;
  std::vector<Line> lines;
  if (up.table_->shift > 0) up.table_->add_lines_up(alpha, lines);
  if (down.table_->shift > 0) down.table_->add_lines_down(alpha, lines);
  const double w = queries <= kFew ? after_few_steps(lines, queries)
                                   : after_steps(upper_envelope(std::move(lines)), queries);
  return std::log1p(w) * (1 + kRoom);
}

double log_gaussian_search_moment(double alpha, const SearchShift& shift, std::int64_t queries) {
  GaussianComparisons up(shift.up), down(shift.down);
  return GaussianComparisons::log_moment(alpha, up, down, queries);
}

namespace {

// Laplace noise of scale 1. The density of x and of x + shift lie on one side of 0 each, or both on the same;
// in the latter cases it is enough to look at the ends (docs/proofs/above-threshold.md), so x is in [-shift,
// 0], where x = y - shift/2 says yes with probability 1 - e^x/2 and e^-(x + shift)/2.
class LaplaceCells {
 public:
  LaplaceCells(double alpha, double shift) : alpha_(alpha), shift_(shift) {}

  // The largest w with w = g + (1 - d) w at any position, for a shift away from yes or, mirrored, towards
  // yes: bounded on cells, which are halved where they may hold more than was seen at a position by a part.
  double fixed_point(bool away) const {
    const double steep = slope();
    struct Cell {
      double from, to;
    };
    std::vector<Cell> cells{{-shift_, 0}};
    double seen = 0, bound = 0;
    for (int looked_at = 1; !cells.empty(); ++looked_at) {
      const Cell cell = cells.back();
      cells.pop_back();
      const double middle = (cell.from + cell.to) / 2;
      const Comparison::Moment within = at(middle), rising = at(cell.to);
      const double gain = within.gain * std::exp(steep * (cell.to - cell.from) / 2);
      const double peak = largest_yes(cell.from, cell.to);
      const double yes = away ? peak : rising.no * (1 + kRoom);
      const double loss = away ? rising.loss_of_no : 1 - peak;
      // Either form is right; the first is the better one where the shift is large.
      const double here = loss > 0 ? std::min((yes - loss) / loss, gain / loss) : kInfinity;
      const double loss_within = away ? within.loss_of_no : within.loss_of_yes;
      if (!(loss_within > 0)) return kInfinity;
      seen = std::max(seen, within.gain / loss_within);
      if (here <= seen * kCloseEnough || looked_at + static_cast<int>(cells.size()) > kMostCells) {
        bound = std::max(bound, here);
      } else {
        cells.push_back({cell.from, middle});
        cells.push_back({middle, cell.to});
      }
    }
    return bound;
  }

 private:
  static constexpr double kCloseEnough = 1.005;
  static constexpr int kMostCells = 500;  // where W is hardly bounded they are all needed

  Comparison::Moment at(double x) const {
    const double t = std::exp(x), y = x + shift_ / 2;
    const double bow = std::sinh(y / 2);
    const double moved = -std::expm1(-shift_ / 2) - 2 * std::exp(-shift_ / 2) * bow * bow;
    const Comparison comparison{.yes = Answer(1 - t / 2, -moved, std::exp(-x - shift_) / 2),
                                .no = Answer(t / 2, moved, t / 2 + moved)};
    return comparison.moment(alpha_);
  }
  // Of log g, at most.
  double slope() const { return 2 + alpha_ * std::min(1.0, 2 * shift_); }
  // u^a v^(1-a) is proportional to (2 - t)^a t^(a-1), t = e^x, with one peak.
  double largest_yes(double from, double to) const {
    const double peak = std::log1p(-1 / (2 * alpha_ - 1));
    return at(std::clamp(peak, from, to)).yes * (1 + kRoom);
  }

  double alpha_;
  double shift_;
};

}  // namespace

double log_laplace_search_moment(double alpha, const SearchShift& shift) {
  constexpr double kLargest = 600;
  if (alpha * std::max(shift.up, shift.down) > kLargest) return kInfinity;
  double w = 0;
  if (shift.up > 0) w = std::max(w, LaplaceCells(alpha, shift.up).fixed_point(true));
  if (shift.down > 0) w = std::max(w, LaplaceCells(alpha, shift.down).fixed_point(false));
  return std::log1p(w) * (1 + kRoom);
}

}  // namespace ration
