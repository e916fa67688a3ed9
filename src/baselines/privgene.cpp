#include "baselines/privgene.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/distributions.h"
#include "baselines/state.h"

namespace ration {
namespace {

using Vector = std::vector<double>;

MinimumQuery selection_of(const PrivGeneOptions& options) {
  return {.loss_bound = options.loss_bound,
          .epsilon = options.selection_epsilon,
          .noise = SelectionNoise::gumbel};
}

const PrivGeneOptions& validated(const PrivGeneOptions& options) {
  require("PrivGene", "rounds", static_cast<double>(options.rounds), at_least(1).at_most(1e6));
  require("PrivGene", "population", static_cast<double>(options.population), at_least(2).at_most(1e6));
  require("PrivGene", "selection_epsilon", options.selection_epsilon, greater_than(0));
  require("PrivGene", "loss_bound", options.loss_bound, greater_than(0));
  require("PrivGene", "mutation", options.mutation, greater_than(0));
  require("PrivGene", "mutation_decay", options.mutation_decay, greater_than(0).at_most(1));
  return options;
}

class PrivGene final : public Method {
 public:
  PrivGene(const PrivGeneOptions& options, std::size_t parameters, RandomSource& random)
      : options_(validated(options)),
        random_(random),
        selected_(parameters, 0.0),
        before_(parameters, 0.0),
        children_(options.population, Vector(parameters)) {
    breed();
  }

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return {.step = round_, .learning_rate = mutation_size()}; }
  void weights(std::span<double> out) const override;
  MethodState save() const override;
  void restore(const MethodState& state) override;

 private:
  double mutation_size() const {
    return options_.mutation * std::pow(options_.mutation_decay, static_cast<double>(round_));
  }
  void breed();
  void cross_and_mutate(Vector& child, bool cross);

  PrivGeneOptions options_;
  RandomSource& random_;
  std::int64_t round_ = 0;
  Vector selected_;
  Vector before_;  // selected in the round before
  std::vector<Vector> children_;
};

void PrivGene::cross_and_mutate(Vector& child, bool cross) {
  fill_gaussian(random_, child, mutation_size() / std::sqrt(static_cast<double>(child.size())));
  for (std::size_t i = 0; i < child.size(); ++i) {
    child[i] += cross && bernoulli(random_, 0.5) ? before_[i] : selected_[i];
  }
}

void PrivGene::breed() {
  children_[0] = selected_;
  for (std::size_t child = 1; child < children_.size(); ++child) {
    cross_and_mutate(children_[child], child % 2 == 1);
  }
}

bool PrivGene::step(PrivateOracle& oracle) {
  if (round_ == static_cast<std::int64_t>(options_.rounds)) return false;
  const std::vector<Objective::Parameters> candidates(children_.begin(), children_.end());
  const auto chosen = oracle.minimum(candidates, selection_of(options_));
  if (!chosen) return false;
  before_ = std::exchange(selected_, children_[*chosen]);
  ++round_;
  breed();
  return true;
}

void PrivGene::weights(std::span<double> out) const {
  require_size("weights", out.size(), selected_.size());
  std::copy(selected_.begin(), selected_.end(), out.begin());
}

MethodState PrivGene::save() const {
  Vector children;
  for (const Vector& child : children_) children.insert(children.end(), child.begin(), child.end());
  return {{"step", {static_cast<double>(round_)}},
          {"weights", selected_},
          {"before", before_},
          {"children", children}};
}

void PrivGene::restore(const MethodState& state) {
  const double round = saved_count(state, "step", static_cast<double>(options_.rounds));
  const Vector& selected = saved_part(state, "weights", selected_.size());
  const Vector& before = saved_part(state, "before", selected_.size());
  const Vector& children = saved_part(state, "children", selected_.size() * children_.size());
  round_ = static_cast<std::int64_t>(round);
  selected_ = selected;
  before_ = before;
  auto next = children.begin();
  for (Vector& child : children_) {
    std::copy_n(next, child.size(), child.begin());
    next += static_cast<std::ptrdiff_t>(child.size());
  }
}

}  // namespace

std::unique_ptr<Method> make_privgene(const PrivGeneOptions& options, std::size_t parameters,
                                      RandomSource& random) {
  return std::make_unique<PrivGene>(options, parameters, random);
}

Event privgene_event(const PrivGeneOptions& options) {
  return Event::repeated(selection_of(validated(options)).event(), static_cast<std::int64_t>(options.rounds));
}

}  // namespace ration
