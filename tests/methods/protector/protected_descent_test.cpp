// Descent by a protector, under every filter it may run with. What a protector says does not matter here:
// none was trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "methods/protector/protectors.h"
#include "objectives/tables.h"
#include "ration/clipping/sensitivity.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/certificate.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

struct Setting {
  const char* name;
  Accountant accountant;
  bool sampled;
  NormSource norm = NormSource::previous;
  bool scheduler = true;
};

const std::vector<Setting> kSettings = {
    {"GdpFull", Accountant::gdp, false},
    {"ZcdpFull", Accountant::zcdp, false},
    {"RdpFull", Accountant::rdp, false},
    {"TcdpFull", Accountant::tcdp, false},
    {"RdpFixed", Accountant::rdp, true},
    {"TcdpFixed", Accountant::tcdp, true},
    {"GdpFullNorm", Accountant::gdp, false, NormSource::released},
    {"RdpFixedNorm", Accountant::rdp, true, NormSource::released},
    {"TcdpFixedNorm", Accountant::tcdp, true, NormSource::released},
    {"GdpProjector", Accountant::gdp, false, NormSource::previous, false},
    {"RdpFixedProjector", Accountant::rdp, true, NormSource::previous, false},
};

constexpr std::uint64_t kRows = 2'000;
constexpr std::uint64_t kBatch = 40;

// One run on a small table.
struct Bench {
  Bench(const Setting& of, std::uint64_t seed, double spread = 1) : setting(of), random(seed) {
    std::mt19937_64 draws(seed);
    const auto between = [&](double low, double high) {
      return low * std::pow(high / low, std::uniform_real_distribution<double>()(draws));
    };
    budget = {.epsilon = between(0.05, 2), .delta = between(1e-10, 1e-5)};
    steps = std::uniform_int_distribution<std::int64_t>(2, 40)(draws);
    protector =
        std::make_shared<const Protector>(untrained_protector(seed, {.units = 3,
                                                                     .norm = of.norm,
                                                                     .scheduler = of.scheduler,
                                                                     .spread = spread,
                                                                     .norm_noise_ratio = between(1, 5)}));
    if (of.sampled) {
      // The paper's conditions ask for many steps on batches that are not too small.
      if (of.accountant == Accountant::tcdp) budget.epsilon = between(0.01, 0.05), steps += 100;
      sampler = std::make_unique<FixedSizeSampler>(kRows, kBatch);
    } else {
      sampler = std::make_unique<FullSampler>(TableSize{.rows = kRows, .declared_rows = kRows},
                                              Relation::replace_one);
    }
    const NoiseRange range = protector_noise(*protector, *sampler, of.accountant, budget, steps);
    options = {.protector = protector,
               .clip = Abadi{1},
               .noise = range.even,
               .least_noise = range.least,
               .floor = range.floor};
    filter = new_filter();
  }

  std::unique_ptr<BudgetFilter> new_filter() const {
    std::vector<Event> parts;
    for (const Event& event : protected_step_events(*protector, options.noise))
      parts.push_back(sampler->sampled(event));
    return make_filter(setting.accountant, budget, sampler->relation(), Event::composed(std::move(parts)));
  }
  std::vector<double> slopes() {
    std::vector<double> values(kRows);
    for (std::size_t i = 0; i < kRows; ++i) values[i] = i % 3 == 0 ? -1 : 0.5;
    return values;
  }

  Setting setting;
  SeededRandom random;
  Budget budget;
  std::int64_t steps = 1;
  std::shared_ptr<const Protector> protector;
  std::unique_ptr<Sampler> sampler;
  ProtectedDescentOptions options;
  std::unique_ptr<BudgetFilter> filter;
};

class ProtectedDescent : public ::testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(Each, ProtectedDescent, ::testing::ValuesIn(kSettings),
                         [](const auto& info) { return std::string(info.param.name); });

// 3 settings on samples by RDP x 16 seeds, which take longest, and 8 others x 120: 1,008 runs. None spends
// more than its budget, and all spend it but for 2 %.
TEST_P(ProtectedDescent, SpendsItsBudgetAndNeverMore) {
  const bool takes_long = GetParam().sampled && GetParam().accountant == Accountant::rdp;
  for (std::uint64_t seed = 1; seed <= (takes_long ? 16u : 120u); ++seed) {
    SCOPED_TRACE(seed);
    Bench run(GetParam(), seed, seed % 3 == 0 ? 3 : 0.5);
    RecordingObjective objective(run.slopes(), 3);
    PrivateOracle oracle(objective, *run.sampler, *run.filter, run.random);
    const auto method = make_protected_descent(run.options, 3);
    std::int64_t taken = 0;
    while (method->step(oracle)) {
      ASSERT_LE(run.filter->spent_share(), 1);
      ASSERT_LE(run.filter->spent_epsilon(), run.budget.epsilon);
      ASSERT_EQ(method->report().step, ++taken);
      ASSERT_LT(taken, 1000);
    }
    EXPECT_GE(run.filter->spent_share(), 0.98);
    const Event released = oracle.released();
    EXPECT_LE(account(released, Relation::replace_one, GetParam().accountant, run.budget.delta).epsilon,
              run.budget.epsilon * (1 + 1e-9));
    EXPECT_TRUE(run.new_filter()->spend(released));
    EXPECT_FALSE(method->step(oracle));  // asking again changes nothing
    EXPECT_EQ(oracle.released().describe(), released.describe());
    if (seed % 15 != 0) continue;
    Certificate certificate =
        certify(released, Relation::replace_one, GetParam().accountant, run.budget, SpendingBy::outputs);
    certificate.secure_random = true;
    EXPECT_THAT(verify(certificate).problems, ::testing::IsEmpty());
  }
}

