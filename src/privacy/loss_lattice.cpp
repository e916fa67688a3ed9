#include "privacy/loss_lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "privacy/mixture.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
// Outputs further below have probability under 1e-17: they are rounded up to here, or dropped.
constexpr double kLowest = -8.5;

// A probability and a bound on its floating-point error.
struct Mass {
  double value;
  double error;
};

// The tail of the standard normal on the far side of y, and a bound on its error. The argument of erfc is
// rounded, which costs about y^2 units in the last place. From |y| = 37.5 on the tail has fewer digits, from
// 38.6 on none.
Mass far_tail(double y) {
  if (std::isinf(y)) return {0, 0};
  constexpr double kUnderflow = 4 * std::numeric_limits<double>::denorm_min();
  const double tail = 0.5 * std::erfc(std::abs(y) / std::numbers::sqrt2);
  return {tail, kUnit * tail * (8 + 2 * y * y) + kUnderflow};
}

// An output y with the tails of both components there, so that neighbouring cells share them.
struct Edge {
  double y;
  Mass null_tail;
  Mass shifted_tail;
};

Mass between(double a, const Mass& tail_a, double b, const Mass& tail_b) {
  const double error = tail_a.error + tail_b.error + 2 * kUnit * std::max(tail_a.value, tail_b.value);
  if (b <= 0) return {tail_b.value - tail_a.value, error};
  if (a >= 0) return {tail_a.value - tail_b.value, error};
  return {1 - tail_a.value - tail_b.value, error + 2 * kUnit};
}

// The two laws of one step, in an output y >= or <= such that the loss log(dP/dQ) increases with y: for `add`
// the output is mirrored.
class LossPair {
 public:
  LossPair(const SampledGaussian& step, Direction direction)
      : rate_(step.rate), mu_(1 / step.noise), removes_(direction == Direction::remove) {}

  double loss(double y) const {
    const double ratio = log_ratio(removes_ ? y : -y);
    return removes_ ? ratio : -ratio;
  }
  // The output with this loss; -infinity or +infinity if every output is above or below.
  double output(double loss) const {
    const double y = log_unmixed(rate_, removes_ ? loss : -loss) / mu_ + 0.5 * mu_;
    return removes_ ? y : -y;
  }
  // Outputs above have P-probability at most e^{log_probability} (Chernoff for the normal tail).
  double highest(double log_probability) const {
    return std::sqrt(-2 * log_probability) + (removes_ ? mu_ : 0);
  }

  // Below this output nothing need be resolved: there is hardly any mass, or the caller has no use for its
  // loss.
  double lowest(const LossRange& range) const { return std::max(kLowest, output(range.lowest)); }

  bool bounded_below() const { return removes_; }

  Edge edge(double y) const { return {y, far_tail(y), far_tail(y - shift())}; }

  struct Cell {
    Mass p;
    Mass q;
  };
  Cell cell(const Edge& a, const Edge& b) const {
    const Mass null = between(a.y, a.null_tail, b.y, b.null_tail);
    const Mass shifted = between(a.y - shift(), a.shifted_tail, b.y - shift(), b.shifted_tail);
    const double value = (1 - rate_) * null.value + rate_ * shifted.value;
    const Mass mixture{value, (1 - rate_) * null.error + rate_ * shifted.error + 4 * kUnit * std::abs(value)};
    return removes_ ? Cell{mixture, null} : Cell{null, mixture};
  }

  double density(double y) const {
    const double null = std::exp(-0.5 * y * y) / std::sqrt(2 * std::numbers::pi);
    return removes_ ? null * std::exp(log_ratio(y)) : null;
  }

 private:
  double shift() const { return removes_ ? mu_ : -mu_; }
  double log_ratio(double y) const { return log_mixture(rate_, mu_ * (y - 0.5 * mu_)); }

  double rate_;
  double mu_;
  bool removes_;
};

// P(cell) - e^loss Q(cell), with its error: positive if the merged cell's loss lies above.
Mass excess_over(const LossPair::Cell& cell, double loss) {
  const double factor = std::exp(loss);
  const double scaled = factor * cell.q.value;
  return {cell.p.value - scaled, cell.p.error + factor * cell.q.error + 4 * kUnit * (cell.p.value + scaled)};
}

std::int64_t floor_index(double loss, double width) {
  return static_cast<std::int64_t>(std::floor(loss / width));
}
std::int64_t ceil_index(double loss, double width) {
  return static_cast<std::int64_t>(std::ceil(loss / width));
}

