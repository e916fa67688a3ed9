#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace ration {

// What a mechanism did, as a frozen value: mechanisms emit events, accountants consume them, and neither
// knows the other. An event carries only what accounting needs, relative to the query's sensitivity, so it
// means the same for every query and every relation (the sensitivity differs by relation, the event does
// not).
//
// Events nest: a Poisson-sampled step holds the mechanism that ran on the sample, and a sample on which two
// mechanisms ran holds their composition, so that amplification is applied to the whole of what was computed
// on one sample and never to the parts [Wang19].
//
// The class follows dp_accounting's DpEvent [GoogleDP].
class Event {
 public:
  // Nothing was released.
  struct Nothing {};
  // N(0, noise_multiplier^2) per unit of L2 sensitivity.
  struct Gaussian {
    double noise_multiplier;  // > 0
  };
  // Laplace of scale `scale` per unit of L1 sensitivity: pure 1/scale-DP.
  struct Laplace {
    double scale;  // > 0
  };
  // Any mechanism known only to be pure epsilon-DP.
  struct PureDp {
    double epsilon;  // >= 0
  };
  // AboveThreshold with Laplace noise of scale 1/threshold_epsilon on the threshold and 1/query_epsilon on
  // each query, per unit of sensitivity; stops at the first query above. [Chen20, Alg. 1, Thm 1, Thm 2]
  struct AboveThresholdLaplace {
    double threshold_epsilon;  // > 0
    double query_epsilon;      // > 0
  };
  // The same with Gaussian noise; both are standard deviations per unit of sensitivity. [Chen20, Thm 3]
  struct AboveThresholdGaussian {
    double threshold_noise;  // > 0
    double query_noise;      // > 0
  };
  // The discrete Gaussian on a grid: the Gaussian's concentrated (zCDP, RDP) guarantee, but not its exact
  // trade-off curve, so that GDP, PLD and the sampled-Gaussian moments do not apply. [CKS20, Thm 14]
  struct DiscreteGaussian {
    double noise_multiplier;  // > 0
  };
  // Report noisy max or min with exponential noise: pure epsilon-DP and no more. In particular it is not
  // bounded-range; a test shows the pair on which epsilon^2/8-zCDP fails. [McKenna20, Ding21]
  struct NoisyMax {
    double epsilon;  // > 0
  };
  // A mechanism whose privacy loss varies by at most epsilon over its outputs, such as the exponential
  // mechanism (noisy max with Gumbel noise): pure epsilon-DP and epsilon^2/8-zCDP. [Durfee19, Cesar21]
  struct BoundedRange {
    double epsilon;  // > 0
  };
  struct PoissonSampled;
  struct FixedSizeSampled;
  struct Composed;
  struct Repeated;

  using Node = std::variant<Nothing, Gaussian, Laplace, PureDp, AboveThresholdLaplace, AboveThresholdGaussian,
                            DiscreteGaussian, NoisyMax, BoundedRange, PoissonSampled, FixedSizeSampled,
                            Composed, Repeated>;

  // Validated constructors; each throws InputError that prints the violated inequality.
  static Event nothing();
  static Event gaussian(double noise_multiplier);
  static Event laplace(double scale);
  static Event pure_dp(double epsilon);
  static Event above_threshold_laplace(double threshold_epsilon, double query_epsilon);
  static Event above_threshold_gaussian(double threshold_noise, double query_noise);
  static Event discrete_gaussian(double noise_multiplier);
  static Event noisy_max(double epsilon);
  static Event bounded_range(double epsilon);
  // `base` ran on a sample that holds each row independently with probability `rate`, 0 < rate <= 1.
  static Event poisson_sampled(double rate, Event base);
  // `base` ran on a uniformly random subset of fixed size, `rate` = size / rows, 0 < rate <= 1.
  static Event fixed_size_sampled(double rate, Event base);
  static Event composed(std::vector<Event> parts);
  // `base`, `count` >= 0 times.
  static Event repeated(Event base, std::int64_t count);

  const Node& node() const;

  // "Poisson(0.01) of Gaussian(noise 1.1), 1000 times": the words used in messages and certificates.
  std::string describe() const;

 private:
  explicit Event(Node node);
  std::shared_ptr<const Node> node_;
};

struct Event::PoissonSampled {
  double rate;
  Event base;
};
struct Event::FixedSizeSampled {
  double rate;
  Event base;
};
struct Event::Composed {
  std::vector<Event> parts;
};
struct Event::Repeated {
  Event base;
  std::int64_t count;
};

inline const Event::Node& Event::node() const {
  return *node_;
}

// One kind of event and how often it happened: what a flattened composition consists of.
struct CountedEvent {
  Event event;
  std::int64_t count;
};

// The composition as a list without Composed, Repeated or Nothing at the top: order does not matter to any
// accountant, so equal neighbours are merged. The inside of a sampled event is left whole.
std::vector<CountedEvent> flatten(const Event& event);

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// visit(event, handler per kind of node...)
template <class... Handlers>
decltype(auto) visit(const Event& event, Handlers&&... handlers) {
  return std::visit(Overloaded{std::forward<Handlers>(handlers)...}, event.node());
}

}  // namespace ration