TEST_P(ProtectedDescent, GoesOnFromItsStateBitByBit) {
  const auto run_in_two = [&](std::int64_t stop_after) {
    Bench run(GetParam(), 5);
    RecordingObjective objective(run.slopes(), 19);
    PrivateOracle oracle(objective, *run.sampler, *run.filter, run.random);
    const auto first = make_protected_descent(run.options, 19);
    for (std::int64_t i = 0; i < stop_after && first->step(oracle); ++i) {
    }
    const auto second = make_protected_descent(run.options, 19);
    second->restore(first->save());
    EXPECT_EQ(second->save(), first->save());
    while (second->step(oracle)) {
    }
    return second->save();
  };
  const MethodState whole = run_in_two(0);
  EXPECT_GT(whole.at("step").front(), 2);
  EXPECT_EQ(run_in_two(1), whole);
  EXPECT_EQ(run_in_two(3), whole);
}

TEST_P(ProtectedDescent, AStateOfAnotherKindIsRefused) {
  const auto method = make_protected_descent(Bench(GetParam(), 1).options, 3);
  const MethodState good = method->save();
  for (const auto& [name, value] : good) {
    MethodState state = good;
    state.erase(name);
    EXPECT_THAT(refusal([&] { method->restore(state); }), HasSubstr("lacks '" + name + "'"));
    state = good;
    state[name].push_back(1);
    EXPECT_NE(refusal([&] { method->restore(state); }), "") << name;
  }
}

// --- what it asks for

struct Noted {
  Journal journal;
  std::vector<std::vector<std::uint64_t>> batches;
  std::vector<double> noise;  // of each event
};

Noted note_run(const Setting& setting, std::uint64_t seed) {
  Bench run(setting, seed);
  Noted noted;
  RecordingObjective objective(run.slopes(), 3, &noted.journal);
  const RecordingSampler sampler(*run.sampler, noted.journal);
  PrivateOracle oracle(objective, sampler, *run.filter, run.random);
  const auto method = make_protected_descent(run.options, 3);
  while (method->step(oracle)) {
  }
  noted.batches = objective.batches();
  for (const CountedEvent& one : flatten(oracle.released())) {
    const Event::Node* node = &one.event.node();
    if (const auto* const sampled = std::get_if<Event::FixedSizeSampled>(node)) node = &sampled->base.node();
    for (std::int64_t i = 0; i < one.count; ++i)
      noted.noise.push_back(std::get<Event::Gaussian>(*node).noise_multiplier);
  }
  return noted;
}

// Norm and gradient each draw a batch of their own; no batch serves twice.
TEST(ProtectedDescentQueries, EachDrawsAFreshBatch) {
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.name);
    const Noted noted = note_run(setting, 4);
    ASSERT_EQ(noted.journal.size() % 2, 0u);
    for (std::size_t i = 0; i < noted.journal.size(); i += 2) {
      EXPECT_EQ(noted.journal[i], "draw");
      EXPECT_EQ(noted.journal[i + 1], "gradient");
    }
    if (!setting.sampled) continue;
    for (std::size_t i = 1; i < noted.batches.size(); ++i) {
      EXPECT_EQ(noted.batches[i].size(), kBatch);
      EXPECT_NE(noted.batches[i], noted.batches[i - 1]);
    }
  }
}

TEST(ProtectedDescentQueries, NoiseStaysInTheSchedulersRange) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Setting setting = kSettings[0];
    const Bench run(setting, seed, 3);
    const double least = run.options.floor * (1 - 1e-9);
    const double largest = 2 * run.options.noise - run.options.least_noise;
    for (const double noise : note_run(setting, seed).noise) {
      EXPECT_GE(noise, least);
      EXPECT_LE(noise, largest * (1 + 1e-9));
    }
  }
}

