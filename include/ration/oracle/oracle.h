// For extensions: may change between minor versions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "ration/base/random.h"
#include "ration/objectives/objective.h"
#include "ration/oracle/queries.h"
#include "ration/privacy/event.h"
#include "ration/privacy/filter.h"
#include "ration/sampling/sampler.h"

namespace ration {

// Of the library itself.
class Ahead;
class GaussianMechanism;
class ReleaseObserver;
struct FitScale;

// The one door: the only object that holds both the rows and the noise. A method asks, the oracle charges the
// budget, draws the rows, computes the clipped sum, adds the noise, and answers with something already
// private. What a method does with the answers is post-processing.
//
// Order       the filter is asked first; a refused query draws nothing, reads nothing, and changes nothing.
// Samples     each query sees a fresh batch, so that amplification may be applied to each. To ask several
//             things of one batch, announce them together (one_sample): amplification then covers their
//             composition, once. Amplifying the parts would under-count. [privacy rules 2]
// Sensitivity is that of clipping/sensitivity.h under the sampler's relation, plus what the rounding of sums
//             can add: a sum of m contributions of norm at most C, each of which passes through at most k
//             roundings, is off by at most m k u C / (1 - k u), u = 2^-53 [Higham02, Sec. 4.2], on each of
//             two neighbours. m is the sampler's public most_rows(). The noise is scaled to the sum of both,
//             so the event's noise multiplier is the true one. (The contributions themselves are computed
//             from one row alone and bounded as computed, see kRoundingRoom.)
// Means       are over the sampler's public divisor, never over the rows that happened to be drawn.
// Threads     the noise of a long gradient is drawn by up to `threads` threads, 0 being one per processor, if
//             the random source has another stream for each of them; otherwise, and for all else, by the
//             calling one, so that a seeded source gives the same answers whatever the number of threads.
// Views       a contribution to a sum over rows that are seen through a map may be longer on the way than in
//             the end; the room for rounding is as much larger (Objective::magnification).
// Edge cases  an empty batch is answered with pure noise. Not thread-safe.
class PrivateOracle {
 public:
  // Where a query is asked.
  using Parameters = Objective::Parameters;
  // Takes the answer's coordinates from `first` on.
  using TakeBlock = std::function<void(std::size_t first, std::span<const double> mean)>;
  // What moves weights along a noisy gradient, block by block (oracle/descent.h, of the library itself).
  class Descent;

  // All must outlive the oracle.
  PrivateOracle(Objective& objective, const Sampler& sampler, BudgetFilter& filter, RandomSource& random,
                std::size_t threads = 1);
  PrivateOracle(const PrivateOracle&) = delete;
  PrivateOracle& operator=(const PrivateOracle&) = delete;

  // What everybody may know of the objective.
  PublicFacts facts() const { return objective().facts(); }
  // How many numbers w has.
  std::size_t parameters() const { return objective().parameters(); }
  // Which tables are neighbours: the sampler's.
  Relation relation() const { return sampler_.relation(); }
  // What is asked before every query.
  const BudgetFilter& budget() const { return filter_; }
  // What a sum over a batch is divided by to become a mean; public, and the same for every batch.
  double divisor() const { return sampler_.divisor(); }
  // Whether the budget would grant all of these, each on a batch of its own. Public, and nothing is read.
  bool would_grant(std::span<const Event> bases) const;
  // Everything released so far.
  Event released() const;

  // What the answers' proofs take for granted about the rows, beside the number of rows that the sampler was
  // told; each once, in words for a certificate. Public.
  const std::vector<std::string>& assumed() const { return assumed_; }

  // For a run that goes on after a stop: charges and lists what was released before, and what was assumed.
  // InternalError if the budget refuses that.
  void recall(const Event& released, const std::vector<std::string>& assumed = {});

  // Tells this observer of every gradient from now on; it must outlive the oracle.
  void watch(ReleaseObserver& observer) { observer_ = &observer; }

  // From now on a linear model's rows are seen through this map, and weights are for what is seen. The map
  // must be public: known beforehand, or computed from answers. InputError if the rows are not of its kind.
  void look_through(std::shared_ptr<const RowView> view);

  // Queries, each on a fresh batch. False, or nothing, if the budget refuses.

