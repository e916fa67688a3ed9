#include "objectives/lbfgs.h"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <vector>

#include "ration/base/error.h"

namespace ration {
namespace {

double length(std::span<const double> vector) {
  double sum = 0;
  for (const double value : vector) sum += value * value;
  return std::sqrt(sum);
}

struct Search {
  const Differentiable& f;
  double tolerance;
  nlopt_opt optimiser;
  std::vector<double> best;
  double shortest = std::numeric_limits<double>::infinity();
  std::exception_ptr failure;

  void look_at(std::span<const double> w, std::span<const double> gradient) {
    const double norm = length(gradient);
    if (!(norm < shortest)) return;
    shortest = norm;
    best.assign(w.begin(), w.end());
    if (norm <= tolerance) nlopt_force_stop(optimiser);
  }
};

// No exception may pass through C code: it waits until the search has ended.
double evaluate(unsigned count, const double* w, double* gradient, void* data) {
  auto& search = *static_cast<Search*>(data);
  try {
    std::vector<double> unused;
    if (!gradient) unused.resize(count);
    const std::span<double> place(gradient ? gradient : unused.data(), count);
    const double value = search.f({w, count}, place);
    search.look_at({w, count}, place);
    return value;
  } catch (...) {
    search.failure = std::current_exception();
    nlopt_force_stop(search.optimiser);
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

double minimise_lbfgs(const Differentiable& f, double tolerance, int most_evaluations, std::span<double> w) {
  if (w.empty()) return 0;
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> optimiser(
      nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(w.size())), nlopt_destroy);
  if (!optimiser) throw InternalError("L-BFGS: NLopt gives no optimiser");
  Search search{.f = f, .tolerance = tolerance, .optimiser = optimiser.get(), .best = {}, .failure = {}};
  nlopt_set_min_objective(optimiser.get(), evaluate, &search);
  nlopt_set_maxeval(optimiser.get(), most_evaluations);
  std::vector<double> point(w.begin(), w.end());
  double value = 0;
  nlopt_optimize(optimiser.get(), point.data(), &value);  // how it ended does not matter: the gradient tells
  if (search.failure) std::rethrow_exception(search.failure);
  if (search.best.size() == w.size()) std::copy(search.best.begin(), search.best.end(), w.begin());
  return search.shortest;
}

}  // namespace ration