// Builds the optimistic lattice cell by cell.
class CellMerger {
 public:
  CellMerger(const SampledGaussian& step, Direction direction, double width, const LossRange& range)
      : pair_(step, direction),
        width_(width),
        lowest_(pair_.lowest(range)),
        highest_(pair_.highest(range.log_lost)) {
    const std::int64_t lowest_index = floor_index(pair_.loss(lowest_), width) - 1;
    const std::int64_t highest_index = ceil_index(pair_.loss(highest_), width) + 1;
    lattice_ = {width, lowest_index,
                std::vector<double>(static_cast<std::size_t>(highest_index - lowest_index + 1)), -kInfinity};
  }

  // Sampling bounds the loss on one side, at log(1 - rate) below (remove) or above (add), and piles up mass
  // there. The cells start from that side, so that none of it has to be rounded; what is left at the end is a
  // far tail.
  LossLattice merge() {
    if (pair_.bounded_below()) {
      merge_upwards();
    } else {
      merge_downwards();
    }
    return std::move(lattice_);
  }

 private:
  void put(std::int64_t index, const Mass& mass) {
    const std::int64_t i = index - lattice_.first;
    if (i < 0 || i >= static_cast<std::int64_t>(lattice_.mass.size())) return;
    lattice_.mass[static_cast<std::size_t>(i)] += std::max(0.0, mass.value - mass.error);
  }

  // Where the first cell's border goes. In a smooth tail: half-way between two lattice points, which keeps
  // all later cells symmetric about theirs; the mass beyond is negligible. At a sharp end: nowhere, the first
  // cell takes it whole.
  Edge first_border(double tail_output, double end) const {
    const double index = std::floor(pair_.loss(tail_output) / width_);
    const Edge border = pair_.edge(pair_.output((index + 0.5) * width_));
    const Edge last = pair_.edge(end);
    const double beyond = end < 0 ? pair_.cell(last, border).p.value : pair_.cell(border, last).p.value;
    return beyond < kNegligible ? border : last;
  }

  // Every cell has a lattice point of its own, also when rounding puts a border back onto the last one.
  void merge_upwards() {
    Edge low = first_border(-kTail, -kInfinity);
    for (std::int64_t j = floor_index(pair_.loss(std::max(low.y, -kTail)), width_) + 1;;
         j = std::max(j + 1, floor_index(pair_.loss(low.y), width_) + 1)) {
      const double loss = static_cast<double>(j) * width_;
      const double middle = pair_.output(loss);
      if (middle > highest_) return put(j - 1, pair_.cell(low, pair_.edge(kInfinity)).p);
      const auto [index, high] = cell_above(low, j, loss, middle);
      put(index, pair_.cell(low, high).p);
      low = high;
    }
  }

  void merge_downwards() {
    Edge high = first_border(kTail, kInfinity);
    for (std::int64_t j = ceil_index(pair_.loss(std::min(high.y, kTail)), width_) - 1;;
         j = std::min(j - 1, ceil_index(pair_.loss(high.y), width_) - 1)) {
      const double loss = static_cast<double>(j) * width_;
      const double middle = pair_.output(loss);
      if (middle < lowest_) return put_rest(high);
      const Edge low = lower_border(high, loss, middle).value_or(pair_.edge(middle));
      put(j, pair_.cell(low, high).p);
      high = low;
    }
  }

  // What is left between the lowest output and `high`, as one cell: sampling may have put nearly all mass
  // there.
  void put_rest(const Edge& high) {
    const LossPair::Cell rest = pair_.cell(pair_.edge(lowest_), high);
    const double ratio = (rest.p.value - rest.p.error) / (rest.q.value + rest.q.error);
    if (ratio > 0) put(floor_index(std::log(ratio) - 4 * kUnit, width_), rest.p);
  }

  // The merged cell at lattice point j, or, if there is none, the part below j rounded down to j - 1.
  std::pair<std::int64_t, Edge> cell_above(const Edge& low, std::int64_t j, double loss,
                                           double middle) const {
    const auto high = upper_border(low, loss, middle);
    return high ? std::pair{j, *high} : std::pair{j - 1, pair_.edge(middle)};
  }

