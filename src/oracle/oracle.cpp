#include "ration/oracle/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <numbers>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "base/squared_length.h"
#include "mechanisms/gaussian.h"
#include "objectives/fit_sensitivity.h"
#include "oracle/descent.h"
#include "oracle/sum_error.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"
#include "ration/oracle/release_observer.h"

namespace ration {
namespace {

constexpr std::size_t kPointsAtOnce = 8;  // of a line: more than most searches look at
constexpr std::size_t kWorthAThread =
    128 * PrivateOracle::Sample::kBlock;  // coordinates: several times its start

// A sum that overflowed would decide a search without noise: what is not finite is never chosen.
double require_manageable(double loss_bound) {
  return require("oracle", "loss_bound", loss_bound, at_least(1e-200).at_most(1e200));
}

double largest_finite(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

std::vector<double> in_doubles(const AnyWeights& w) {
  return std::visit(
      Overloaded{[](std::span<const double> kept) { return std::vector<double>(kept.begin(), kept.end()); },
                 [](const FloatWeights& kept) { return std::vector<double>(kept->begin(), kept->end()); }},
      w);
}

struct Range {
  std::size_t first;
  std::size_t end;
};

// The noise of a block is added in memory that nobody else sees. What the block needs comes from memory
// meanwhile.
template <class Number>
void release_range(std::span<const Number> sum, Range range, const GaussianMechanism& mechanism,
                   double divisor, RandomSource& random, const auto& take, const auto& expect) {
  alignas(64) std::array<double, PrivateOracle::Sample::kBlock> buffer;
  for (std::size_t first = range.first; first < range.end; first += buffer.size()) {
    const auto mean = std::span(buffer).first(std::min(buffer.size(), range.end - first));
    const std::span<const Number> part = sum.subspan(first, mean.size());
    Ahead ahead;
    ahead.want(part);
    expect(first, mean.size(), ahead);
    mechanism.release_part(part, sum.size(), 1 / divisor, random, mean, &ahead);
    take(first, mean);
  }
}

}  // namespace

Event DecreaseQuery::event(std::size_t points) const {
  const auto queries = static_cast<std::int64_t>(std::max<std::size_t>(1, points));
  return std::visit(Overloaded{[](const LaplaceSearch& search) {
                                 return Event::above_threshold_laplace(search.threshold_epsilon,
                                                                       search.query_epsilon);
                               },
                               [&](const GaussianSearch& search) {
                                 return Event::above_threshold_gaussian(search.threshold_noise,
                                                                        search.query_noise, queries);
                               }},
                    noise);
}

Event MinimumQuery::event() const {
  return NoisyMax({.sensitivity = 1, .epsilon = epsilon, .noise = noise}).event();
}

PrivateOracle::PrivateOracle(Objective& objective, const Sampler& sampler, BudgetFilter& filter,
                             RandomSource& random, std::size_t threads)
    : objective_(objective),
      sampler_(sampler),
      filter_(filter),
      random_(random),
      threads_(thread_count(threads)) {}

Event PrivateOracle::released() const {
  std::vector<Event> parts;
  for (const CountedEvent& one : released_) parts.push_back(Event::repeated(one.event, one.count));
  return Event::composed(std::move(parts));
}

void PrivateOracle::recall(const Event& released, const std::vector<std::string>& assumed) {
  if (!filter_.spend(released)) {
    throw InternalError("oracle: what was released before the stop does not fit the budget: " +
                        released.describe());
  }
  for (const CountedEvent& one : flatten(released)) released_.push_back(one);
  for (const std::string& what : assumed) note_assumption(what);
}

void PrivateOracle::note_assumption(const std::string& what) const {
  if (std::find(assumed_.begin(), assumed_.end(), what) == assumed_.end()) assumed_.push_back(what);
}

void PrivateOracle::record(const Event& event) {
  for (CountedEvent& one : released_) {
    if (&one.event.node() != &event.node()) continue;
    ++one.count;
    return;
  }
  released_.push_back({event, 1});
}

bool PrivateOracle::would_grant(std::span<const Event> bases) const {
  std::vector<Event> charged;
  for (const Event& base : bases) charged.push_back(sampler_.sampled(base));
  return filter_.fits(Event::composed(std::move(charged)));
}

bool PrivateOracle::charge_and_draw(const Event& base) {
  auto known =
      std::find_if(known_.begin(), known_.end(), [&](const KnownEvent& one) { return one.base == base; });
  if (known == known_.end()) {
    constexpr std::size_t kKept = 8;
    if (known_.size() == kKept) known_.erase(known_.begin());
    known_.push_back({base, sampler_.sampled(base)});
    known = known_.end() - 1;
  }
  if (!filter_.spend(known->charged)) return false;
  record(known->charged);
  ++batches_;
  sampler_.draw(random_, batch_);
  return true;
}

double PrivateOracle::rounding_room(double bound) const {
  const std::uint64_t rows = sampler_.most_rows();
  return 2 * bound * objective().magnification() * sum_error(rows, objective().longest_chain(rows));
}

double PrivateOracle::gradient_sensitivity(const AnyClipRule& clip) const {
  return clip.sensitivity(relation()) + rounding_room(clip.bound());
}

GaussianMechanism PrivateOracle::gradient_mechanism(const GradientQuery& query) const {
  return GaussianMechanism(
      {.sensitivity = gradient_sensitivity(query.clip), .noise_multiplier = query.noise_multiplier});
}

double PrivateOracle::gradient_stddev(const GradientQuery& query) const {
  return gradient_mechanism(query).stddev(parameters()) / sampler_.divisor();
}

// How many threads `coordinates` are worth, each of which has a stream of its own.
std::size_t PrivateOracle::streams_for(std::size_t coordinates) {
  const std::size_t wanted = std::min(threads_, coordinates / kWorthAThread);
  while (more_streams_.size() + 1 < wanted) {
    auto stream = random_.another_stream();
    if (!stream) return 1;
    more_streams_.push_back(std::move(stream));
  }
  return std::max<std::size_t>(1, wanted);
}

// Each thread has a range of blocks of its own and a stream of its own, so no word of any stream is used
// twice.
template <class Number>
void PrivateOracle::hand_out(std::span<const Number> sum, const GaussianMechanism& mechanism,
                             const TakeBlock& take, const ExpectBlock& expect) {
  const std::size_t ranges = streams_for(sum.size());
  const std::size_t blocks = (sum.size() + Sample::kBlock - 1) / Sample::kBlock;
  const auto start = [&](std::size_t range) {
    return std::min(sum.size(), range * blocks / ranges * Sample::kBlock);
  };
  std::vector<std::exception_ptr> failures(ranges);
  for_each_block(ranges, ranges, [&](std::size_t range) {
    try {
      RandomSource& random = range == 0 ? random_ : *more_streams_[range - 1];
      release_range(sum, {start(range), start(range + 1)}, mechanism, batch_.divisor, random, take, expect);
    } catch (...) {
      failures[range] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

PrivateOracle::ClippedSum PrivateOracle::clipped_sum(const AnyWeights& w, const AnyClipRule& clip) {
  const std::span<const float> floats = objective().clipped_gradient_float_sum(w, batch_, clip);
  if (!floats.empty() && floats.size() != parameters()) {
    throw InternalError("oracle: a sum of floats does not have the size of the parameters");
  }
  if (!floats.empty()) return floats;
  sum_.resize(parameters());
  if (const auto* kept = std::get_if<FloatWeights>(&w)) at_.assign((*kept)->begin(), (*kept)->end());
  const auto* doubles = std::get_if<Parameters>(&w);
  objective().clipped_gradient_sum(doubles != nullptr ? *doubles : at_, batch_, clip, sum_);
  return std::span<const double>(sum_);
}

// The weights are copied first, since whoever takes the blocks may move them.
void PrivateOracle::hand_out_watched(const AnyWeights& w, const GradientQuery& query, const TakeBlock& take,
                                     const std::function<void(const TakeBlock&)>& hand) const {
  if (observer_ == nullptr) return hand(take);
  const std::vector<double> at = in_doubles(w);
  std::vector<double> mean(parameters());
  hand([&](std::size_t first, std::span<const double> block) {
    std::copy(block.begin(), block.end(), mean.begin() + static_cast<std::ptrdiff_t>(first));
    take(first, block);
  });
  observer_->on_gradient({at, query, mean, batch_.divisor, gradient_stddev(query), view_});
}

void PrivateOracle::answer_gradient(Parameters w, const GradientQuery& query, const TakeBlock& take) {
  const GaussianMechanism mechanism = gradient_mechanism(query);
  const auto expect_nothing = [](std::size_t, std::size_t, Ahead&) {};
  const auto sum = clipped_sum(w, query.clip);
  hand_out_watched(w, query, take, [&](const TakeBlock& seen) {
    std::visit([&](auto chosen) { hand_out(chosen, mechanism, seen, expect_nothing); }, sum);
  });
}

void PrivateOracle::answer_descent(Weights& w, const GradientQuery& query, Descent& descent) {
  const GaussianMechanism mechanism = gradient_mechanism(query);
  const auto take = [&](std::size_t first, std::span<const double> mean) {
    descent.move(first, mean, w.block(first, mean.size()));
  };
  const auto expect = [&](std::size_t first, std::size_t count, Ahead& ahead) {
    std::visit([&](auto block) { ahead.want(block); }, w.block(first, count));
    descent.expect(first, count, ahead);
  };
  const auto sum = clipped_sum(w.all(), query.clip);
  hand_out_watched(w.all(), query, take, [&](const TakeBlock& seen) {
    std::visit([&](auto chosen) { hand_out(chosen, mechanism, seen, expect); }, sum);
  });
}

// Answers whose caller sees nothing at all if the random source fails: the mean is private already, and waits
// in the sum's place until it is complete.
void PrivateOracle::answer_gradient(Parameters w, const GradientQuery& query, std::span<double> mean) {
  if (mean.size() != parameters()) {
    throw InputError(
        fmt::format("gradient: expected {} places for the mean, got {}", parameters(), mean.size()));
  }
  sum_.resize(parameters());
  answer_gradient(w, query, [this](std::size_t first, std::span<const double> block) {
    std::copy(block.begin(), block.end(), sum_.begin() + static_cast<std::ptrdiff_t>(first));
  });
  std::copy(sum_.begin(), sum_.end(), mean.begin());
}

// Both sums of a difference are rounded, hence twice the room; then the difference is, and the difference
// minus its margin. Margins that are not finite are never reached.
double PrivateOracle::difference_room(double bound, std::span<const double> margins) const {
  const double difference = 2 * static_cast<double>(sampler_.most_rows()) * bound;
  return 2 * rounding_room(bound) + 2 * kUnitRoundoff * (2 * difference + largest_finite(margins));
}

// A sum is rounded once more when its offset is added, on each of two neighbours. Offsets that are not finite
// are never chosen.
double PrivateOracle::offset_room(double bound, std::span<const double> offsets) const {
  if (offsets.empty()) return rounding_room(bound);
  const double most = 2 * static_cast<double>(sampler_.most_rows()) * bound;
  return rounding_room(bound) + 2 * kUnitRoundoff * (most + largest_finite(offsets));
}

// The start is the line's first point. A chunk of points is computed at once, and the next only if the search
// goes on.
FirstDecrease PrivateOracle::answer_first_decrease(const Objective::Line& line,
                                                   std::span<const double> margins,
                                                   const DecreaseQuery& query) {
  if (margins.size() != line.steps.size()) {
    throw InputError(fmt::format("first decrease: expected one margin for each of {} points, got {}",
                                 line.steps.size(), margins.size()));
  }
  if (line.steps.empty()) return {};
  const double bound = require_manageable(query.loss_bound);
  AboveThreshold search(
      {.threshold = 0,
       .sensitivity = loss_difference_sensitivity(bound, relation()) + difference_room(bound, margins),
       .max_queries = static_cast<std::int64_t>(line.steps.size()),
       .noise = query.noise},
      random_);
  points_.assign(1, 0.0);
  points_.insert(points_.end(), line.steps.begin(), line.steps.end());
  double start = 0;
  for (std::size_t first = 0; first < points_.size(); first += kPointsAtOnce) {
    const auto chunk = std::span(points_).subspan(first, std::min(kPointsAtOnce, points_.size() - first));
    losses_.resize(chunk.size());
    objective().clipped_loss_sums_along({line.start, line.direction, chunk}, batch_, bound, losses_);
    if (first == 0) start = losses_[0];
    for (std::size_t k = first == 0 ? 1 : 0; k < chunk.size(); ++k) {
      const std::size_t candidate = first + k - 1;
      if (search.above(start - losses_[k] - margins[candidate])) return {candidate};
    }
  }
  return {};
}

std::size_t PrivateOracle::smallest_of_losses(const MinimumQuery& query, double room) {
  const double sensitivity = loss_sum_sensitivity(query.loss_bound, relation()) + room;
  return NoisyMax({.sensitivity = sensitivity, .epsilon = query.epsilon, .noise = query.noise})
      .smallest(losses_, random_);
}

std::size_t PrivateOracle::answer_minimum(std::span<const Parameters> candidates, const MinimumQuery& query) {
  losses_.resize(candidates.size());
  objective().clipped_loss_sums(candidates, batch_, require_manageable(query.loss_bound), losses_);
  return smallest_of_losses(query, rounding_room(query.loss_bound));
}

std::size_t PrivateOracle::answer_minimum_along(const Objective::Line& line, const MinimumQuery& query,
                                                std::span<const double> offsets) {
  if (!offsets.empty() && offsets.size() != line.steps.size()) {
    throw InputError(fmt::format("minimum: expected one offset for each of {} points or none, got {}",
                                 line.steps.size(), offsets.size()));
  }
  losses_.resize(line.steps.size());
  objective().clipped_loss_sums_along(line, batch_, require_manageable(query.loss_bound), losses_);
  for (std::size_t k = 0; k < offsets.size(); ++k) losses_[k] += offsets[k];
  return smallest_of_losses(query, offset_room(query.loss_bound, offsets));
}

// With a sum of norm at most m C that is off by at most e, its squared norm is off by 2 m C e + e^2, and by
// the rounding of the squares.
double PrivateOracle::answer_squared_norm(Parameters w, const SquaredNormQuery& query) {
  const std::uint64_t rows = *sampler_.public_size();
  const double bound = query.clip.bound();
  const double most = static_cast<double>(rows) * bound;
  const double error = bound * objective().magnification() * sum_error(rows, objective().longest_chain(rows));
  const double squares = static_cast<double>(parameters() + 1) * kUnitRoundoff;
  const double room = 2 * (2 * most * error + error * error + (most + error) * (most + error) * squares);
  sum_.resize(parameters());
  objective().clipped_gradient_sum(w, batch_, query.clip, sum_);
  double released = squared_length(sum_);
  GaussianMechanism({.sensitivity = squared_norm_sensitivity(bound, rows, relation()) + room,
                     .noise_multiplier = query.noise_multiplier})
      .add_noise(std::span(&released, 1), random_);
  return std::max(0.0, released) / (batch_.divisor * batch_.divisor);
}

double PrivateOracle::answer_count(Parameters w, const CountQuery& query) {
  auto released = static_cast<double>(objective().count_norms_at_most(w, batch_, query.bound));
  GaussianMechanism(
      {.sensitivity = count_sensitivity(relation()), .noise_multiplier = query.noise_multiplier})
      .add_noise(std::span(&released, 1), random_);
  return released / batch_.divisor;
}

bool PrivateOracle::gradient(Parameters w, const GradientQuery& query, std::span<double> mean) {
  if (!charge_and_draw(query.event())) return false;
  answer_gradient(w, query, mean);
  return true;
}

std::optional<FirstDecrease> PrivateOracle::first_decrease(const Objective::Line& line,
                                                           std::span<const double> margins,
                                                           const DecreaseQuery& query) {
  if (!charge_and_draw(query.event(line.steps.size()))) return std::nullopt;
  return answer_first_decrease(line, margins, query);
}

std::optional<std::size_t> PrivateOracle::minimum(std::span<const Parameters> candidates,
                                                  const MinimumQuery& query) {
  if (!charge_and_draw(query.event())) return std::nullopt;
  return answer_minimum(candidates, query);
}

std::optional<std::size_t> PrivateOracle::minimum_along(const Objective::Line& line,
                                                        const MinimumQuery& query,
                                                        std::span<const double> offsets) {
  if (!charge_and_draw(query.event())) return std::nullopt;
  return answer_minimum_along(line, query, offsets);
}

std::optional<double> PrivateOracle::squared_norm(Parameters w, const SquaredNormQuery& query) {
  require_public_size();
  if (!charge_and_draw(query.event())) return std::nullopt;
  return answer_squared_norm(w, query);
}

std::optional<double> PrivateOracle::count(Parameters w, const CountQuery& query) {
  if (!charge_and_draw(query.event())) return std::nullopt;
  return answer_count(w, query);
}

void PrivateOracle::look_through(std::shared_ptr<const RowView> view) {
  seen_ = objective_.seen_through(view);
  view_ = std::move(view);
}

const RowView& PrivateOracle::require_view(const char* what) const {
  if (view_) return *view_;
  throw InputError(fmt::format("{}: expected rows that are seen through a map; look_through() first", what));
}

std::size_t PrivateOracle::row_length() const {
  const std::size_t columns = objective().facts().columns;
  if (columns == 0) throw InputError("mean of rows: expected a linear model");
  return columns;
}

GaussianMechanism PrivateOracle::mean_of_rows_mechanism(const MeanOfRowsQuery& query) const {
  return GaussianMechanism(
      {.sensitivity = gradient_sum_sensitivity(query.bound, relation()) + rounding_room(query.bound),
       .noise_multiplier = query.noise_multiplier});
}

// The room is that of sums of products: squares of a contribution's norm, and of the map's. Entries beside
// the diagonal count sqrt(2), so their errors may, too.
GaussianMechanism PrivateOracle::second_moment_mechanism(const SecondMomentQuery& query) const {
  const double room =
      std::numbers::sqrt2 * objective().magnification() * query.bound * rounding_room(query.bound);
  return GaussianMechanism({.sensitivity = second_moment_sensitivity(query.bound, relation()) + room,
                            .noise_multiplier = query.noise_multiplier});
}

double PrivateOracle::mean_of_rows_stddev(const MeanOfRowsQuery& query) const {
  return mean_of_rows_mechanism(query).stddev(row_length()) / divisor();
}

double PrivateOracle::second_moment_stddev(const SecondMomentQuery& query) const {
  const std::size_t side = require_view("second moment").coordinates();
  return second_moment_mechanism(query).stddev(triangle_size(side)) / divisor();
}

bool PrivateOracle::mean_of_rows(const MeanOfRowsQuery& query, std::span<double> mean) {
  constexpr const char* kWhat = "mean of rows";
  require_places(kWhat, mean.size(), row_length());
  const GaussianMechanism mechanism = mean_of_rows_mechanism(query);
  if (!charge_and_draw(query.event())) return false;
  std::vector<double> sum(mean.size());
  objective().shortened_row_sum(batch_, query.bound, sum);
  mechanism.add_noise(sum, random_);
  for (std::size_t k = 0; k < sum.size(); ++k) mean[k] = sum[k] / batch_.divisor;
  return true;
}

bool PrivateOracle::second_moment(const SecondMomentQuery& query, std::span<double> upper) {
  constexpr const char* kWhat = "second moment";
  const std::size_t side = require_view(kWhat).coordinates();
  require_places(kWhat, upper.size(), triangle_size(side));
  const GaussianMechanism mechanism = second_moment_mechanism(query);
  if (!charge_and_draw(query.event())) return false;
  std::vector<double> sum(upper.size());
  objective().second_moment_sum(batch_, query.bound, sum);
  const auto scale_above_diagonal = [&](double factor) {
    for (std::size_t row = 0, at = 0; row < side; ++row, ++at) {
      for (std::size_t column = row + 1; column < side; ++column) sum[++at] *= factor;
    }
  };
  scale_above_diagonal(std::numbers::sqrt2);
  mechanism.add_noise(sum, random_);
  scale_above_diagonal(1 / std::numbers::sqrt2);
  for (std::size_t k = 0; k < sum.size(); ++k) upper[k] = sum[k] / batch_.divisor;
  return true;
}

void PrivateOracle::require_public_size() const {
  if (sampler_.public_size()) return;
  throw InputError(
      "squared norm: expected batches of a public size, which relation add_remove does not have; use a "
      "full or fixed-size batch under replace_one");
}

std::optional<PrivateOracle::Sample> PrivateOracle::one_sample(std::vector<Event> announced) {
  const Event whole = announced.size() == 1 ? announced.front() : Event::composed(announced);
  if (!charge_and_draw(whole)) return std::nullopt;
  return Sample(*this, std::move(announced), batches_);
}

PrivateOracle::Sample::Sample(PrivateOracle& oracle, std::vector<Event> announced, std::uint64_t batch)
    : oracle_(oracle), announced_(std::move(announced)), batch_(batch) {}

// The announced events are taken in their order, some perhaps skipped.
void PrivateOracle::Sample::take_next(const Event& event) {
  if (oracle_.batches_ != batch_) throw InputError("one sample: another batch has been drawn since");
  while (next_ < announced_.size()) {
    if (announced_[next_++] == event) return;
  }
  throw InputError(fmt::format("one sample: {} was not announced, or was asked before", event.describe()));
}

void PrivateOracle::Sample::gradient(Parameters w, const GradientQuery& query, std::span<double> mean) {
  take_next(query.event());
  oracle_.answer_gradient(w, query, mean);
}

void PrivateOracle::Sample::gradient(Parameters w, const GradientQuery& query, const TakeBlock& take) {
  take_next(query.event());
  oracle_.answer_gradient(w, query, take);
}

void PrivateOracle::Sample::descend(Weights& w, const GradientQuery& query, Descent& descent) {
  if (w.size() != oracle_.parameters()) {
    throw InputError(fmt::format("descend: expected {} weights, got {}", oracle_.parameters(), w.size()));
  }
  take_next(query.event());
  oracle_.answer_descent(w, query, descent);
}

FirstDecrease PrivateOracle::Sample::first_decrease(const Objective::Line& line,
                                                    std::span<const double> margins,
                                                    const DecreaseQuery& query) {
  take_next(query.event(line.steps.size()));
  return oracle_.answer_first_decrease(line, margins, query);
}

std::size_t PrivateOracle::Sample::minimum(std::span<const Parameters> candidates,
                                           const MinimumQuery& query) {
  take_next(query.event());
  return oracle_.answer_minimum(candidates, query);
}

std::size_t PrivateOracle::Sample::minimum_along(const Objective::Line& line, const MinimumQuery& query,
                                                 std::span<const double> offsets) {
  take_next(query.event());
  return oracle_.answer_minimum_along(line, query, offsets);
}

double PrivateOracle::Sample::squared_norm(Parameters w, const SquaredNormQuery& query) {
  oracle_.require_public_size();
  take_next(query.event());
  return oracle_.answer_squared_norm(w, query);
}

double PrivateOracle::Sample::count(Parameters w, const CountQuery& query) {
  take_next(query.event());
  return oracle_.answer_count(w, query);
}

}  // namespace ration
