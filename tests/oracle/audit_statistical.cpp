// Two neighbouring tables are told apart by what the oracle says about them, as well as anyone could: the row
// that only one of them has pulls at full length where the others do not pull at all. What is proven about
// epsilon, with 99.9 % confidence, stays below the claim; half the noise is found out.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "objectives/tables.h"
#include "oracle/epsilon_audit.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/accountant.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

constexpr double kDelta = 1e-3;
constexpr double kFailure = 1e-3;
constexpr int kRuns = 200'000;  // on each table

// The neighbours' gradients are zero, the row's own is ten times the bound.
std::unique_ptr<Objective> table(bool with_the_row) {
  Vector features(6, 0.0), labels(6, 0.0);
  if (with_the_row) {
    features.push_back(10);
    labels.push_back(-10);
  }
  return glm(GlmLoss::squared, store(Storage::dense, 1, features, labels));
}

// A row that is (10, 10) where the others are zero.
std::unique_ptr<Objective> table_of_two_columns(bool with_the_row) {
  Vector features(12, 0.0), labels(6, 0.0);
  if (with_the_row) {
    features.insert(features.end(), {10, 10});
    labels.push_back(-10);
  }
  return glm(GlmLoss::squared, store(Storage::dense, 2, features, labels));
}

// Somebody with eight rows, all of which pull alike; the others have one each.
std::unique_ptr<Objective> eight_rows(bool with_them, bool as_a_unit) {
  Vector features(6, 0.0), labels(6, 0.0);
  std::vector<std::size_t> starts{0, 1, 2, 3, 4, 5, 6};
  if (with_them) {
    features.insert(features.end(), 8, 10.0);
    labels.insert(labels.end(), 8, -10.0);
    starts.push_back(14);
  }
  return make_glm(store(Storage::dense, 1, features, labels),
                  {.loss = GlmLoss::squared,
                   .threads = 1,
                   .units = as_a_unit ? std::make_shared<const Units>(starts, 8) : nullptr});
}
std::unique_ptr<Objective> eight_rows_of_a_unit(bool with_them) {
  return eight_rows(with_them, true);
}
std::unique_ptr<Objective> eight_rows_apart(bool with_them) {
  return eight_rows(with_them, false);
}

// What an attacker makes of a run: a number that is larger if the row is there.
using Attack = std::function<double(PrivateOracle&)>;

struct Audited {
  double proven;  // of epsilon
  Event released;
};

using Table = std::unique_ptr<Objective> (*)(bool with_the_row);

Audited audit(const Attack& attack, double rate, Table table = table) {
  Event released = Event::nothing();
  const auto statistics = [&](bool with_the_row) {
    const auto objective = table(with_the_row);
    const PoissonSampler sampler({.rows = objective->rows(), .declared_rows = 6}, rate);
    GenerousFilter filter;
    SeededRandom random(with_the_row ? 21 : 22);
    Vector values;
    for (int i = 0; i < kRuns; ++i) {
      PrivateOracle oracle(*objective, sampler, filter, random);
      values.push_back(attack(oracle));
      released = oracle.released();
    }
    return values;
  };
  const Vector with = statistics(true);
  const Vector without = statistics(false);
  return {EpsilonAudit(kDelta, kFailure).lower_bound(with, without), released};
}

double claim(const Event& event, Accountant accountant) {
  return account(event, Relation::add_remove, accountant, kDelta).epsilon;
}

// The likelihood ratio of `steps` sampled gradients.
Attack watch_gradients(double noise, double rate, int steps) {
  return [=](PrivateOracle& oracle) {
    const double w = 0;
    double ratio = 0;
    for (int i = 0; i < steps; ++i) {
      double mean = 0;
      EXPECT_TRUE(oracle.gradient(std::span(&w, 1), {.clip = Abadi{1}, .noise_multiplier = noise},
                                  std::span(&mean, 1)));
      const double sum = mean * 6 * rate;
      ratio += std::log(1 - rate + rate * std::exp((sum - 0.5) / (noise * noise)));
    }
    return ratio;
  };
}

void expect_claim_holds_and_half_the_noise_is_found_out(double noise, double rate, int steps) {
  const Audited audited = audit(watch_gradients(noise, rate, steps), rate);
  const Event claimed = Event::repeated(Event::poisson_sampled(rate, Event::gaussian(noise)), steps);
  const Event twice = Event::repeated(Event::poisson_sampled(rate, Event::gaussian(2 * noise)), steps);
  EXPECT_EQ(claim(audited.released, Accountant::pld), claim(claimed, Accountant::pld));
  EXPECT_LE(audited.proven, claim(claimed, Accountant::pld));
  EXPECT_LE(audited.proven, claim(claimed, Accountant::rdp));
  EXPECT_GT(audited.proven, claim(twice, Accountant::pld));
  EXPECT_GT(audited.proven, 0.6 * claim(claimed, Accountant::pld));  // a weak attack would show little
}

