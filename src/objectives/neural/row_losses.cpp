#include "objectives/neural/row_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ration/base/error.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {
namespace {

std::variant<SoftmaxLoss, SquaredLoss> loss_for(std::size_t classes) {
  if (classes == 0) return SquaredLoss{};
  SoftmaxLoss loss;
  loss.classes = classes;
  return loss;
}

double scale_for(std::span<const double> slopes) {
  constexpr int kLargest = 1000;
  double largest = 0;
  for (const double slope : slopes) largest = std::max(largest, std::fabs(slope));
  if (!(largest > 0 && std::isfinite(largest))) return 1;
  return std::ldexp(1.0, std::min(-std::ilogb(largest), kLargest));
}

}  // namespace

RowLosses::RowLosses(std::size_t classes) : loss_(loss_for(classes)) {}

PublicFacts RowLosses::facts() const {
  return std::visit(
      []<class Loss>(const Loss& loss) {
        return PublicFacts{
            .loss = Loss::kName, .label_classes = loss.label_classes(), .single_precision = true};
      },
      loss_);
}

void RowLosses::require_labels(std::span<const double> labels) const {
  for (std::size_t row = 0; row < labels.size(); ++row) {
    std::visit(
        [&]<class Loss>(const Loss& loss) {
          if (loss.accepts(labels[row])) return;
          throw InputError(fmt::format("network: row {}: expected the label to be {}, got {}", row,
                                       Loss::kLabels, labels[row]));
        },
        loss_);
  }
}

double RowLosses::loss(std::span<double> outputs, double label) const {
  return std::visit([&](const auto& chosen) { return chosen.loss_at(outputs, label); }, loss_);
}

double RowLosses::prediction(std::span<double> outputs) const {
  return std::visit([&](const auto& chosen) { return chosen.prediction(outputs); }, loss_);
}

torch::Tensor RowLosses::slopes(const torch::Tensor& outputs, std::span<const double> labels,
                                std::span<const std::uint64_t> part) {
  torch::Tensor slopes = outputs.detach().to(torch::kCPU, torch::kDouble).contiguous();
  const auto width = static_cast<std::size_t>(slopes.size(1));
  scales_.resize(part.size());
  for (std::size_t r = 0; r < part.size(); ++r) {
    const std::span<double> place(slopes.data_ptr<double>() + r * width, width);
    std::visit([&](const auto& loss) { loss.to_slopes(place, labels[part[r]]); }, loss_);
    scales_[r] = scale_for(place);
    for (double& slope : place) slope *= scales_[r];
  }
  return slopes.to(outputs.device(), torch::kFloat);
}

double RowLosses::norm(std::size_t r, double squared) const {
  return std::sqrt(squared) / scales_[r];
}

// Next to nothing is nothing: below 1e-10 of its slopes, the squares of a gradient have lost their digits in
// 32 bits; below a bound of 1e-20, the numbers of a contribution might, and be rounded up.
double RowLosses::factor(std::size_t r, double squared, const AnyClipRule& rule) const {
  constexpr double kSmallest = 1e-20;
  constexpr double kLeastBound = 1e-20;
  if (!(squared >= kSmallest) || rule.bound() < kLeastBound) return 0;
  const double factor = rule.visit([&](const auto& chosen) { return clip_factor(chosen, norm(r, squared)); });
  return factor * (1 - kSinglePrecisionRoom) / scales_[r];
}

}  // namespace ration::nn
