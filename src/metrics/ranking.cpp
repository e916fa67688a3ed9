#include "metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ration {
namespace {

struct Scored {
  double score;
  bool is_positive;
};

std::vector<Scored> in_order(std::span<const double> scores, std::span<const double> labels,
                             double positive) {
  std::vector<Scored> rows(scores.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_nan = std::isnan(scores[i]);
    rows[i] = {is_nan ? -std::numeric_limits<double>::infinity() : scores[i], labels[i] == positive};
  }
  std::sort(rows.begin(), rows.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  return rows;
}

// log(sum of e^z_j over j != k), `largest` being the place of the largest and `all` the sum of
// e^(z_j - z_largest). What is left of `all` without a smaller one keeps its digits.
double log_of_others(std::span<const double> z, std::size_t k, std::size_t largest, double all) {
  if (k != largest) return z[largest] + std::log(all - std::exp(z[k] - z[largest]));
  double second = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < z.size(); ++j) second = j == k ? second : std::max(second, z[j]);
  double others = 0;
  for (std::size_t j = 0; j < z.size(); ++j) others += j == k ? 0 : std::exp(z[j] - second);
  return second + std::log(others);
}

}  // namespace

std::optional<double> area_under_roc(std::span<const double> scores, std::span<const double> labels,
                                     double positive) {
  const std::vector<Scored> rows = in_order(scores, labels, positive);
  double others_below = 0;
  double positives = 0;
  double won = 0;  // pairs, a tie counting one half
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    double tied_positives = 0;
    double tied_others = 0;
    for (; end < rows.size() && rows[end].score == rows[first].score; ++end)
      (rows[end].is_positive ? tied_positives : tied_others) += 1;
    won += tied_positives * (others_below + tied_others / 2);
    positives += tied_positives;
    others_below += tied_others;
  }
  const double pairs = positives * others_below;
  return pairs > 0 ? std::optional(won / pairs) : std::nullopt;
}

std::optional<double> mean_area_under_roc(std::span<const double> scores, std::span<const double> labels,
                                          std::size_t classes) {
  std::vector<double> of_class(labels.size());
  double sum = 0;
  double count = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t row = 0; row < labels.size(); ++row) of_class[row] = scores[row * classes + k];
    const auto area = area_under_roc(of_class, labels, static_cast<double>(k));
    sum += area.value_or(0);
    count += area ? 1 : 0;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::vector<double> log_odds(std::span<const double> outputs, std::size_t classes) {
  std::vector<double> odds(outputs.size());
  for (std::size_t first = 0; first < outputs.size(); first += classes) {
    const std::span<const double> z = outputs.subspan(first, classes);
    const auto largest = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    double all = 0;
    for (const double value : z) all += std::exp(value - z[largest]);
    for (std::size_t k = 0; k < classes; ++k) odds[first + k] = z[k] - log_of_others(z, k, largest, all);
  }
  return odds;
}

}  // namespace ration
