#include "train/signal.h"

namespace ration {

double mu_of(const Budget& budget) {
  return 1 / calibrate_noise([](double noise) { return Event::gaussian(noise); }, Relation::add_remove,
                             Accountant::gdp, budget);
}

std::optional<double> signal_of(const Plan& plan) {
  if (!plan.rows || !plan.epsilon || !plan.delta) return std::nullopt;
  return *plan.rows * mu_of({*plan.epsilon, *plan.delta});
}

}  // namespace ration
