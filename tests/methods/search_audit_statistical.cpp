// Two neighbouring tables are told apart by the step that a private search chose, through the oracle. What is
// proven about epsilon, with 99.9 % confidence, stays below the claim; searches that are broken on purpose
// are found out.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "base/distributions.h"
#include "oracle/epsilon_audit.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/accountant.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

constexpr int kRuns = 100'000;  // on each table
constexpr double kFailure = 1e-3;
constexpr double kDelta = 1e-3;  // of the Gaussian form's claim
constexpr std::size_t kPoints = 16;

// The row that only one table has moves the sums of losses as it likes, within the bound; the other rows'
// losses are 0.
class OneRowThatMatters final : public Objective {
 public:
  OneRowThatMatters(bool present, std::function<double(std::size_t)> loss_at)
      : present_(present), loss_at_(std::move(loss_at)) {}

  std::size_t rows() const override { return present_ ? 3 : 2; }
  std::size_t parameters() const override { return 1; }
  std::uint64_t longest_chain(std::uint64_t) const override { return 1; }
  void clipped_gradient_sum(Parameters, const Batch&, const AnyClipRule&, std::span<double>) override {}
  void clipped_loss_sums(std::span<const Parameters>, const Batch&, double, std::span<double>) override {}
  // The steps are the numbers of the points.
  void clipped_loss_sums_along(const Line& line, const Batch& batch, double,
                               std::span<double> sums) override {
    const bool drawn = !batch.rows.empty() && batch.rows.back() == 2;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k] = drawn ? loss_at_(static_cast<std::size_t>(line.steps[k])) : 0;
    }
  }
  std::uint64_t count_norms_at_most(Parameters, const Batch&, double) override { return 0; }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}

 private:
  bool present_;
  std::function<double(std::size_t)> loss_at_;
};

// What the row's loss is at the start (0) and at the points (1 to kPoints). The third is the worst for a
// search: the row speaks against every point but the last, so that with it the last is reached more often;
// found by integrating over the noise.
double all_better(std::size_t point) {
  return point == 0 ? 1 : 0;
}
double all_worse(std::size_t point) {
  return point == 0 ? 0 : 1;
}
double last_as_good_as_the_start(std::size_t point) {
  return point == 0 || point == kPoints ? 0 : 1;
}
double last_worst(std::size_t point) {
  return point == kPoints ? 1 : 0;
}
using LossAt = double (*)(std::size_t);
constexpr LossAt kPatterns[] = {all_better, all_worse, last_as_good_as_the_start, last_worst};

// An answer as a number: the point that was chosen, kPoints for none.
using Answer = std::function<std::size_t(PrivateOracle&)>;

std::vector<std::size_t> answers(bool with_the_row, LossAt loss_at, double rate, const Answer& answer) {
  OneRowThatMatters objective(with_the_row, loss_at);
  const PoissonSampler sampler({.rows = objective.rows(), .declared_rows = 2}, rate);
  GenerousFilter filter;
  SeededRandom random(with_the_row ? 31 : 32);
  PrivateOracle oracle(objective, sampler, filter, random);
  std::vector<std::size_t> all;
  for (int i = 0; i < kRuns; ++i) all.push_back(answer(oracle));
  return all;
}

// Answers in the order of how much oftener one table gave them, as the first quarter of the runs says; the
// audit then sees the others.
std::vector<double> by_rank(const std::vector<std::size_t>& all, const std::vector<double>& ranks) {
  std::vector<double> ranked;
  for (std::size_t i = kRuns / 4; i < all.size(); ++i) ranked.push_back(ranks[all[i]]);
  return ranked;
}

double proven_one_way(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b, double delta) {
  std::vector<double> of_a(kPoints + 2, 0.5), of_b(kPoints + 2, 0.5);
  for (std::size_t i = 0; i < kRuns / 4; ++i) {
    ++of_a[a[i]];
    ++of_b[b[i]];
  }
  std::vector<double> ranks;
  for (std::size_t k = 0; k < of_a.size(); ++k) ranks.push_back(std::log(of_a[k] / of_b[k]));
  return EpsilonAudit(delta, kFailure).lower_bound(by_rank(a, ranks), by_rank(b, ranks));
}

// The most that any pattern shows, in either direction.
double proven(double rate, double delta, const Answer& answer) {
  double most = 0;
  for (const LossAt loss_at : kPatterns) {
    const auto with = answers(true, loss_at, rate, answer);
    const auto without = answers(false, loss_at, rate, answer);
    most = std::max({most, proven_one_way(with, without, delta), proven_one_way(without, with, delta)});
  }
  return most;
}

double claim(const Event& event, double rate, double delta) {
  return account(Event::poisson_sampled(rate, event), Relation::add_remove, Accountant::rdp, delta).epsilon;
}

// --- NoisyBTLS

constexpr std::array<double, 1> kStart = {0};
constexpr std::array<double, 1> kDirection = {1};
constexpr std::array<double, kPoints> kSteps = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