  // A border at which the cell's loss is at the lattice point, or above by rounding only: Newton's method on
  // the excess, which grows on the far side of the lattice point. None if even the whole rest has a smaller
  // loss, or if only a sliver of the cell is left on the near side: it is cheaper to round the sliver down
  // than to resolve it.
  std::optional<Edge> upper_border(const Edge& low, double loss, double middle) const {
    if (loss - pair_.loss(low.y) < kSliver * width_) return std::nullopt;
    double y = std::isinf(low.y) ? middle + 1 : 2 * middle - low.y;
    for (int i = 0; i < kIterations; ++i) {
      const Edge edge = pair_.edge(y);
      const Mass excess = excess_over(pair_.cell(low, edge), loss);
      const double slope = pair_.density(y) * -std::expm1(loss - pair_.loss(y));
      if (is_settled(excess, slope * (y - middle))) return edge;
      const double next = y - (excess.value - 2 * excess.error) / slope;
      if (!(slope > 0) || next > highest_ + 1) return std::nullopt;
      y = std::max(next, 0.5 * (y + middle));
    }
    return std::nullopt;
  }

  // The same downwards. None only where the density has died out.
  std::optional<Edge> lower_border(const Edge& high, double loss, double middle) const {
    if (pair_.loss(high.y) - loss < kSliver * width_) return std::nullopt;
    double y = std::isinf(high.y) ? middle - 1 : 2 * middle - high.y;
    for (int i = 0; i < kIterations; ++i) {
      const Edge edge = pair_.edge(y);
      const Mass excess = excess_over(pair_.cell(edge, high), loss);
      const double slope = pair_.density(y) * std::expm1(loss - pair_.loss(y));
      if (is_settled(excess, slope * (middle - y))) return edge;
      const double next = y - (excess.value - 2 * excess.error) / slope;
      if (!(slope > 0) || next < lowest_ - 1) return std::nullopt;
      y = std::min(next, 0.5 * (y + middle));
    }
    return std::nullopt;
  }

  static bool is_settled(const Mass& excess, double scale) {
    constexpr double kClose = 1e-6;
    return excess.value >= excess.error && excess.value <= 3 * excess.error + kClose * scale;
  }

  static constexpr int kIterations = 40;
  static constexpr double kSliver = 1e-4;  // of a cell
  static constexpr double kTail = 8;
  static constexpr double kNegligible = 1e-13;
  LossPair pair_;
  double width_;
  double lowest_;
  double highest_;
  LossLattice lattice_;
};

// Whether e^loss Q is as accurate as P: neither does the exponential overflow nor is Q so small that it lost
// digits.
bool can_be_split(const LossPair::Cell& cell, double loss) {
  constexpr double kLargestLoss = 600;
  constexpr double kSmallestMass = 1e-290;
  return loss < kLargestLoss && cell.q.value > kSmallestMass;
}

// The part of a cell's P-mass that goes to its upper end so that both masses are kept; at most `total`.
double split_upwards(const LossPair::Cell& cell, double loss, double upper_share, double total) {
  const Mass excess = excess_over(cell, loss);
  return std::clamp((excess.value + excess.error) * upper_share * (1 + 4 * kUnit), 0.0, total);
}

}  // namespace

double loss_span(const SampledGaussian& step, Direction direction, const LossRange& range) {
  const LossPair pair(step, direction);
  return pair.loss(pair.highest(range.log_lost)) - pair.loss(pair.lowest(range));
}

LossLattice pessimistic_lattice(const SampledGaussian& step, Direction direction, double width,
                                const LossRange& range) {
  const LossPair pair(step, direction);
  const std::int64_t first = floor_index(pair.loss(pair.lowest(range)), width);
  const std::int64_t last = ceil_index(pair.loss(pair.highest(range.log_lost)), width) + 1;
  LossLattice lattice{width, first, std::vector<double>(static_cast<std::size_t>(last - first + 1)),
                      range.log_lost};
  const double upper_share = -1 / std::expm1(-width);
  Edge low = pair.edge(pair.lowest(range));
  const Mass below = pair.cell(pair.edge(-kInfinity), low).p;
  lattice.mass[1] += below.value + below.error;  // rounded up into the first cell
  for (std::int64_t j = first; j < last; ++j) {
    const double loss = static_cast<double>(j) * width;
    const Edge high = pair.edge(pair.output(static_cast<double>(j + 1) * width));
    const LossPair::Cell cell = pair.cell(low, high);
    const double total = std::max(0.0, cell.p.value) + cell.p.error;
    const double upper = can_be_split(cell, loss) ? split_upwards(cell, loss, upper_share, total) : total;
    const auto i = static_cast<std::size_t>(j - first);
    lattice.mass[i] += total - upper;
    lattice.mass[i + 1] += upper;
    low = high;
  }
  return lattice;
}

LossLattice optimistic_lattice(const SampledGaussian& step, Direction direction, double width,
                               const LossRange& range) {
  return CellMerger(step, direction, width, range).merge();
}

}  // namespace ration
