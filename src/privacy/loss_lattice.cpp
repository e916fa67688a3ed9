#include "privacy/loss_lattice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
// Outputs further below have probability under 1e-40: they are rounded up to here, or dropped.
constexpr double kLowest = -13.5;

// A probability and a bound on its floating-point error.
struct Mass {
  double value;
  double error;
};

// The tail of the standard normal on the far side of y, and a bound on its error. The argument of erfc is rounded, which
// costs about y^2 units in the last place.
Mass far_tail(double y) {
  if (std::isinf(y)) return {0, 0};
  const double tail = 0.5 * std::erfc(std::abs(y) / std::numbers::sqrt2);
  return {tail, kUnit * tail * (8 + 2 * y * y)};
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

// The two laws of one step, in an output y >= or <= such that the loss log(dP/dQ) increases with y: for `add` the output
// is mirrored.
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
    const double level = removes_ ? loss : -loss;
    const double y = level > 300 ? (level - std::log(rate_)) / mu_ + 0.5 * mu_ : output_of_ratio(level);
    return removes_ ? y : -y;
  }
  // Outputs above have P-probability at most e^{log_probability} (Chernoff for the normal tail).
  double highest(double log_probability) const {
    return std::sqrt(-2 * log_probability) + (removes_ ? mu_ : 0);
  }

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
  double log_ratio(double y) const {
    const double u = mu_ * (y - 0.5 * mu_);
    if (rate_ == 1) return u;
    return u < 300 ? std::log1p(rate_ * std::expm1(u)) : std::log(rate_) + u;
  }
  double output_of_ratio(double level) const {
    const double excess = std::expm1(level) / rate_;
    if (rate_ == 1) return level / mu_ + 0.5 * mu_;
    return excess <= -1 ? -kInfinity : std::log1p(excess) / mu_ + 0.5 * mu_;
  }

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

std::int64_t floor_index(double loss, double width) { return static_cast<std::int64_t>(std::floor(loss / width)); }
std::int64_t ceil_index(double loss, double width) { return static_cast<std::int64_t>(std::ceil(loss / width)); }

// Builds the optimistic lattice cell by cell.
class CellMerger {
 public:
  CellMerger(const SampledGaussian& step, Direction direction, double width, double log_lost)
      : pair_(step, direction), width_(width), highest_(pair_.highest(log_lost)) {
    const std::int64_t lowest_index = floor_index(pair_.loss(kLowest), width) - 1;
    const std::int64_t highest_index = ceil_index(pair_.loss(highest_), width) + 1;
    lattice_ = {width, lowest_index, std::vector<double>(static_cast<std::size_t>(highest_index - lowest_index + 1)),
                -kInfinity};
  }

  LossLattice merge() {
    constexpr double kMiddle = 6;
    const double start = pair_.output((std::round(pair_.loss(0) / width_) + 0.5) * width_);
    if (std::abs(start) < kMiddle) {
      merge_downwards(pair_.edge(start));
      merge_upwards(pair_.edge(start));
    } else {
      merge_upwards(pair_.edge(-kInfinity));
    }
    return std::move(lattice_);
  }

 private:
  void put(std::int64_t index, const Mass& mass) {
    const std::int64_t i = index - lattice_.first;
    if (i < 0 || i >= static_cast<std::int64_t>(lattice_.mass.size())) return;
    lattice_.mass[static_cast<std::size_t>(i)] += std::max(0.0, mass.value - mass.error);
  }

  void merge_upwards(Edge low) {
    const Edge top = pair_.edge(kInfinity);
    for (;;) {
      const double from = std::isinf(low.y) ? pair_.loss(-1e4) : pair_.loss(low.y);
      const std::int64_t j = floor_index(from, width_) + 1;
      const double loss = static_cast<double>(j) * width_;
      const double middle = pair_.output(loss);
      const auto high = middle < highest_ ? upper_border(low, loss, middle) : std::nullopt;
      if (!high) return put(j - 1, pair_.cell(low, top).p);  // the rest has losses above (j - 1) * width
      put(j, pair_.cell(low, *high).p);
      low = *high;
    }
  }

