#pragma once

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ration::testing {

// What an attacker who sees a statistic of the outputs can prove about a mechanism's epsilon.
//
// For any cut, P[s > cut | one table] <= e^epsilon P[s > cut | its neighbour] + delta. The first half of the
// runs chooses the cut, the second half bounds both probabilities [Clopper & Pearson, Biometrika 26(4),
// 1934], so the bound is above the true epsilon with probability at most `failure`.
class EpsilonAudit {
 public:
  EpsilonAudit(double delta, double failure) : delta_(delta), failure_(failure) {}

  double lower_bound(const std::vector<double>& with, const std::vector<double>& without) const {
    const std::size_t half = with.size() / 2;
    const Half choosing{{with.begin(), with.begin() + half}, {without.begin(), without.begin() + half}};
    const Half judging{{with.begin() + half, with.end()}, {without.begin() + half, without.end()}};
    double best = 0;
    double best_cut = 0;
    for (const double cut : cuts(choosing.without)) {
      const double bound = bound_at(choosing, cut);
      if (bound > best) {
        best = bound;
        best_cut = cut;
      }
    }
    return best > 0 ? std::max(0.0, bound_at(judging, best_cut)) : 0;
  }

 private:
  struct Half {
    std::vector<double> with;
    std::vector<double> without;
  };

  // From one false alarm in two to one in as many as the runs can show.
  static std::vector<double> cuts(std::vector<double> without) {
    std::sort(without.begin(), without.end());
    std::vector<double> cuts;
    for (double above = static_cast<double>(without.size()) / 2; above >= 1; above /= 1.2) {
      cuts.push_back(without[without.size() - static_cast<std::size_t>(above)]);
    }
    return cuts;
  }

  double bound_at(const Half& runs, double cut) const {
    using Binomial = boost::math::binomial_distribution<double>;
    const auto above = [&](const std::vector<double>& sample) {
      return static_cast<double>(
          std::count_if(sample.begin(), sample.end(), [&](double value) { return value > cut; }));
    };
    const auto all = static_cast<double>(runs.with.size());
    const double caught = Binomial::find_lower_bound_on_p(all, above(runs.with), failure_ / 2);
    const double alarms = Binomial::find_upper_bound_on_p(all, above(runs.without), failure_ / 2);
    return caught > delta_ ? std::log((caught - delta_) / alarms) : 0;
  }

  double delta_;
  double failure_;
};

}  // namespace ration::testing
