#include "meta/first_weights.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/distributions.h"

namespace ration::meta {
namespace {

enum Gate : std::size_t { kInput, kForget, kOutput, kCandidate, kGates };
// A gate with this bias lets nearly all through.
constexpr double kOpen = 4;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
// The bias of a gate that lets `share` through.
double bias_for(double share) {
  return std::log(share / (1 - share));
}

// One layer's part of the list of weights. (coordinate_lstm.h)
class Layer {
 public:
  Layer(std::span<float> weights, std::size_t units) : weights_(weights), size_(weights.size() / units) {}

  float& bias(std::size_t unit, Gate gate) { return weights_[unit * size_ + gate]; }
  float& weight(std::size_t unit, std::size_t z, Gate gate) {
    return weights_[unit * size_ + kGates * (1 + z) + gate];
  }
  void clear(std::size_t unit) {
    const std::span<float> of_unit = weights_.subspan(unit * size_, size_);
    std::fill(of_unit.begin(), of_unit.end(), 0.0f);
  }
  std::size_t units() const { return weights_.size() / size_; }

 private:
  std::span<float> weights_;
  std::size_t size_;
};

struct Parts {
  Layer first, second;
  std::span<float> readout;

  Parts(const protector::LstmShape& shape, std::span<float> all)
      : first(all.first(shape.first_layer()), shape.units),
        second(all.subspan(shape.first_layer(), shape.second_layer()), shape.units),
        readout(all.last(shape.units + 1)) {}
};

// Memories even on a logarithmic scale; what is remembered for long comes in slowly. [Tallec18]
void spread_memories(Layer& layer, double steps, RandomSource& random) {
  for (std::size_t u = 0; u < layer.units(); ++u) {
    const double memory = 1 + std::expm1(uniform(random) * std::log(std::max(2.0, steps)));
    layer.bias(u, kForget) = static_cast<float>(std::log(memory));
    layer.bias(u, kInput) = static_cast<float>(-std::log(memory));
  }
}

std::vector<float> random_weights(const protector::LstmShape& shape, double steps, RandomSource& random) {
  std::vector<double> draws(shape.parameters());
  constexpr double kSpread = 0.2;
  fill_gaussian(random, draws, kSpread);
  std::vector<float> weights(draws.begin(), draws.end());
  Parts parts(shape, weights);
  spread_memories(parts.first, steps, random);
  spread_memories(parts.second, steps, random);
  return weights;
}

// c = memory c + gain z, h = c: a moving average of z, if gain is 1 - memory. Returns h over the average.
double make_average(Layer& layer, std::size_t unit, std::size_t z, double memory, double gain) {
  layer.clear(unit);
  layer.bias(unit, kInput) = static_cast<float>(kOpen);
  layer.bias(unit, kOutput) = static_cast<float>(kOpen);
  layer.bias(unit, kForget) = static_cast<float>(memory > 0 ? bias_for(memory) : -kOpen);
  layer.weight(unit, z, kCandidate) = static_cast<float>(gain * (1 - memory));
  return sigmoid(kOpen) * sigmoid(kOpen) * gain;
}

}  // namespace

std::vector<float> first_projector(const protector::LstmShape& shape, const FirstSteps& first, double steps,
                                   RandomSource& random) {
  std::vector<float> weights = random_weights(shape, steps, random);
  Parts parts(shape, weights);
  constexpr double kWithinReach = 0.5;  // so that usual inputs are not bent much
  const double gain = make_average(parts.first, 0, first.in_units_of_noise ? 0 : 1, 0, kWithinReach) *
                      make_average(parts.second, 0, 0, first.memory, 1);
  constexpr float kHardly = 0.1f;
  for (float& weight : parts.readout) weight *= kHardly;
  parts.readout.front() = static_cast<float>(-1 / gain);
  parts.readout.back() = 0;
  resize_steps(shape, first.size, weights);
  return weights;
}

void resize_steps(const protector::LstmShape& shape, double factor, std::vector<float>& weights) {
  for (float& weight : Parts(shape, weights).readout) weight = static_cast<float>(weight * factor);
}

std::vector<float> first_scheduler(const protector::LstmShape& shape, double steps, RandomSource& random) {
  std::vector<float> weights = random_weights(shape, steps, random);
  const std::span<float> readout = Parts(shape, weights).readout;
  std::fill(readout.begin(), readout.end(), 0.0f);
  return weights;
}

}  // namespace ration::meta
