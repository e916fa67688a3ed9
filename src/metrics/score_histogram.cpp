#include "metrics/score_histogram.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace ration {
namespace {

using Counts = std::span<const double>;
using Figure = std::function<std::optional<double>(Counts)>;

constexpr std::size_t kBins = ScoreHistogram::kBins;
constexpr std::size_t kMiddle = kBins / 2;  // the first bin in which class 1 is told
constexpr std::array<double, kMiddle + 1> kEnds = {0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5};

double end_of(std::size_t i) {
  return i <= kMiddle ? kEnds[i] : 1 - kEnds[kBins - i];
}

// The log odds at the ends of the bins, 0 and 1 left out.
const std::array<double, kBins - 1>& inner_ends() {
  static const std::array<double, kBins - 1> ends = [] {
    std::array<double, kBins - 1> z{};
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = std::log(end_of(i + 1) / (1 - end_of(i + 1)));
    z[kMiddle - 1] = 0;
    return z;
  }();
  return ends;
}

Counts of_class(Counts counts, std::size_t k) {
  return counts.subspan(k * kBins, kBins);
}

double sum_of(Counts counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

std::optional<double> share(double part, double whole) {
  return whole > 0 ? std::optional(std::clamp(part / whole, 0.0, 1.0)) : std::nullopt;
}

double middle(std::size_t bin) {
  return (end_of(bin) + end_of(bin + 1)) / 2;
}

std::optional<double> accuracy(Counts counts) {
  const double right = sum_of(counts.first(kMiddle)) + sum_of(of_class(counts, 1).subspan(kMiddle));
  return share(right, sum_of(counts));
}

std::optional<double> balanced_accuracy(Counts counts) {
  const auto of_zero = share(sum_of(counts.first(kMiddle)), sum_of(of_class(counts, 0)));
  const auto of_one = share(sum_of(of_class(counts, 1).subspan(kMiddle)), sum_of(of_class(counts, 1)));
  return of_zero && of_one ? std::optional((*of_zero + *of_one) / 2) : std::nullopt;
}

double pairs_of(Counts counts) {
  const double zeros = sum_of(of_class(counts, 0));
  const double ones = sum_of(of_class(counts, 1));
  return zeros > 0 && ones > 0 ? zeros * ones : 0;
}

std::optional<double> auc(Counts counts) {
  double won = 0;
  double zeros_below = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    won += of_class(counts, 1)[bin] * (zeros_below + of_class(counts, 0)[bin] / 2);
    zeros_below += of_class(counts, 0)[bin];
  }
  return share(won, pairs_of(counts));
}

// The mean over the rows with a score of a loss of (probability, label).
template <class Loss>
std::optional<double> mean_loss(Counts counts, const Loss& loss) {
  double sum = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t bin = 0; bin < kBins; ++bin)
      sum += of_class(counts, k)[bin] * loss(middle(bin), static_cast<double>(k));
  }
  const double rows = sum_of(of_class(counts, 0)) + sum_of(of_class(counts, 1));
  return rows > 0 ? std::optional(std::max(0.0, sum / rows)) : std::nullopt;
}

std::optional<double> log_loss(Counts counts) {
  return mean_loss(counts, [](double p, double y) { return -std::log(y == 1 ? p : 1 - p); });
}

std::optional<double> brier(Counts counts) {
  return mean_loss(counts, [](double p, double y) { return (p - y) * (p - y); });
}

// The noise of different cells is independent: error^2 = sum over the cells of (slope * stddev)^2, slopes by
// differences as wide as the noise is, so that what is clamped counts for what it varies.
std::optional<NoisyFigure> noisy(Counts counts, double stddev, const Figure& figure) {
  const std::optional<double> value = figure(counts);
  if (!value) return std::nullopt;
  std::vector<double> moved(counts.begin(), counts.end());
  double variance = 0;
  for (double& count : moved) {
    const double kept = count;
    count = kept + stddev;
    const double above = figure(moved).value_or(*value);
    count = kept - stddev;
    const double below = figure(moved).value_or(*value);
    count = kept;
    variance += (above - below) * (above - below) / 4;
  }
  return NoisyFigure{*value, std::sqrt(variance)};
}

}  // namespace

std::size_t ScoreHistogram::cell_of(double score, double label) {
  if (std::isnan(score) || (label != 0 && label != 1)) return kCells - 1;
  const auto& ends = inner_ends();
  const auto bin = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), score) - ends.begin());
  return (label == 1 ? kBins : 0) + bin;
}

double ScoreHistogram::from(std::size_t bin) {
  return end_of(bin);
}

double ScoreHistogram::to(std::size_t bin) {
  return end_of(bin + 1);
}

ScoreFigures figures_of(std::span<const double> counts, double noise_stddev, bool has_probabilities) {
  ScoreFigures out{.rows = std::max(0.0, sum_of(counts))};
  out.accuracy = noisy(counts, noise_stddev, accuracy);
  out.balanced_accuracy = noisy(counts, noise_stddev, balanced_accuracy);
  out.auc = noisy(counts, noise_stddev, auc);
  double ties = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin)
    ties += std::max(0.0, of_class(counts, 0)[bin]) * std::max(0.0, of_class(counts, 1)[bin]);
  out.auc_within = share(ties, pairs_of(counts)).value_or(1) / 2;
  if (!has_probabilities) return out;
  out.log_loss = noisy(counts, noise_stddev, log_loss);
  out.brier = noisy(counts, noise_stddev, brier);
  return out;
}

std::vector<AtThreshold> at_thresholds(std::span<const double> counts, double noise_stddev) {
  std::vector<AtThreshold> all;
  for (std::size_t bin = 1; bin < kBins; ++bin) {
    const auto above = [bin](std::size_t k) {
      return [bin, k](Counts cells) {
        return share(sum_of(of_class(cells, k).subspan(bin)), sum_of(of_class(cells, k)));
      };
    };
    const auto of_one = noisy(counts, noise_stddev, above(1));
    const auto of_zero = noisy(counts, noise_stddev, above(0));
    if (of_one && of_zero)
      all.push_back({.threshold = end_of(bin), .recall = *of_one, .false_positives = *of_zero});
  }
  return all;
}

std::vector<CalibratedBin> calibrated_bins(std::span<const double> counts, double noise_stddev) {
  std::vector<CalibratedBin> bins;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const auto was = [bin](Counts cells) {
      return share(of_class(cells, 1)[bin], of_class(cells, 0)[bin] + of_class(cells, 1)[bin]);
    };
    const double rows = of_class(counts, 0)[bin] + of_class(counts, 1)[bin];
    if (rows <= 2 * noise_stddev) continue;
    bins.push_back(
        {.from = end_of(bin), .to = end_of(bin + 1), .rows = rows, .was = *noisy(counts, noise_stddev, was)});
  }
  return bins;
}

}  // namespace ration
