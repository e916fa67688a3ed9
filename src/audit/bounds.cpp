#include "audit/bounds.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "privacy/gdp.h"

namespace ration::audit {
namespace {

using Binomial = boost::math::binomial_distribution<double>;

double as_number(std::uint64_t count) {
  return static_cast<double>(count);
}

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal_distribution<double>(), probability);
}

// The largest x >= 0 of which `refuted` holds, if it holds below some point and not above.
template <class Refuted>
double largest(const Refuted& refuted) {
  if (!refuted(0.0)) return 0;
  double low = 0;
  double high = 1;
  for (; refuted(high); high *= 2) low = high;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (refuted(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double probability_at_least(const Frequency& seen, double failure) {
  if (seen.hits == 0) return 0;
  return boost::math::quantile(
      boost::math::beta_distribution<double>(as_number(seen.hits), as_number(seen.trials - seen.hits) + 1),
      failure);
}

double probability_at_most(const Frequency& seen, double failure) {
  if (seen.hits == seen.trials) return 1;
  return boost::math::quantile(boost::math::complement(
      boost::math::beta_distribution<double>(as_number(seen.hits) + 1, as_number(seen.trials - seen.hits)),
      failure));
}

double epsilon_at_least(const TestResult& seen, double delta, double failure) {
  const double caught = probability_at_least(seen.caught, failure / 2);
  const double alarms = probability_at_most(seen.alarms, failure / 2);
  return caught > delta ? std::max(0.0, std::log((caught - delta) / alarms)) : 0;
}

double mu_at_least(const TestResult& seen, double failure) {
  const double caught = probability_at_least(seen.caught, failure / 2);
  const double alarms = probability_at_most(seen.alarms, failure / 2);
  if (!(caught > 0) || !(alarms < 1)) return 0;
  return std::max(0.0, normal_quantile(caught) - normal_quantile(alarms));
}

// gdp_epsilon rounds up by far less than this.
double gaussian_epsilon_at_least(double mu, double delta) {
  return mu > 0 ? gdp_epsilon(mu, delta) * (1 - 1e-9) : 0;
}

double probability_of_guesses(const GuessedCoins& seen, double epsilon, double delta) {
  const Binomial guesses(as_number(seen.guesses), 1 / (1 + std::exp(-epsilon)));
  const double as_many =
      seen.right == 0 ? 1 : boost::math::cdf(boost::math::complement(guesses, as_number(seen.right) - 1));
  double most_per_coin = 0;
  double nearly = 0;  // P[right > B >= right - i]
  for (std::uint64_t i = 1; i <= seen.right; ++i) {
    nearly += boost::math::pdf(guesses, as_number(seen.right - i));
    most_per_coin = std::max(most_per_coin, nearly / as_number(i));
  }
  return std::min(1.0, as_many + 2 * as_number(seen.canaries) * delta * most_per_coin);
}

double one_run_epsilon_at_least(const GuessedCoins& seen, double delta, double failure) {
  return largest([&](double epsilon) { return probability_of_guesses(seen, epsilon, delta) < failure; });
}

}  // namespace ration::audit
