#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "meta/task.h"
#include "methods/protector.h"
#include "methods/protector/coordinate_lstm.h"
#include "methods/protector/lanewise.h"
#include "ration/base/random.h"
#include "ration/clipping/any_clip_rule.h"

namespace ration::meta {

// How a task is protected while a protector practises on it.
struct Protection {
  AnyClipRule clip = Abadi{1};
  double sensitivity = 1;       // of the sum of clipped gradients
  double norm_sensitivity = 0;  // of its squared norm; 0: the norm is not asked for
  double even = 1;              // noise multipliers
  double least = 0.1;
  double steps = 30;          // that the budget lasts for with even noise
  double norm_noise = 1;      // the multiplier of a released norm
  double noise_injected = 1;  // 0: what a protector meets first, gradients without noise
  double divisor = 0;         // that noise is divided by, as if the task had so many rows; 0: those it has

  double norm_share() const {
    return norm_sensitivity > 0 ? 1 / (1 + (norm_noise / even) * (norm_noise / even)) : 0;
  }
  // Shares of the budget, which Gaussian noise takes in proportion to 1 / noise^2.
  double cost(double noise) const {
    return (norm_share() + (1 - norm_share()) * (even / noise) * (even / noise)) / steps;
  }
  double cost_slope(double noise) const {
    return -2 * (1 - norm_share()) * even * even / (noise * noise * noise) / steps;
  }
};

// The numbers of both LSTMs; no scheduler: even noise.
template <class Number>
struct ProtectorWeights {
  std::vector<Number> scheduler, projector;
};

// A task, unrolled: Alg. 1 and 2 of L2P on public rows, remembered, and gone through backwards. What a step
// observes, the raw gradient and the norm, is a constant to the derivatives, as in the paper; so is the
// noise.
//
// Memory      `kept` steps, allocated once: inputs and states, not gates (coordinate_lstm.h).
template <class Number>
class Unroll {
 public:
  struct Shape {
    std::size_t units = 20;
    double output_scale = 1;
  };
  // All must outlive it.
  Unroll(Task& task, const Protection& protection, const Shape& shape, RandomSource& random, std::size_t kept,
         std::size_t threads = 1);

  // Up to `kept` more steps, which replace those that were kept. What comes before them is a constant.
  void run(const ProtectorWeights<Number>& weights, std::size_t steps);
  std::span<const double> losses() const { return losses_; }  // after each kept step, over its rows
  std::span<const double> costs() const { return costs_; }    // of each kept step
  double cost() const;
  double spent() const { return spent_; }
  std::span<const double> noise() const { return noise_; }  // multipliers of each kept step

  // Adds sum_t by_loss[t] d f_t + by_cost[t] d c_t, by the weights, over the kept steps. Without a scheduler
  // in `into`, only the projector's; and the other way round.
  void back(const ProtectorWeights<Number>& weights, std::span<const double> by_loss,
            std::span<const double> by_cost, ProtectorWeights<Number>& into);

  // Runs until the budget is used up, the last step taking what is left.
  void run_to_the_end(const ProtectorWeights<Number>& weights);
  std::span<const double> w() const { return w_; }
  std::size_t taken() const { return taken_; }

  // What a step observed, so that a test can repeat it with other weights.
  struct Observation {
    std::vector<double> mean;
    std::vector<double> noise;
    double norm = 0;
  };
  std::vector<Observation>* record = nullptr;
  const std::vector<Observation>* replay = nullptr;

 private:
  struct Kept {
    protector::Lanewise<Number> inputs, state, scheduler_inputs, scheduler_state;
    std::vector<Number> noise;
    std::vector<double> loss_gradient;
    double output = 0;  // of the scheduler
    double noise_multiplier = 0;
  };

  bool has_scheduler(const ProtectorWeights<Number>& weights) const { return !weights.scheduler.empty(); }
  void observe();
  double schedule(const ProtectorWeights<Number>& weights);
  void project(const ProtectorWeights<Number>& weights, double noise);
  double noise_for(double cost) const;
  void advance(const ProtectorWeights<Number>& weights, double noise);
  void keep(Kept& kept);
  double stddev(double noise) const { return protection_.sensitivity * noise / divisor_; }
  // d (inputs of the projector) / d (noise multiplier), times the derivatives by the inputs, summed.
  double by_noise(const Kept& kept, const protector::Lanewise<Number>& d_inputs) const;

  Task& task_;
  const Protection& protection_;
  Shape shape_;
  RandomSource& random_;
  std::size_t threads_;
  double divisor_;
  protector::LstmShape scheduler_shape_, projector_shape_;

  std::vector<double> w_, mean_, noisy_, unit_noise_;
  double norm_;
  double observed_norm_ = 0;
  double scheduler_output_ = 0;
  std::size_t taken_ = 0;
  double spent_ = 0;
  protector::Lanewise<Number> inputs_, state_, next_, output_;
  protector::Lanewise<Number> scheduler_inputs_, scheduler_state_, scheduler_next_, scheduler_out_;

  std::vector<Kept> kept_;
  std::size_t kept_steps_ = 0;
  std::vector<double> losses_, costs_, noise_;
};

}  // namespace ration::meta