  // The noisy mean of the clipped gradients at w.
  [[nodiscard]] bool gradient(Parameters w, const GradientQuery& query, std::span<double> mean);
  // The first point of the line whose loss is below that of its start by its margin, by noisy comparisons.
  [[nodiscard]] std::optional<FirstDecrease> first_decrease(const Objective::Line& line,
                                                            std::span<const double> margins,
                                                            const DecreaseQuery& query);
  // The candidate with the smallest loss, by a noisy minimum.
  [[nodiscard]] std::optional<std::size_t> minimum(std::span<const Parameters> candidates,
                                                   const MinimumQuery& query);
  // The same for the points of a line. `offsets`, one for each point or none at all, are public and added to
  // the sums of losses.
  [[nodiscard]] std::optional<std::size_t> minimum_along(const Objective::Line& line,
                                                         const MinimumQuery& query,
                                                         std::span<const double> offsets = {});
  // The noisy squared norm of the mean gradient at w.
  [[nodiscard]] std::optional<double> squared_norm(Parameters w, const SquaredNormQuery& query);
  // The noisy number of rows with a short gradient at w, over the divisor.
  [[nodiscard]] std::optional<double> count(Parameters w, const CountQuery& query);

  // Of a linear model's rows, or of what is seen of them; InputError of other objectives.

  // The noisy mean of the rows, each shortened to a bound. A place for each column, or coordinate.
  [[nodiscard]] bool mean_of_rows(const MeanOfRowsQuery& query, std::span<double> mean);
  // The noisy mean of z z^T, z what is seen of a row, shortened to a bound: the upper triangle, row by row.
  // Released are the diagonal and sqrt(2) times the rest, whose L2 norm is the matrix's Frobenius norm; so
  // noise beside the diagonal is the diagonal's over sqrt(2). A row moves the sum by at most bound^2
  // (second_moment_sensitivity), plus what rounding can (Objective::magnification, for both factors). Needs
  // rows that are seen through a map.
  [[nodiscard]] bool second_moment(const SecondMomentQuery& query, std::span<double> upper);

  // One release from all rows. InputError, before anything is charged or read, if a condition of the proof is
  // not met: a sampler that leaves rows out, no enforced bound on the rows' norms or one above
  // query.row_norm, a loss without the slopes or curvature that the proof needs, too long a step, or more
  // than twice the declared number of rows (as public an assumption as TableSize's).

  // w + N(0, noise), w a fit to all rows and the noise by objectives/fit_sensitivity.h. InputError if a
  // condition of the proof is not met (see above).
  [[nodiscard]] bool perturbed_fit(const OutputQuery& query, std::span<double> w);
  // The minimum of a perturbed objective, as mechanisms/objective_noise.h says. InputError as above.
  [[nodiscard]] bool perturbed_objective(const ObjectiveQuery& query, std::span<double> w);
  // One noisy count per class; a row counts 1 in one place (histogram_sensitivity_l2). InputError as above.
  [[nodiscard]] bool label_counts(const LabelCountsQuery& query, std::span<double> counts);
  // The standard deviation of each coordinate of perturbed_fit()'s noise; public.
  double perturbed_fit_stddev(const OutputQuery& query) const;

  // Several queries, or one, on one batch.
  class Sample;
  // What the queries are is said first, and charged as a whole; nothing if the budget refuses.
  [[nodiscard]] std::optional<Sample> one_sample(std::vector<Event> announced);

  // The standard deviation of each coordinate of gradient()'s answer; public.
  double gradient_stddev(const GradientQuery& query) const;
  // The same for mean_of_rows().
  double mean_of_rows_stddev(const MeanOfRowsQuery& query) const;
  // The same for second_moment(), on the diagonal.
  double second_moment_stddev(const SecondMomentQuery& query) const;

 private:
  friend class Sample;

  // The one that is asked: of the rows as they are, or as they are seen.
  Objective& objective() const { return seen_ ? *seen_ : objective_; }
  const RowView& require_view(const char* what) const;
  // How many numbers a row has, as it is seen.
  std::size_t row_length() const;
  GaussianMechanism mean_of_rows_mechanism(const MeanOfRowsQuery& query) const;
  GaussianMechanism second_moment_mechanism(const SecondMomentQuery& query) const;
  // Charges `base`, run on one batch, and draws the batch; false if the budget refuses.
  bool charge_and_draw(const Event& base);
  void record(const Event& event);
  // By how much rounding can move a sum of contributions of norm at most `bound`, on two neighbours together.
  double rounding_room(double bound) const;
  // The same for sums of losses plus a public offset, and for differences of two sums minus a public margin.
  double offset_room(double bound, std::span<const double> offsets) const;
  double difference_room(double bound, std::span<const double> margins) const;
  double gradient_sensitivity(const AnyClipRule& clip) const;
  GaussianMechanism gradient_mechanism(const GradientQuery& query) const;
  void require_public_size() const;
  void require_all_rows(const char* what) const;
  // Holding the private number of rows against a bound is what makes the bound an assumption, so this notes
  // it.
  void require_no_more_than_twice_declared(const char* what) const;
  void note_assumption(const std::string& what) const;
  void require_places(const char* what, std::size_t places, std::size_t expected) const;
  FitScale fit_scale(const char* what, double ridge, double row_norm) const;
  GaussianMechanism fit_mechanism(const OutputQuery& query) const;

