#include "train/signal.h"

namespace ration {

double mu_of(const Budget& budget) {
  return 1 / calibrate_noise([](double noise) { return Event::gaussian(noise); }, Relation::add_remove,
                             Accountant::gdp, budget);
}

std::optional<double> signal_of(const Plan& plan) {
  const std::optional<double>& count = plan.units ? plan.units : plan.rows;
  if (!count || !plan.epsilon || !plan.delta) return std::nullopt;
  return *count * mu_of({*plan.epsilon, *plan.delta});
}

}  // namespace ration
