#include "methods/agd.h"

#include "base/check.h"
#include "methods/search_state.h"

namespace ration {
namespace {

constexpr std::string_view kName = "DP-AGD";

class Agd final : public Method {
 public:
  Agd(const AgdOptions& options, std::size_t parameters);

  bool step(PrivateOracle& oracle) override;
  StepReport report() const override { return at_.report; }
  void weights(std::span<double> out) const override { at_.average.result(at_.w, out); }
  MethodState save() const override { return at_.save(); }
  void restore(const MethodState& state) override { at_.restore(state); }

 private:
  std::optional<double> find_step(PrivateOracle& oracle);
  std::optional<std::size_t> best_candidate(PrivateOracle& oracle);
  void set_candidates(double divisor);

  AgdOptions options_;
  methods::SearchState at_;
  std::vector<double> ridge_terms_;  // of each candidate
};

Agd::Agd(const AgdOptions& options, std::size_t parameters)
    : options_(options),
      at_(methods::search_options(kName, options), parameters),
      ridge_terms_(at_.candidates.size()) {
  require(kName, "candidates", static_cast<double>(options.candidates), at_least(2).at_most(1e4));
  require(kName, "minimum_epsilon", options.minimum_epsilon, greater_than(0));
  require(kName, "raise", options.raise, greater_than(0));
}

bool Agd::step(PrivateOracle& oracle) {
  const std::optional<double> eta = at_.refused ? std::nullopt : find_step(oracle);
  if (!at_.take(eta)) return false;
  at_.cap.add(*eta, options_.first_step);
  return true;
}

std::optional<double> Agd::find_step(PrivateOracle& oracle) {
  if (!at_.draw(oracle, at_.gradient_rho, at_.gradient)) return std::nullopt;
  for (;;) {
    const std::optional<std::size_t> best = best_candidate(oracle);
    if (!best) return std::nullopt;
    if (*best > 0) return at_.candidates[*best];
    if (at_.is_trusted()) return at_.candidates[1];
    if (!at_.draw_more(oracle, options_.raise)) return std::nullopt;
  }
}

// A gradient of length 0 has no direction.
std::optional<std::size_t> Agd::best_candidate(PrivateOracle& oracle) {
  const double norm = methods::length(at_.gradient.value);
  at_.set_direction(norm > 0 ? 1 / norm : 0);
  set_candidates(oracle.divisor());
  return oracle.minimum_along(
      {at_.w, at_.direction, at_.candidates},
      {.loss_bound = at_.loss_bound, .epsilon = options_.minimum_epsilon, .noise = SelectionNoise::gumbel},
      ridge_terms_);
}

void Agd::set_candidates(double divisor) {
  const double last = static_cast<double>(at_.candidates.size() - 1);
  for (std::size_t i = 0; i < at_.candidates.size(); ++i) {
    at_.candidates[i] = at_.cap.value() * static_cast<double>(i) / last;
    ridge_terms_[i] = -divisor * at_.ridge_decrease(at_.candidates[i]);
  }
}

}  // namespace

std::unique_ptr<Method> make_agd(const AgdOptions& options, std::size_t parameters) {
  return std::make_unique<Agd>(options, parameters);
}

AgdOptions agd_for(double epsilon) {
  const double per_step = require(kName, "epsilon", epsilon, greater_than(0)) / (2 * 60);
  AgdOptions options;
  options.minimum_epsilon = per_step;
  options.gradient_rho = per_step * per_step / 2;
  return options;
}

}  // namespace ration