// With a unit the claim holds for whoever has eight rows, and is not far from what is found out. Without one
// it is for rows, and says little of them.
TEST(OracleAudit, SomebodyWithEightRows) {
  constexpr double kNoise = 2;
  const double claimed = claim(Event::gaussian(kNoise), Accountant::gdp);
  const Attack attack = watch_gradients(kNoise, 1, 1);
  const double as_a_unit = audit(attack, 1, eight_rows_of_a_unit).proven;
  EXPECT_LE(as_a_unit, claimed);
  EXPECT_GT(as_a_unit, 0.6 * claimed);
  EXPECT_GT(audit(attack, 1, eight_rows_apart).proven, 4 * claimed);
}

TEST(OracleAudit, OneSampledGradient) {
  expect_claim_holds_and_half_the_noise_is_found_out(0.8, 0.5, 1);
}

TEST(OracleAudit, FiveSampledGradients) {
  expect_claim_holds_and_half_the_noise_is_found_out(1.5, 0.3, 5);
}

// Five gradients of one batch. Had each been amplified by itself, the claim would be false.
TEST(OracleAudit, FiveGradientsOfOneSample) {
  constexpr double kNoise = 2;
  constexpr double kRate = 0.1;
  constexpr int kQueries = 5;
  const GradientQuery query{.clip = Abadi{1}, .noise_multiplier = kNoise};
  const Audited audited = audit(
      [&](PrivateOracle& oracle) {
        const double w = 0;
        double sum = 0;
        double mean = 0;
        auto sample = oracle.one_sample(std::vector<Event>(kQueries, query.event()));
        for (int i = 0; i < kQueries; ++i) {
          sample->gradient(std::span(&w, 1), query, std::span(&mean, 1));
          sum += mean;
        }
        return sum;
      },
      kRate);
  const Event parts = Event::repeated(Event::poisson_sampled(kRate, Event::gaussian(kNoise)), kQueries);
  EXPECT_LE(audited.proven, claim(audited.released, Accountant::rdp));
  EXPECT_GT(audited.proven, claim(parts, Accountant::pld));
}

// What a sampled sum says that is 1, by the likelihood ratio, if the row was drawn.
double ratio_of(double sum, double noise, double rate) {
  return std::log(1 - rate + rate * std::exp((sum - 0.5) / (noise * noise)));
}

void expect_claim_of_one_answer_holds(const Audited& audited, double noise, double rate) {
  const Event claimed = Event::poisson_sampled(rate, Event::gaussian(noise));
  EXPECT_EQ(claim(audited.released, Accountant::pld), claim(claimed, Accountant::pld));
  EXPECT_LE(audited.proven, claim(claimed, Accountant::pld));
  EXPECT_GT(audited.proven, claim(Event::poisson_sampled(rate, Event::gaussian(2 * noise)), Accountant::pld));
  EXPECT_GT(audited.proven, 0.6 * claim(claimed, Accountant::pld));
}

constexpr double kRowNoise = 0.8;
constexpr double kRowRate = 0.5;

TEST(OracleAudit, OneSampledMeanOfRows) {
  const Attack attack = [](PrivateOracle& oracle) {
    Vector mean(2);
    EXPECT_TRUE(oracle.mean_of_rows({.bound = 3, .noise_multiplier = kRowNoise}, mean));
    const double along = (mean[0] + mean[1]) / std::sqrt(2) * 6 * kRowRate / 3;
    return ratio_of(along, kRowNoise, kRowRate);
  };
  expect_claim_of_one_answer_holds(audit(attack, kRowRate, table_of_two_columns), kRowNoise, kRowRate);
}

// The row's products are all the same, beside the diagonal as on it, and their weights are those with which
// they are released.
TEST(OracleAudit, OneSampledSecondMoment) {
  const Attack attack = [](PrivateOracle& oracle) {
    Vector upper(3);
    oracle.look_through(
        std::make_shared<const RowView>(2, std::vector<std::size_t>{0, 1}, 2, Vector{7, 0, 0, 7}));
    EXPECT_TRUE(oracle.second_moment({.bound = 3, .noise_multiplier = kRowNoise}, upper));
    const double along = (0.5 * upper[0] + upper[1] + 0.5 * upper[2]) * 6 * kRowRate / 9;
    return ratio_of(along, kRowNoise, kRowRate);
  };
  expect_claim_of_one_answer_holds(audit(attack, kRowRate, table_of_two_columns), kRowNoise, kRowRate);
}

// The map turns the row onto an axis, and makes it longer.
TEST(OracleAudit, OneSampledGradientOfWhatIsSeen) {
  const Attack attack = [](PrivateOracle& oracle) {
    oracle.look_through(
        std::make_shared<const RowView>(2, std::vector<std::size_t>{0, 1}, 2, Vector{30, 30, 30, -30}));
    Vector mean(2);
    EXPECT_TRUE(oracle.gradient(Vector(2, 0.0), {.clip = Abadi{1}, .noise_multiplier = kRowNoise}, mean));
    return ratio_of(mean[0] * 6 * kRowRate, kRowNoise, kRowRate);
  };
  expect_claim_of_one_answer_holds(audit(attack, kRowRate, table_of_two_columns), kRowNoise, kRowRate);
}

}  // namespace
}  // namespace ration::testing