// The projector alone: as many steps as were expected, all with the same noise but perhaps the last.
TEST(ProtectedDescentQueries, WithoutASchedulerNoiseIsEven) {
  for (const char* const name : {"GdpProjector", "RdpFixedProjector"}) {
    const auto setting = std::find_if(kSettings.begin(), kSettings.end(),
                                      [&](const Setting& one) { return std::string(one.name) == name; });
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Bench run(*setting, seed);
      const Noted noted = note_run(*setting, seed);
      EXPECT_EQ(static_cast<std::int64_t>(noted.noise.size()), run.steps) << name << seed;
      for (std::size_t i = 0; i + 1 < noted.noise.size(); ++i)
        EXPECT_DOUBLE_EQ(noted.noise[i], run.options.noise);
      EXPECT_NEAR(noted.noise.back(), run.options.noise, 0.1 * run.options.noise);
    }
  }
}

// The norm that is asked for has the noise of (4m - 3) C^2, whatever the rows hold.
TEST(ProtectedDescentQueries, ANormHasTheNoiseOfReplaceOne) {
  constexpr std::uint64_t kM = 40;
  const FixedSizeSampler sampler(kRows, kM);
  constexpr double kNoise = 0.7, kBound = 2;
  GenerousFilter filter;
  SeededRandom random(1);
  RecordingObjective objective(std::vector<double>(kRows, 1e9), 1);
  PrivateOracle oracle(objective, sampler, filter, random);
  double sum = 0, squares = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<double> w{0.0};
    const double squared =
        *oracle.squared_norm(w, {.clip = Abadi{kBound}, .noise_multiplier = kNoise}) * kM * kM;
    sum += squared;
    squares += squared * squared;
  }
  const double mean = sum / kDraws;
  const double stddev = std::sqrt(squares / kDraws - mean * mean);
  // The estimate is off by about 1 / sqrt(8000) = 1.1 %; 7 % is beyond six deviations, and (2m - 1) C^2 would
  // be half.
  EXPECT_NEAR(stddev, kNoise * (4 * kM - 3) * kBound * kBound, 0.07 * stddev);
  EXPECT_NEAR(mean, std::pow(kM * kBound, 2), 6 * stddev / std::sqrt(kDraws));
}

// What it does depends on the rows through the answers alone: where those are the same, so is everything
// after.
TEST(ProtectedDescentQueries, SeesNothingButAnswers) {
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.name);
    const auto end_with = [&](double hostile) {
      Bench run(setting, 9);
      std::vector<double> slopes = run.slopes();
      for (std::size_t i = 0; i < slopes.size(); i += 5) slopes[i] = hostile;
      RecordingObjective objective(slopes, 3);
      PrivateOracle oracle(objective, *run.sampler, *run.filter, run.random);
      const auto method = make_protected_descent(run.options, 3);
      while (method->step(oracle)) {
      }
      return method->save();
    };
    EXPECT_EQ(end_with(1), end_with(5));  // both are clipped to 1
    EXPECT_NE(end_with(1), end_with(-1));
  }
}

// --- what is refused

TEST(ProtectedDescentOptions, WrongOnesAreRefused) {
  const ProtectedDescentOptions good = Bench(kSettings[0], 1).options;
  const auto refused = [&](auto change) {
    ProtectedDescentOptions options = good;
    change(options);
    return refusal([&] { make_protected_descent(options, 3); });
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_THAT(refused([](auto& o) { o.protector = nullptr; }), HasSubstr("a protector is needed"));
  EXPECT_THAT(refused([](auto& o) { o.noise = 0; }), HasSubstr("noise"));
  EXPECT_THAT(refused([](auto& o) { o.least_noise = 2 * o.noise; }), HasSubstr("least_noise"));
  EXPECT_THAT(refused([](auto& o) { o.start = {1, 2}; }), HasSubstr("expected to begin at 3 numbers"));
  EXPECT_THAT(refused([](auto& o) {
                Protector broken = *o.protector;
                broken.projector.front() = std::numeric_limits<float>::quiet_NaN();
                o.protector = std::make_shared<const Protector>(broken);
              }),
              HasSubstr("a number in projector is not finite"));
}

// A norm over batches whose size is private would leak it.
TEST(ProtectedDescentOptions, AReleasedNormNeedsAPublicSize) {
  Bench run({"", Accountant::gdp, false, NormSource::released}, 1);
  const FullSampler sampler({.rows = kRows, .declared_rows = kRows}, Relation::add_remove);
  const auto filter = make_filter(Accountant::gdp, run.budget, Relation::add_remove);
  RecordingObjective objective(run.slopes(), 3);
  PrivateOracle oracle(objective, sampler, *filter, run.random);
  const auto method = make_protected_descent(run.options, 3);
  EXPECT_NE(refusal([&] { (void)method->step(oracle); }), "");
  EXPECT_EQ(filter->spent_share(), 0);
}

}  // namespace
}  // namespace ration::testing