  // Says which memory the taking of these coordinates will touch.
  using ExpectBlock = std::function<void(std::size_t first, std::size_t count, Ahead& ahead)>;
  using ClippedSum = std::variant<std::span<const double>, std::span<const float>>;
  ClippedSum clipped_sum(const AnyWeights& w, const AnyClipRule& clip);
  // Answers by `hand`, which hands out every block of a gradient once, and tells whoever looks on.
  void hand_out_watched(const AnyWeights& w, const GradientQuery& query, const TakeBlock& take,
                        const std::function<void(const TakeBlock&)>& hand) const;
  void answer_gradient(Parameters w, const GradientQuery& query, const TakeBlock& take);
  void answer_descent(Weights& w, const GradientQuery& query, Descent& descent);
  void answer_gradient(Parameters w, const GradientQuery& query, std::span<double> mean);
  template <class Number>
  void hand_out(std::span<const Number> sum, const GaussianMechanism& mechanism, const TakeBlock& take,
                const ExpectBlock& expect);
  std::size_t streams_for(std::size_t coordinates);
  FirstDecrease answer_first_decrease(const Objective::Line& line, std::span<const double> margins,
                                      const DecreaseQuery& query);
  std::size_t answer_minimum(std::span<const Parameters> candidates, const MinimumQuery& query);
  std::size_t answer_minimum_along(const Objective::Line& line, const MinimumQuery& query,
                                   std::span<const double> offsets);
  std::size_t smallest_of_losses(const MinimumQuery& query, double room);
  double answer_squared_norm(Parameters w, const SquaredNormQuery& query);
  double answer_count(Parameters w, const CountQuery& query);

  Objective& objective_;
  std::unique_ptr<Objective> seen_;  // null: rows are seen as they are
  std::shared_ptr<const RowView> view_;
  const Sampler& sampler_;
  BudgetFilter& filter_;
  RandomSource& random_;
  std::size_t threads_;
  ReleaseObserver* observer_ = nullptr;
  std::vector<std::unique_ptr<RandomSource>> more_streams_;  // for the threads beside the calling one
  Batch batch_;
  std::vector<double> sum_;  // empty until an answer needs it
  std::vector<double> at_;   // weights in 64 bits, for an objective that does not compute at those in 32
  std::vector<double> losses_;
  std::vector<double> points_;  // of a line: its start and the candidates
  std::vector<CountedEvent> released_;
  mutable std::vector<std::string> assumed_;
  // The last few events as they are charged: a run asks the same ones over and over, and a filter that meets
  // the same event need not compute its cost again.
  struct KnownEvent {
    Event base;
    Event charged;
  };
  std::vector<KnownEvent> known_;
  std::uint64_t batches_ = 0;  // drawn so far
};

// One batch and what was announced about it. Each query must be the next one announced (InputError
// otherwise); not asking one is allowed, since all are paid for. Ends with the oracle's next query.
class PrivateOracle::Sample {
 public:
  // Only one copy may ask.
  Sample(Sample&&) noexcept = default;
  Sample& operator=(Sample&&) = delete;

  // The noisy mean gradient at w.
  void gradient(Parameters w, const GradientQuery& query, std::span<double> mean);
  // The same, block by block: each coordinate is handed out once, when its noise has been added, while it is
  // in the processor's first cache. `take` may be called by several threads at once (see Threads above), and
  // may overwrite w. What throws on the way, the random source or `take`, ends the answer: `take` has then
  // seen some of the blocks, all of them private and paid for. An answer of one block (up to kBlock
  // coordinates) is seen as a whole or not at all.
  void gradient(Parameters w, const GradientQuery& query, const TakeBlock& take);
  // Coordinates of a block; the last may have fewer.
  static constexpr std::size_t kBlock = 1024;
  // The gradient at w, each block of which moves the same block of w.
  void descend(Weights& w, const GradientQuery& query, Descent& descent);
  // Each answers as the oracle's function of that name, on this batch.
  FirstDecrease first_decrease(const Objective::Line& line, std::span<const double> margins,
                               const DecreaseQuery& query);
  std::size_t minimum(std::span<const Parameters> candidates, const MinimumQuery& query);
  std::size_t minimum_along(const Objective::Line& line, const MinimumQuery& query,
                            std::span<const double> offsets = {});
  double squared_norm(Parameters w, const SquaredNormQuery& query);
  double count(Parameters w, const CountQuery& query);

 private:
  friend class PrivateOracle;
  Sample(PrivateOracle& oracle, std::vector<Event> announced, std::uint64_t batch);

  void take_next(const Event& event);

  PrivateOracle& oracle_;
  std::vector<Event> announced_;
  std::size_t next_ = 0;
  std::uint64_t batch_;  // the number of the batch; another one has been drawn if the oracle's differs
};

}  // namespace ration