Answer search_with(const std::variant<LaplaceSearch, GaussianSearch>& noise, double margin = 0) {
  return [=](PrivateOracle& oracle) {
    const std::vector<double> margins(kPoints, margin);
    const auto found = oracle.first_decrease({kStart, kDirection, kSteps}, margins, {.noise = noise});
    return found->point.value_or(kPoints);
  };
}

// Pure DP, sampled. [Balle18b, Thm 8]
double pure_claim(double epsilon, double rate) {
  return std::log1p(rate * std::expm1(epsilon));
}

constexpr double kEpsilon = 3;

TEST(SearchAudit, LaplaceStaysUnderItsClaim) {
  for (const double rate : {1.0, 0.5}) {
    for (const double margin : {0.0, 1.0}) {
      const double found = proven(rate, 0, search_with(LaplaceSearch::with_epsilon(kEpsilon), margin));
      EXPECT_LE(found, pure_claim(kEpsilon, rate)) << rate;
      EXPECT_GT(found, 0.25 * pure_claim(kEpsilon, rate)) << rate;  // a weak attack would show little
    }
  }
}

// Half the noise is what the real search draws for twice the epsilon; the claim remains that of the epsilon.
TEST(SearchAudit, LaplaceWithHalfTheNoiseIsFoundOut) {
  for (const double rate : {1.0, 0.5}) {
    EXPECT_GT(proven(rate, 0, search_with(LaplaceSearch::with_epsilon(2 * kEpsilon))),
              pure_claim(kEpsilon, rate))
        << rate;
  }
}

// Of the Gaussian form half the noise cannot be seen: its claim allows for points that move by the whole
// bound both ways, which the losses of one row, all within the bound of each other, cannot. A quarter is
// seen.
TEST(SearchAudit, GaussianStaysUnderItsClaimAndAQuarterOfTheNoiseIsFoundOut) {
  const GaussianSearch honest{.threshold_noise = 3, .query_noise = 4};
  const GaussianSearch broken{.threshold_noise = 3.0 / 4, .query_noise = 4.0 / 4};
  for (const double rate : {1.0, 0.5}) {
    const double claimed = claim(DecreaseQuery{.noise = honest}.event(kPoints), rate, kDelta);
    EXPECT_LE(proven(rate, kDelta, search_with(honest)), claimed) << rate;
    EXPECT_LE(proven(rate, kDelta, search_with(honest, 4)), claimed) << rate;
  }
  EXPECT_GT(proven(1, kDelta, search_with(broken)),
            claim(DecreaseQuery{.noise = honest}.event(kPoints), 1, kDelta));
}

// --- DP-AGD's noisy minimum

Answer minimum_with(double epsilon, SelectionNoise noise) {
  return [=](PrivateOracle& oracle) {
    return *oracle.minimum_along({kStart, kDirection, kSteps}, {.epsilon = epsilon, .noise = noise});
  };
}

// The minimum with its noise added to the losses instead of subtracted, written out once more: the smallest
// of loss + noise of scale 2 / epsilon, as NoisyMax would be with the wrong sign.
double proven_of_flipped_minimum(double epsilon, SelectionNoise noise) {
  const auto run = [&](bool with_the_row, LossAt loss_at) {
    SeededRandom random(with_the_row ? 41 : 42);
    std::vector<std::size_t> all;
    for (int i = 0; i < kRuns; ++i) {
      std::size_t best = 0;
      double least = 0;
      for (std::size_t k = 0; k < kPoints; ++k) {
        const double standard = exponential(random, 1.0);
        const double drawn = noise == SelectionNoise::gumbel ? -std::log(standard) : standard;
        const double value = (with_the_row ? loss_at(k + 1) : 0) + 2 / epsilon * drawn;
        if (k == 0 || value < least) {
          least = value;
          best = k;
        }
      }
      all.push_back(best);
    }
    return all;
  };
  double most = 0;
  for (const LossAt loss_at : kPatterns) {
    const auto with = run(true, loss_at);
    const auto without = run(false, loss_at);
    most = std::max({most, proven_one_way(with, without, 0), proven_one_way(without, with, 0)});
  }
  return most;
}

// The scale allows for losses that move apart by twice the bound; those of one row move apart by the bound
// only. So it takes a quarter of the noise to be found out.
TEST(MinimumAudit, StaysUnderItsClaimAndAQuarterOfTheNoiseIsFoundOut) {
  for (const SelectionNoise noise : {SelectionNoise::gumbel, SelectionNoise::exponential}) {
    for (const double rate : {1.0, 0.5}) {
      EXPECT_LE(proven(rate, 0, minimum_with(1, noise)), pure_claim(1, rate)) << rate;
      EXPECT_GT(proven(rate, 0, minimum_with(4, noise)), pure_claim(1, rate)) << rate;
    }
  }
}

TEST(MinimumAudit, AFlippedSignIsFoundOut) {
  for (const SelectionNoise noise : {SelectionNoise::gumbel, SelectionNoise::exponential}) {
    EXPECT_GT(proven_of_flipped_minimum(1, noise), 1);
  }
}

}  // namespace
}  // namespace ration::testing
