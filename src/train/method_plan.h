#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/one_hot_groups.h"
#include "methods/method.h"
#include "methods/protector.h"
#include "ration/privacy/calibrate.h"
#include "ration/privacy/event.h"
#include "ration/sampling/sampler.h"
#include "ration/train/plan.h"
#include "ration/train/resolve.h"

namespace ration {

// A method with its settings, fixed before a row is read. There are three kinds, by what is known of their
// spending.

// What a method is made for: a linear model begins at zero, a network at random weights.
struct ModelShape {
  std::size_t columns = 1;                  // of the encoded table; the last one is the bias
  std::size_t outputs = 1;                  // one set of weights each
  std::vector<double> start{};              // of a network, whose parameters they are
  std::vector<data::OneHotGroup> groups{};  // of columns

  bool is_network() const { return !start.empty(); }
  std::size_t parameters() const { return is_network() ? start.size() : columns * outputs; }
};

// Of a model on rows of so many columns; draws where a network begins.
ModelShape shape_of(const Model& model, std::size_t columns, RandomSource& random);

// Steps of a plan that were taken, and those that were paid for: the ones between were lost by a crash.
struct StepsSoFar {
  std::int64_t done = 0;
  std::int64_t charged = 0;  // >= done
};

// One kind of release of a method, for people.
struct PlannedRelease {
  std::string what;
  double share;  // of the squared noise-to-signal budget, mu^2
  std::string why;
};

// All releases are known before the run.
class FixedMethod {
 public:
  virtual ~FixedMethod() = default;

  // The one place where their number is kept: what a plan says of it is a wish until then.
  virtual std::int64_t steps() const = 0;
  // What the first steps release, before sampling; equal neighbours together.
  virtual std::vector<CountedEvent> events(std::int64_t first_steps) const = 0;
  // A size at which the run costs about as much as one of noise multiplier 1: where the planner begins to
  // look.
  virtual double usual_noise() const { return 1; }
  // Scales all noise: the planner looks for the smallest size that the budget allows.
  virtual void set_noise(double size) = 0;
  // A method that goes on where `so_far` ends; lost steps are not repeated.
  virtual std::unique_ptr<Method> make(const ModelShape& model, const StepsSoFar& so_far) const = 0;
  // All that was decided, for tests: two methods of one kind with the same settings do the same.
  virtual std::string settings() const = 0;
  // What is released, where a method has several kinds of releases; nothing if it has one.
  virtual std::vector<PlannedRelease> releases() const { return {}; }
};

// The method chooses its next query by what it has seen, and stops when the budget refuses one.
class AdaptiveMethod {
 public:
  virtual ~AdaptiveMethod() = default;

  // What it will mostly ask for, as it is charged: it decides the order of an RDP filter.
  virtual Event typical(const Sampler& sampler) const = 0;
  virtual std::unique_ptr<Method> make(const ModelShape& model) const = 0;
  // As of FixedMethod.
  virtual std::string settings() const = 0;
  // As its file has it; null if the method was not learned.
  virtual const Protector* protector() const { return nullptr; }
};

// Names of plan keys.
using Settings = std::vector<std::string_view>;

// What takes a method's place in a plan, and why.
struct Substitute {
  MethodKind method;
  std::string why;
};

// What a method does with units of several rows (data/units.h). Its proof may be by the row; a unit may count
// as many times as it has rows, or once, which keeps what is said of a row true of a unit, such as how large
// a loss is.
enum class UnitForm { none, sums, even };

// What --method NAME stands for. One file in src/train/recipes holds each family.
struct Recipe {
  using Open =
      std::variant<std::unique_ptr<FixedMethod>, std::unique_ptr<const AdaptiveMethod>, WithoutPrivacy>;

  MethodKind method;
  // Which settings the method reads, given the rest of the plan, beside what all methods have in common
  // (recipes.cpp). Others are refused;
  // tests/train/settings_test.cpp holds the list against what the method is made of.
  std::function<Settings(const Plan&)> uses;
  // Settings that the plan leaves open get this method's values. Sets only what the method uses.
  std::function<void(Plan&)> fill;
  // Every setting the method needs is there; `plan.rate` too.
  std::function<Open(const Plan&, const Budget&)> make;
  bool takes_networks = false;  // or linear models only
  bool needs_bias = false;      // a column of ones
  // A method that suits the plan better, by public facts alone; null, or nothing, if there is none.
  std::function<std::optional<Substitute>(const Plan&)> substitute{};
  UnitForm units = UnitForm::none;
};

// One for each method.
std::span<const Recipe> recipes();
const Recipe& recipe_of(MethodKind method);

// Whether a plan's method reads this key. Keys that are not settings of a method are for all of them.
bool is_used(const Plan& plan, std::string_view key);

}  // namespace ration
