// Stable: changes only with a new major version.
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
// Kinds       are append-only: certificates, checkpoints and ledgers outlive the program that wrote them. A
//             kind, its name in JSON and its keys are never renamed, given another meaning or used again;
//             what is to mean something else is a new kind. (tests/cli/json_keys.txt lists them.)
// Equality    is that of kind and numbers, exactly. The text of describe() is for people; it decides nothing.
//
// The class follows dp_accounting's DpEvent [GoogleDP].
class Event {
 public:
  // Nothing was released.
  struct Nothing {
    bool operator==(const Nothing&) const = default;
  };
  // N(0, noise_multiplier^2) per unit of L2 sensitivity.
  struct Gaussian {
    double noise_multiplier;  // > 0
    bool operator==(const Gaussian&) const = default;
  };
  // Laplace of scale `scale` per unit of L1 sensitivity: pure 1/scale-DP.
  struct Laplace {
    double scale;  // > 0
    bool operator==(const Laplace&) const = default;
  };
  // Any mechanism known only to be pure epsilon-DP.
  struct PureDp {
    double epsilon;  // >= 0
    bool operator==(const PureDp&) const = default;
  };
  // AboveThreshold with Laplace noise of scale 1/threshold_epsilon on the threshold and 1/query_epsilon on
  // each query, per unit of sensitivity; stops at the first query above. [Chen20, Alg. 1, Thm 1]
  struct AboveThresholdLaplace {
    double threshold_epsilon;  // > 0
    double query_epsilon;      // > 0
    bool operator==(const AboveThresholdLaplace&) const = default;
  };
  // The same with Gaussian noise, for at most `queries` queries; both noises are standard deviations per unit
  // of sensitivity. It costs more the more queries there may be. Versions up to 0.2 did not write it: 0,
  // which no accountant accepts.
  struct AboveThresholdGaussian {
    double threshold_noise;  // > 0
    double query_noise;      // > 0
    std::int64_t queries;    // >= 1; 0: not known
    bool operator==(const AboveThresholdGaussian&) const = default;
  };
  // The discrete Gaussian on a grid: the Gaussian's concentrated (zCDP, RDP) guarantee, but not its exact
  // trade-off curve, so that GDP, PLD and the sampled-Gaussian moments do not apply. [CKS20, Thm 14]
  struct DiscreteGaussian {
    double noise_multiplier;  // > 0
    bool operator==(const DiscreteGaussian&) const = default;
  };
  // Report noisy max or min with exponential noise: pure epsilon-DP and no more. In particular it is not
  // bounded-range; a test shows the pair on which epsilon^2/8-zCDP fails. [McKenna20, Ding21]
  struct NoisyMax {
    double epsilon;  // > 0
    bool operator==(const NoisyMax&) const = default;
  };
  // A mechanism whose privacy loss varies by at most epsilon over its outputs, such as the exponential
  // mechanism (noisy max with Gumbel noise): pure epsilon-DP and epsilon^2/8-zCDP. [Durfee19, Cesar21]
  struct BoundedRange {
    double epsilon;  // > 0
    bool operator==(const BoundedRange&) const = default;
  };
  // The kinds that hold other events; below.
  struct PoissonSampled;
  struct FixedSizeSampled;
  struct Composed;
  struct Repeated;

  // One of the kinds with its numbers.
  using Node = std::variant<Nothing, Gaussian, Laplace, PureDp, AboveThresholdLaplace, AboveThresholdGaussian,
                            DiscreteGaussian, NoisyMax, BoundedRange, PoissonSampled, FixedSizeSampled,
                            Composed, Repeated>;

  // Each makes an event of its kind. Throws InputError that prints the violated inequality.
  static Event nothing();
  static Event gaussian(double noise_multiplier);
  static Event laplace(double scale);
  static Event pure_dp(double epsilon);
  static Event above_threshold_laplace(double threshold_epsilon, double query_epsilon);
  static Event above_threshold_gaussian(double threshold_noise, double query_noise, std::int64_t queries);
  static Event discrete_gaussian(double noise_multiplier);
  static Event noisy_max(double epsilon);
  static Event bounded_range(double epsilon);
  // `base` ran on a sample that holds each row independently with probability `rate`, 0 < rate <= 1.
  static Event poisson_sampled(double rate, Event base);
  // `base` ran on a uniformly random subset of fixed size, `rate` = size / rows, 0 < rate <= 1.
  static Event fixed_size_sampled(double rate, Event base);
  // All of the parts happened, in whatever order.
  static Event composed(std::vector<Event> parts);
  // `base`, `count` >= 0 times.
  static Event repeated(Event base, std::int64_t count);

  // What happened. Copies of an event share one node.
  const Node& node() const;

  // The same kinds with the same numbers all through; parts in the same order.
  bool operator==(const Event& other) const;

  // "Poisson(0.01) of Gaussian(noise 1.1), 1000 times": the words used in messages and certificates.
  std::string describe() const;

 private:
  explicit Event(Node node);
  std::shared_ptr<const Node> node_;
};

// A mechanism on a sample that holds each row independently with the same probability.
struct Event::PoissonSampled {
  double rate;  // in (0, 1]: of a row
  Event base;   // what ran on the sample
  bool operator==(const PoissonSampled&) const = default;
};
// A mechanism on a uniformly random subset of fixed size.
struct Event::FixedSizeSampled {
  double rate;  // in (0, 1]: size / rows
  Event base;   // what ran on the subset
  bool operator==(const FixedSizeSampled&) const = default;
};
// Several events.
struct Event::Composed {
  std::vector<Event> parts;  // in the order in which they were listed
  bool operator==(const Composed&) const = default;
};
// One event, several times.
struct Event::Repeated {
  Event base;          // what happened each time
  std::int64_t count;  // >= 0
  bool operator==(const Repeated&) const = default;
};

inline const Event::Node& Event::node() const {
  return *node_;
}

inline bool Event::operator==(const Event& other) const {
  return node_ == other.node_ || *node_ == *other.node_;
}

// One kind of event and how often it happened: what a flattened composition consists of.
struct CountedEvent {
  Event event;         // not Composed, Repeated or Nothing
  std::int64_t count;  // >= 1
};

// The composition as a list without Composed, Repeated or Nothing at the top: order does not matter to any
// accountant, so neighbours that are copies of one event are merged. The inside of a sampled event is left
// whole.
std::vector<CountedEvent> flatten(const Event& event);

// A set of lambdas as one function object, for std::visit.
template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
// Deduces the lambdas' types.
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// visit(event, handler per kind of node...)
template <class... Handlers>
decltype(auto) visit(const Event& event, Handlers&&... handlers) {
  return std::visit(Overloaded{std::forward<Handlers>(handlers)...}, event.node());
}

}  // namespace ration
