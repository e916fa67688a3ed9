#include "metrics/classification.h"

#include <algorithm>
#include <cmath>

namespace ration {
namespace {

constexpr std::size_t kBins = 10;

double logistic(double z) {
  return 1 / (1 + std::exp(-z));
}

void softmax(std::span<const double> z, std::span<double> p) {
  const double largest = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (std::size_t k = 0; k < z.size(); ++k) sum += p[k] = std::exp(z[k] - largest);
  for (double& value : p) value /= sum;
}

// What calibration looks at: a probability, and whether it came so.
struct Claim {
  double probability;
  bool held;
};

Claim claim_of(std::span<const double> p, double label) {
  if (p.size() == 2) return {p[1], label == 1};
  const auto likeliest = std::max_element(p.begin(), p.end()) - p.begin();
  return {p[static_cast<std::size_t>(likeliest)], label == static_cast<double>(likeliest)};
}

std::size_t bin_of(double probability) {
  const double place = std::isnan(probability) ? 0 : std::floor(probability * kBins);
  return static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0));
}

}  // namespace

std::vector<std::size_t> confusion_matrix(std::span<const double> predictions, std::span<const double> labels,
                                          std::size_t classes) {
  std::vector<std::size_t> counts(classes * classes);
  for (std::size_t i = 0; i < labels.size(); ++i)
    ++counts[static_cast<std::size_t>(labels[i]) * classes + static_cast<std::size_t>(predictions[i])];
  return counts;
}

std::vector<std::optional<double>> recalls(std::span<const std::size_t> confusion, std::size_t classes) {
  std::vector<std::optional<double>> shares(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    std::size_t rows = 0;
    for (const std::size_t count : confusion.subspan(k * classes, classes)) rows += count;
    if (rows > 0) shares[k] = static_cast<double>(confusion[k * classes + k]) / static_cast<double>(rows);
  }
  return shares;
}

double balanced_accuracy(std::span<const std::optional<double>> recalls) {
  double sum = 0;
  double count = 0;
  for (const std::optional<double>& recall : recalls) {
    sum += recall.value_or(0);
    count += recall ? 1 : 0;
  }
  return sum / count;
}

std::vector<double> class_probabilities(std::span<const double> outputs, std::size_t outputs_per_row,
                                        std::size_t classes) {
  const std::size_t rows = outputs.size() / outputs_per_row;
  std::vector<double> probabilities(rows * classes);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<double> p = std::span(probabilities).subspan(row * classes, classes);
    if (outputs_per_row == 1) {
      p[0] = logistic(-outputs[row]);
      p[1] = logistic(outputs[row]);
    } else {
      softmax(outputs.subspan(row * classes, classes), p);
    }
  }
  return probabilities;
}

double brier_score(std::span<const double> probabilities, std::span<const double> labels,
                   std::size_t classes) {
  double sum = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    for (std::size_t k = classes == 2 ? 1 : 0; k < classes; ++k) {
      const double error = probabilities[row * classes + k] - (labels[row] == static_cast<double>(k) ? 1 : 0);
      sum += error * error;
    }
  }
  return sum / static_cast<double>(labels.size());
}

std::vector<CalibrationBin> calibration(std::span<const double> probabilities, std::span<const double> labels,
                                        std::size_t classes) {
  std::vector<CalibrationBin> bins(kBins);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const Claim claim = claim_of(probabilities.subspan(row * classes, classes), labels[row]);
    CalibrationBin& bin = bins[bin_of(claim.probability)];
    ++bin.rows;
    bin.said += claim.probability;
    bin.was += claim.held ? 1 : 0;
  }
  for (std::size_t i = 0; i < kBins; ++i) {
    bins[i].from = static_cast<double>(i) / kBins;
    bins[i].to = static_cast<double>(i + 1) / kBins;
    bins[i].said /= static_cast<double>(bins[i].rows);
    bins[i].was /= static_cast<double>(bins[i].rows);
  }
  std::erase_if(bins, [](const CalibrationBin& bin) { return bin.rows == 0; });
  return bins;
}

}  // namespace ration
