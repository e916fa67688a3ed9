#include "audit/evidence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

namespace ration::audit {
namespace {

constexpr double kLadder = 1.2;  // between the numbers of alarms that are tried
// Of the bounds that choose a cut. Many cuts are tried, and the largest of many loose bounds is that of a cut
// which was lucky: rare events, of which the other runs then show nothing.
constexpr double kFailureOfAChoice = 1e-6;
constexpr std::size_t kClasses = 64;  // of a histogram
constexpr std::size_t kRocPoints = 60;

// Where the row is, and where it is not, as far as a test sees it.
struct Sample {
  std::span<const double> positives;
  std::span<const double> negatives;
};

std::uint64_t above(std::span<const double> scores, double cut) {
  return static_cast<std::uint64_t>(
      std::count_if(scores.begin(), scores.end(), [&](double score) { return score > cut; }));
}

TestResult test_at(const Sample& sample, double cut) {
  return {.caught = {above(sample.positives, cut), sample.positives.size()},
          .alarms = {above(sample.negatives, cut), sample.negatives.size()}};
}

// From one false alarm in two to none in all the runs.
std::vector<double> cuts_of(std::span<const double> negatives) {
  std::vector<double> sorted(negatives.begin(), negatives.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> cuts = {sorted.back()};
  for (double alarms = 1; alarms <= static_cast<double>(sorted.size()) / 2;
       alarms = std::max(alarms + 1, alarms * kLadder)) {
    cuts.push_back(sorted[sorted.size() - 1 - static_cast<std::size_t>(alarms)]);
  }
  return cuts;
}

std::span<const double> first_half(const std::vector<double>& scores) {
  return std::span(scores).first(scores.size() / 2);
}
std::span<const double> second_half(const std::vector<double>& scores) {
  return std::span(scores).subspan(scores.size() / 2);
}

std::vector<double> negated(std::vector<double> scores) {
  for (double& score : scores) score = -score;
  return scores;
}

using Bound = std::function<double(const TestResult&, double failure)>;

// The best bound of the runs that choose, and what the others make of its cut.
struct Judged {
  double chosen = 0;
  double judged = 0;
};

Judged judge(const std::vector<double>& positives, const std::vector<double>& negatives, const Bound& bound,
             double failure) {
  const Sample choosing{first_half(positives), first_half(negatives)};
  const Sample judging{second_half(positives), second_half(negatives)};
  double best = 0;
  double best_cut = 0;
  for (const double cut : cuts_of(choosing.negatives)) {
    const double found = bound(test_at(choosing, cut), std::min(failure, kFailureOfAChoice));
    if (found <= best) continue;
    best = found;
    best_cut = cut;
  }
  return {best, best > 0 ? bound(test_at(judging, best_cut), failure) : 0};
}

// Either world may be the null hypothesis; the runs that choose say which.
double judge_both_ways(const Played& played, const Bound& bound, double failure) {
  const Judged adding = judge(played.with, played.without, bound, failure);
  const Judged removing = judge(negated(played.without), negated(played.with), bound, failure);
  return adding.chosen >= removing.chosen ? adding.judged : removing.judged;
}

std::vector<RocPoint> roc_of(const Sample& sample) {
  std::vector<double> sorted(sample.negatives.begin(), sample.negatives.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<RocPoint> points;
  const double steps = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i <= kRocPoints; ++i) {
    const double alarms = std::pow(steps, -static_cast<double>(i) / kRocPoints) * steps;
    const auto rank = std::min(sorted.size(), static_cast<std::size_t>(alarms));
    const TestResult seen = test_at(sample, sorted[sorted.size() - rank]);
    points.push_back({static_cast<double>(seen.alarms.hits) / steps,
                      static_cast<double>(seen.caught.hits) / static_cast<double>(seen.caught.trials)});
  }
  return points;
}

}  // namespace

Evidence weigh(const Played& played, double delta, double failure) {
  if (played.with.size() < 4 || played.without.size() < 4) return {};
  const Bound epsilon = [&](const TestResult& seen, double f) { return epsilon_at_least(seen, delta, f); };
  return {.epsilon = judge_both_ways(played, epsilon, failure),
          .mu = judge_both_ways(played, mu_at_least, failure),
          .roc = roc_of({second_half(played.with), second_half(played.without)})};
}

Played ranked_by_histogram(const Played& outputs) {
  const std::size_t quarter = outputs.with.size() / 4;
  const auto learned_from = [&](const std::vector<double>& all) { return std::span(all).first(quarter); };

  std::vector<double> edges(learned_from(outputs.with).begin(), learned_from(outputs.with).end());
  edges.insert(edges.end(), outputs.without.begin(),
               outputs.without.begin() + static_cast<std::ptrdiff_t>(quarter));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  if (edges.size() > kClasses) {
    for (std::size_t k = 0; k < kClasses; ++k) edges[k] = edges[k * edges.size() / kClasses];
    edges.resize(kClasses);
  }
  // The class of an output: how many edges are at most it.
  const auto class_of = [&](double output) {
    return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), output) - edges.begin());
  };
  std::vector<double> with(edges.size() + 1, 0.5);
  std::vector<double> without(edges.size() + 1, 0.5);
  for (const double output : learned_from(outputs.with)) ++with[class_of(output)];
  for (const double output : learned_from(outputs.without)) ++without[class_of(output)];

  const auto ranks = [&](const std::vector<double>& all) {
    std::vector<double> scores;
    for (std::size_t i = quarter; i < all.size(); ++i) {
      const std::size_t k = class_of(all[i]);
      scores.push_back(std::log(with[k] / without[k]));
    }
    return scores;
  };
  return {ranks(outputs.with), ranks(outputs.without)};
}

}  // namespace ration::audit
