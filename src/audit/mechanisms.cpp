#include "audit/mechanisms.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "audit/worst_row.h"
#include "base/check.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/gaussian.h"
#include "mechanisms/laplace.h"
#include "oracle/noisy_accuracy.h"
#include "oracle/noisy_scores.h"
#include "oracle/row_count.h"
#include "oracle/row_mean.h"
#include "ration/base/error.h"
#include "ration/objectives/glm/glm.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/accountant.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"

namespace ration::audit {
namespace {

using Outcome = double;

Game game_of(std::function<Outcome(World, RandomSource&)> run) {
  return {.scores = 1,
          .play = [run = std::move(run)](World world, RandomSource& random, std::span<double> scores) {
            scores[0] = run(world, random);
          }};
}

// --- mechanisms by themselves: two values that differ by their sensitivity

template <class Mechanism>
MechanismGame additive(std::string name, const Mechanism& mechanism) {
  return {.name = std::move(name),
          .event = mechanism.event(),
          .game = game_of([mechanism](World world, RandomSource& random) {
            double value = world == World::with ? 1 : 0;
            mechanism.add_noise(std::span(&value, 1), random);
            return value;
          })};
}

constexpr std::size_t kPoints = 16;
using Search = std::variant<LaplaceSearch, GaussianSearch>;

// The row speaks against the first half of the queries and for the second. Queries lie so far below the
// threshold that it is seldom reached early: what a histogram tells apart best, found by integrating over the
// noise.
MechanismGame above_threshold(std::string name, const Search& noise, double size) {
  return {.name = std::move(name),
          .event = DecreaseQuery{.noise = noise}.event(kPoints),
          .game = game_of([noise, size](World world, RandomSource& random) {
            AboveThreshold search({.max_queries = kPoints, .noise = noise}, random);
            for (std::size_t k = 0; k < kPoints; ++k) {
              const double moved = world == World::without ? 0 : (k < kPoints / 2 ? -1 : 1);
              if (search.above(moved - 4 * size)) return static_cast<double>(k);
            }
            return double{kPoints};
          })};
}

// The score of the first candidate rises, all others fall; for losses the other way round.
MechanismGame selection(std::string name, double epsilon, SelectionNoise noise, bool of_losses) {
  const NoisyMax mechanism({.sensitivity = 1, .epsilon = epsilon, .noise = noise});
  return {.name = std::move(name),
          .event = mechanism.event(),
          .game = game_of([mechanism, of_losses](World world, RandomSource& random) {
            std::array<double, 4> scores{};
            if (world == World::with) scores = {1, -1, -1, -1};
            if (of_losses) std::ranges::transform(scores, scores.begin(), std::negate{});
            return static_cast<double>(of_losses ? mechanism.smallest(scores, random)
                                                 : mechanism.largest(scores, random));
          })};
}

// --- queries through the oracle

// The rows are made up, so there is no budget to keep.
class GrantEverything final : public BudgetFilter {
 public:
  bool fits(const Event&) const override { return true; }
  bool spend(const Event&) override { return true; }
  double spent_epsilon() const override { return 0; }
  double spent_share() const override { return 0; }
};

using Ask = std::function<Outcome(PrivateOracle&)>;
using MakeObjective = std::function<std::unique_ptr<Objective>(World)>;
using MakeSampler = std::function<std::unique_ptr<Sampler>(std::size_t rows)>;

constexpr std::size_t kOthers = 2;

std::unique_ptr<Sampler> all_rows(std::size_t rows) {
  return std::make_unique<FullSampler>(TableSize{rows, kOthers}, Relation::add_remove);
}
std::unique_ptr<Sampler> half_of_them(std::size_t rows) {
  return std::make_unique<PoissonSampler>(TableSize{rows, kOthers}, 0.5);
}
std::unique_ptr<Sampler> two_of_three(std::size_t) {
  return std::make_unique<FixedSizeSampler>(kOthers + 1, kOthers);
}
std::unique_ptr<Sampler> the_only_row(std::size_t) {
  return std::make_unique<FullSampler>(TableSize{1, 1}, Relation::replace_one);
}

// The row is there or not.
MakeObjective row_that(WorstRow::Behaviour behaviour) {
  return [=](World world) -> std::unique_ptr<Objective> {
    const bool present = world == World::with;
    return std::make_unique<WorstRow>(present ? kOthers + 1 : kOthers, present, behaviour);
  };
}
// Of `rows`, the last does one thing or another.
MakeObjective row_that_either(std::size_t rows, double slope, double other_slope) {
  return [=](World world) -> std::unique_ptr<Objective> {
    return std::make_unique<WorstRow>(
        rows, true, WorstRow::Behaviour{.slope = world == World::with ? slope : other_slope});
  };
}

// A table of one column: zeros, and a row of length 1 that is there or not. The loss has slope 1 at w = 0.
SharedRows small_rows(World world) {
  std::vector<double> features(kOthers, 0.0);
  if (world == World::with) features.push_back(1);
  std::vector<double> labels = features;
  return std::make_shared<const Rows>(
      Rows::dense(1, std::move(features), std::move(labels)).with_row_norms_at_most(1));
}
std::unique_ptr<Objective> small_table(World world) {
  return make_glm(small_rows(world), {.loss = GlmLoss::huber, .threads = 1});
}

// The same of two columns: a row that is as long in both of them.
std::unique_ptr<Objective> slanted_row(World world) {
  const std::size_t rows = world == World::with ? kOthers + 1 : kOthers;
  std::vector<double> features(2 * rows, 0.0);
  if (world == World::with) features[2 * kOthers] = features[2 * kOthers + 1] = 1;
  return make_glm(
      std::make_shared<const Rows>(Rows::dense(2, std::move(features), std::vector<double>(rows, 0.0))),
      {.loss = GlmLoss::huber, .threads = 1});
}

MechanismGame query(std::string name, const Event& base, const MakeObjective& make_objective,
                    const MakeSampler& make_sampler, const Ask& ask) {
  const auto any = make_sampler(kOthers + 1);
  return {.name = std::move(name),
          .event = any->sampled(base),
          .relation = any->relation(),
          .game = game_of([=](World world, RandomSource& random) {
            const auto objective = make_objective(world);
            const auto sampler = make_sampler(objective->rows());
            GrantEverything filter;
            PrivateOracle oracle(*objective, *sampler, filter, random);
            return ask(oracle);
          })};
}

double answered(bool granted, double answer) {
  if (!granted) throw InternalError("audit: a query was refused");
  return answer;
}

constexpr double kAtZero = 0;

Ask gradient(const GradientQuery& query) {
  return [=](PrivateOracle& oracle) {
    double mean = 0;
    const bool granted = oracle.gradient({&kAtZero, 1}, query, {&mean, 1});
    return answered(granted, mean);
  };
}

// The sum of several gradients of one batch.
constexpr std::size_t kTogether = 3;
Ask gradients_of_one_sample(const GradientQuery& query) {
  return [=](PrivateOracle& oracle) {
    auto sample = oracle.one_sample(std::vector<Event>(kTogether, query.event()));
    double sum = 0;
    for (std::size_t i = 0; i < kTogether; ++i) {
      double mean = 0;
      sample.value().gradient({&kAtZero, 1}, query, std::span(&mean, 1));
      sum += mean;
    }
    return sum;
  };
}

constexpr double kStart = 0;
constexpr double kDirection = 1;
constexpr std::array<double, kPoints> kSteps = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
const Objective::Line kLine{{&kStart, 1}, {&kDirection, 1}, kSteps};

// A row that speaks against every point but the last. It cannot speak for one as well: it moves all losses
// the same way.
double last_as_good_as_the_start(double point) {
  return point == 0 || point == kPoints ? 0 : 1;
}
Ask first_decrease(const Search& noise, double size) {
  return [=](PrivateOracle& oracle) {
    std::array<double, kPoints> margins;
    margins.fill(size);
    const auto found = oracle.first_decrease(kLine, margins, {.noise = noise});
    return static_cast<double>(found.value().point.value_or(kPoints));
  };
}

// Of few points, since a choice among many is rare whatever the row does.
const Objective::Line kShortLine{{&kStart, 1}, {&kDirection, 1}, std::span(kSteps).first(4)};
double two_of_four_are_worse(double point) {
  return point > 2 ? 1 : 0;
}
double one_of_four_is_worse(double point) {
  return point > 3 ? 1 : 0;
}
Ask minimum(const MinimumQuery& query) {
  return [=](PrivateOracle& oracle) {
    return static_cast<double>(oracle.minimum_along(kShortLine, query).value());
  };
}

template <class Query>
Ask released_weight(bool (PrivateOracle::*ask)(const Query&, std::span<double>), const Query& query) {
  return [=](PrivateOracle& oracle) {
    double w = 0;
    const bool granted = (oracle.*ask)(query, {&w, 1});
    return answered(granted, w);
  };
}

// Along the row.
Ask mean_of_rows(const MeanOfRowsQuery& query) {
  return [=](PrivateOracle& oracle) {
    std::array<double, 2> mean{};
    const bool granted = oracle.mean_of_rows(query, mean);
    return answered(granted, mean[0] + mean[1]);
  };
}

// Along the row's products, in the weights with which they are released; rows are seen as twice as long.
Ask second_moment(const SecondMomentQuery& query) {
  const auto doubled =
      std::make_shared<const RowView>(2, std::vector<std::size_t>{0, 1}, 2, std::vector<double>{2, 0, 0, 2});
  return [=](PrivateOracle& oracle) {
    oracle.look_through(doubled);
    std::array<double, 3> upper{};
    const bool granted = oracle.second_moment(query, upper);
    return answered(granted, upper[0] + 2 * upper[1] + upper[2]);
  };
}

// --- counts and means outside of the oracle

MechanismGame row_count(double noise) {
  return {.name = "number of rows",
          .event = Event::gaussian(noise),
          .game = game_of([=](World world, RandomSource& random) {
            GrantEverything filter;
            return noisy_row_count(world == World::with ? 101 : 100, noise, filter, random).value();
          })};
}

MechanismGame row_mean(double noise) {
  return {.name = "mean of the rows",
          .event = Event::gaussian(noise),
          .game = game_of([=](World world, RandomSource& random) {
            GrantEverything filter;
            return noisy_row_mean(*small_rows(world), {.noise_multiplier = noise}, kOthers,
                                  Relation::add_remove, filter, random)
                .value()[0];
          })};
}

// A row on which the classifier is right. What is released are two counts; their first is the best score.
MechanismGame accuracy(double noise) {
  const NoisyAccuracyQuery query({.epsilon = 1 / noise});
  return {.name = "accuracy on private rows",
          .event = query.event(),
          .game = game_of([=](World world, RandomSource& random) {
            const std::vector<double> ones(world == World::with ? 1 : 0, 1.0);
            const NoisyAccuracy seen = query.release(ones, ones, random);
            return seen.accuracy.value_or(0) * seen.rows;
          })};
}

// A row of class 1 that has the best score. What is released is a histogram; the cell of that row is the best
// score of the attack.
MechanismGame scores(double noise) {
  const NoisyScoresQuery query({.epsilon = 1 / noise});
  return {.name = "scores of private rows",
          .event = query.event(),
          .game = game_of([=](World world, RandomSource& random) {
            const std::vector<double> labels(world == World::with ? 1 : 0, 1.0);
            const std::vector<double> best(labels.size(), 100.0);
            return query.release(best, labels, random)[ScoreHistogram::cell_of(100, 1)];
          })};
}

}  // namespace

std::vector<MechanismGame> mechanism_games(double noise) {
  require("audit", "noise", noise, greater_than(0));
  const GaussianOptions gaussian{.sensitivity = 1, .noise_multiplier = noise};
  const Search laplace_search = LaplaceSearch::with_epsilon(1 / noise);
  const Search gaussian_search = GaussianSearch{.threshold_noise = 3 * noise, .query_noise = 4 * noise};
  const GradientQuery step{.clip = Abadi{1}, .noise_multiplier = noise};
  const GradientQuery small_step{.clip = Abadi{1}, .noise_multiplier = 2 * noise};
  const MinimumQuery gumbel{.epsilon = 1 / noise, .noise = SelectionNoise::gumbel};
  const MinimumQuery exponential{.epsilon = 1 / noise, .noise = SelectionNoise::exponential};
  const SquaredNormQuery norm{.clip = Abadi{1}, .noise_multiplier = noise};
  const CountQuery count{.noise_multiplier = noise};
  const OutputQuery output{.fit = DescentFit{.steps = 4, .step_size = 0.1}, .noise_multiplier = noise};
  const ObjectiveQuery objective{.ridge = 50 * std::max(1.0, noise), .noise_multiplier = noise};
  const LabelCountsQuery labels{.noise_multiplier = noise};
  const MeanOfRowsQuery mean{.noise_multiplier = noise};
  const SecondMomentQuery moment{.noise_multiplier = noise};
  const MakeObjective pulls = row_that({});
  return {
      additive("gaussian", GaussianMechanism(gaussian)),
      additive("discrete gaussian", DiscreteGaussianMechanism(gaussian)),
      additive("laplace", LaplaceMechanism({.sensitivity = 1, .scale = noise})),
      above_threshold("above threshold, laplace", laplace_search, noise),
      above_threshold("above threshold, gaussian", gaussian_search, noise),
      selection("noisy max, exponential", 1 / noise, SelectionNoise::exponential, false),
      selection("noisy max, gumbel", 1 / noise, SelectionNoise::gumbel, false),
      selection("noisy min, exponential", 1 / noise, SelectionNoise::exponential, true),
      selection("noisy min, gumbel", 1 / noise, SelectionNoise::gumbel, true),
      query("gradient, all rows", step.event(), pulls, all_rows, gradient(step)),
      query("gradient, poisson", step.event(), pulls, half_of_them, gradient(step)),
      query("gradient, fixed size", small_step.event(), row_that_either(kOthers + 1, 10, -10), two_of_three,
            gradient(small_step)),
      query("gradients of one sample", Event::repeated(small_step.event(), kTogether), pulls, half_of_them,
            gradients_of_one_sample(small_step)),
      query("squared norm", norm.event(), row_that_either(1, 10, 0), the_only_row,
            [=](PrivateOracle& oracle) {
              return oracle.squared_norm({&kAtZero, 1}, norm).value();
            }),
      query("first decrease, laplace", DecreaseQuery{.noise = laplace_search}.event(kPoints),
            row_that({.loss_at = last_as_good_as_the_start}), all_rows,
            first_decrease(laplace_search, noise)),
      query("first decrease, gaussian", DecreaseQuery{.noise = gaussian_search}.event(kPoints),
            row_that({.loss_at = last_as_good_as_the_start}), all_rows,
            first_decrease(gaussian_search, noise)),
      query("minimum, gumbel", gumbel.event(), row_that({.loss_at = two_of_four_are_worse}), all_rows,
            minimum(gumbel)),
      query("minimum, exponential", exponential.event(), row_that({.loss_at = one_of_four_is_worse}),
            all_rows, minimum(exponential)),
      query("count", count.event(), pulls, all_rows,
            [=](PrivateOracle& oracle) {
              return oracle.count({&kAtZero, 1}, count).value();
            }),
      query("output perturbation", output.event(), small_table, all_rows,
            released_weight(&PrivateOracle::perturbed_fit, output)),
      query("objective perturbation", objective.event(), small_table, all_rows,
            released_weight(&PrivateOracle::perturbed_objective, objective)),
      query("label counts", labels.event(), small_table, all_rows,
            [=](PrivateOracle& oracle) {
              std::array<double, 2> counts{};
              const bool granted = oracle.label_counts(labels, counts);
              return answered(granted, counts[1]);
            }),
      query("mean of rows", mean.event(), slanted_row, all_rows, mean_of_rows(mean)),
      query("mean of rows, poisson", mean.event(), slanted_row, half_of_them, mean_of_rows(mean)),
      query("second moment", moment.event(), slanted_row, all_rows, second_moment(moment)),
      query("second moment, poisson", moment.event(), slanted_row, half_of_them, second_moment(moment)),
      row_count(noise),
      row_mean(noise),
      accuracy(noise),
      scores(noise),
  };
}

// An accountant without a theorem for the event refuses it.
double certified_epsilon(const Event& event, Relation relation, double delta) {
  double least = std::numeric_limits<double>::infinity();
  for (const Accountant accountant : kAccountants) {
    try {
      const Guarantee guarantee = account(event, relation, accountant, delta);
      if (guarantee.certified) least = std::min(least, guarantee.epsilon);
    } catch (const InputError&) {
      continue;
    }
  }
  return least;
}

Report audit_mechanisms(const std::vector<MechanismGame>& games, const std::vector<double>& claims,
                        double delta, const AuditOptions& options) {
  require("audit", "trials", static_cast<double>(options.trials), at_least(100));
  require("audit", "confidence", options.confidence, greater_than(0).less_than(1));
  const double failure = (1 - options.confidence) / static_cast<double>(games.size());
  Report report{.subject = "every mechanism and every query of the oracle",
                .claim = {.epsilon = claims.empty() ? 0 : *std::ranges::max_element(claims), .delta = delta},
                .confidence = options.confidence};
  for (std::size_t i = 0; i < games.size(); ++i) {
    PlayOptions play_options{.trials = options.trials, .threads = options.threads};
    if (options.on_progress) {
      const std::size_t runs = 2 * options.trials;
      play_options.on_progress = [&, i, runs](std::size_t done) {
        return options.on_progress(i * runs + done, games.size() * runs);
      };
    }
    const Played scores = ranked_by_histogram(play(games[i].game, play_options).front());
    const Evidence evidence = weigh(scores, delta, failure);
    report.findings.push_back({.attack = games[i].name,
                               .theorem = "Clopper-Pearson",
                               .claim = claims[i],
                               .bound = evidence.epsilon,
                               .confidence = 1 - failure});
    report.curves.push_back({games[i].name, evidence.roc});
  }
  return report;
}

Report audit_mechanisms(double noise, double delta, const AuditOptions& options) {
  const std::vector<MechanismGame> games = mechanism_games(noise);
  std::vector<double> claims;
  for (const MechanismGame& one : games) claims.push_back(certified_epsilon(one.event, one.relation, delta));
  return audit_mechanisms(games, claims, delta, options);
}

}  // namespace ration::audit