  void merge_downwards(Edge high) {
    const Edge bottom = pair_.edge(-kInfinity);
    for (;;) {
      const std::int64_t j = ceil_index(pair_.loss(high.y), width_) - 1;
      const double loss = static_cast<double>(j) * width_;
      const double middle = pair_.output(loss);
      if (middle < kLowest) {
        if (std::isinf(middle)) put(j, pair_.cell(bottom, high).p);  // every loss is above j * width
        return;
      }
      const Edge low = lower_border(high, loss, middle);
      put(j, pair_.cell(low, high).p);
      if (std::isinf(low.y)) return;
      high = low;
    }
  }

  // The largest cell above `low` need not be found: any border at which the cell's loss is at or above the lattice point
  // will do, and Newton's method comes within rounding of the one where it is equal. None if even the whole rest
  // has a smaller loss.
  std::optional<Edge> upper_border(const Edge& low, double loss, double middle) const {
    double y = std::isinf(low.y) ? middle + 1 : 2 * middle - low.y;
    for (int i = 0; i < kIterations; ++i) {
      const Edge edge = pair_.edge(y);
      const Mass excess = excess_over(pair_.cell(low, edge), loss);
      const double slope = pair_.density(y) * -std::expm1(loss - pair_.loss(y));
      if (excess.value >= excess.error && excess.value <= 3 * excess.error + kClose * slope * (y - middle)) return edge;
      const double next = y - (excess.value - 2 * excess.error) / slope;
      if (!(slope > 0) || next > highest_ + 1) return std::nullopt;
      y = std::max(next, 0.5 * (y + middle));
    }
    return std::nullopt;
  }

  Edge lower_border(const Edge& high, double loss, double middle) const {
    const Edge bottom = pair_.edge(-kInfinity);
    double y = 2 * middle - high.y;
    for (int i = 0; i < kIterations && y > kLowest; ++i) {
      const Edge edge = pair_.edge(y);
      const Mass excess = excess_over(pair_.cell(edge, high), loss);
      const double slope = pair_.density(y) * std::expm1(loss - pair_.loss(y));
      if (excess.value >= excess.error && excess.value <= 3 * excess.error + kClose * slope * (middle - y)) return edge;
      if (!(slope > 0)) break;
      y = std::min(y - (excess.value - 2 * excess.error) / slope, 0.5 * (y + middle));
    }
    if (excess_over(pair_.cell(bottom, high), loss).value >= excess_over(pair_.cell(bottom, high), loss).error) {
      return bottom;
    }
    return pair_.edge(middle);  // losses of the cell are all above the lattice point: a plain rounding down
  }

  static constexpr int kIterations = 12;
  static constexpr double kClose = 1e-7;
  LossPair pair_;
  double width_;
  double highest_;
  LossLattice lattice_;
};

}  // namespace

LossLattice pessimistic_lattice(const SampledGaussian& step, Direction direction, double width, double log_lost) {
  const LossPair pair(step, direction);
  const std::int64_t first = floor_index(pair.loss(kLowest), width);
  const std::int64_t last = ceil_index(pair.loss(pair.highest(log_lost)), width) + 1;
  LossLattice lattice{width, first, std::vector<double>(static_cast<std::size_t>(last - first + 1)), log_lost};
  const double upper_share = -1 / std::expm1(-width);
  Edge low = pair.edge(-kInfinity);
  for (std::int64_t j = first; j < last; ++j) {
    const double loss = static_cast<double>(j) * width;
    const Edge high = pair.edge(pair.output(static_cast<double>(j + 1) * width));
    const LossPair::Cell cell = pair.cell(low, high);
    const Mass excess = excess_over(cell, loss);
    const double total = std::max(0.0, cell.p.value) + cell.p.error;
    const double upper = std::clamp((excess.value + excess.error) * upper_share * (1 + 4 * kUnit), 0.0, total);
    const auto i = static_cast<std::size_t>(j - first);
    lattice.mass[i] += total - upper;
    lattice.mass[i + 1] += upper;
    low = high;
  }
  return lattice;
}

LossLattice optimistic_lattice(const SampledGaussian& step, Direction direction, double width, double log_lost) {
  return CellMerger(step, direction, width, log_lost).merge();
}

}  // namespace ration
