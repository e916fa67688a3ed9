#include "objectives/glm/loss_kernels.h"

#include "base/per_processor.h"
#include "base/vector_math.h"

namespace ration {
namespace {

constexpr std::size_t kLanes = 8;

// Both as in losses.h, from e^(-|margin|), which does not overflow.
struct Logistic {
  RATION_INLINE double loss(double z, double label) const {
    const double margin = (2 * label - 1) * z;
    const double shortfall = margin < 0 ? -margin : 0.0;
    return shortfall + log1p_of_unit(exp_of_negative(-std::abs(margin)));
  }
  RATION_INLINE double slope(double z, double label) const {
    const double sign = 2 * label - 1;
    const double margin = sign * z;
    const double e = exp_of_negative(-std::abs(margin));
    return -sign * (margin < 0 ? 1.0 : e) / (1 + e);
  }
};

struct Hinge {
  RATION_INLINE double loss(double z, double label) const {
    const double shortfall = 1 - (2 * label - 1) * z;
    return shortfall < 0 ? 0 : shortfall;
  }
  RATION_INLINE double slope(double z, double label) const {
    const double sign = 2 * label - 1;
    return 1 - sign * z > 0 ? -sign : 0.0;
  }
};

struct Huber {
  double h;

  RATION_INLINE double loss(double z, double label) const {
    const double shortfall = 1 - (2 * label - 1) * z;
    const double bent = (shortfall + h) * (shortfall + h) / (4 * h);
    const double above = shortfall > h ? shortfall : bent;
    return shortfall < -h ? 0.0 : above;
  }
  RATION_INLINE double slope(double z, double label) const {
    const double sign = 2 * label - 1;
    const double shortfall = 1 - sign * z;
    const double bent = (shortfall + h) / (2 * h);
    const double above = shortfall > h ? 1.0 : bent;
    return -sign * (shortfall < -h ? 0.0 : above);
  }
};

struct Squared {
  RATION_INLINE double loss(double z, double label) const { return 0.5 * (z - label) * (z - label); }
  RATION_INLINE double slope(double z, double label) const { return z - label; }
};

template <class Loss>
RATION_INLINE void replace_by_slopes(const Loss& loss, double* __restrict z, const double* __restrict labels,
                                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) z[i] = loss.slope(z[i], labels[i]);
}

// In [0, bound]; 0 if it is not finite.
RATION_INLINE double clipped(double loss, double bound) {
  const double low = loss > 0 ? loss : 0.0;
  const double within = low < bound ? low : bound;
  return loss - loss == 0 ? within : 0.0;
}

RATION_INLINE double sum_in_lanes(const double* values, std::size_t count) {
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += values[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Two loops, as the compiler vectorises neither in one: the losses, then eight running sums of them.
template <class Loss>
RATION_INLINE double sum_clipped(const Loss& loss, double* __restrict z, const double* __restrict labels,
                                 std::size_t count, double bound) {
  for (std::size_t i = 0; i < count; ++i) z[i] = clipped(loss.loss(z[i], labels[i]), bound);
  return sum_in_lanes(z, count);
}

template <class Loss>
RATION_INLINE void add_clipped(const Loss& loss, const LineOutputs& line, std::span<const double> steps,
                               double bound, double* sums) {
  const double* __restrict const starts = line.starts;
  const double* __restrict const slopes = line.slopes;
  const double* __restrict const labels = line.labels;
  double* __restrict const losses = line.scratch;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const double step = steps[k];
    for (std::size_t i = 0; i < line.count; ++i) {
      losses[i] = clipped(loss.loss(starts[i] - step * slopes[i], labels[i]), bound);
    }
    sums[k] += sum_in_lanes(losses, line.count);
  }
}

template <class Loss>
void slopes_of(const Loss& loss, std::span<double> outputs, const double* labels) {
  PerProcessor<replace_by_slopes<Loss>>::call(loss, outputs.data(), labels, outputs.size());
}

template <class Loss>
double sum_of(const Loss& loss, std::span<double> outputs, const double* labels, double bound) {
  return PerProcessor<sum_clipped<Loss>>::call(loss, outputs.data(), labels, outputs.size(), bound);
}

template <class Loss>
void add_along(const Loss& loss, const LineOutputs& line, std::span<const double> steps, double bound,
               double* sums) {
  PerProcessor<add_clipped<Loss>>::call(loss, line, steps, bound, sums);
}

}  // namespace

void to_slopes(const LogisticLoss&, std::span<double> outputs, const double* labels) {
  slopes_of(Logistic{}, outputs, labels);
}
void to_slopes(const HingeLoss&, std::span<double> outputs, const double* labels) {
  slopes_of(Hinge{}, outputs, labels);
}
void to_slopes(const HuberHingeLoss& loss, std::span<double> outputs, const double* labels) {
  slopes_of(Huber{loss.h}, outputs, labels);
}
void to_slopes(const SquaredLoss&, std::span<double> outputs, const double* labels) {
  slopes_of(Squared{}, outputs, labels);
}

double clipped_loss_sum(const LogisticLoss&, std::span<double> outputs, const double* labels, double bound) {
  return sum_of(Logistic{}, outputs, labels, bound);
}
double clipped_loss_sum(const HingeLoss&, std::span<double> outputs, const double* labels, double bound) {
  return sum_of(Hinge{}, outputs, labels, bound);
}
double clipped_loss_sum(const HuberHingeLoss& loss, std::span<double> outputs, const double* labels,
                        double bound) {
  return sum_of(Huber{loss.h}, outputs, labels, bound);
}
double clipped_loss_sum(const SquaredLoss&, std::span<double> outputs, const double* labels, double bound) {
  return sum_of(Squared{}, outputs, labels, bound);
}

void add_clipped_losses(const LogisticLoss&, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums) {
  add_along(Logistic{}, line, steps, bound, sums);
}
void add_clipped_losses(const HingeLoss&, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums) {
  add_along(Hinge{}, line, steps, bound, sums);
}
void add_clipped_losses(const HuberHingeLoss& loss, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums) {
  add_along(Huber{loss.h}, line, steps, bound, sums);
}
void add_clipped_losses(const SquaredLoss&, const LineOutputs& line, std::span<const double> steps,
                        double bound, double* sums) {
  add_along(Squared{}, line, steps, bound, sums);
}

}  // namespace ration
