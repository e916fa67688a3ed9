// Methods that choose their next query by what they have seen, under every filter they may run with: in a
// thousand randomised runs no total exceeds the budget, the released events add up to what the filter says,
// and what is refused changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "methods/agd.h"
#include "methods/line_search.h"
#include "methods/scripted_objective.h"
#include "methods/search_noise.h"
#include "objectives/tables.h"
#include "ration/privacy/certificate.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

enum class Kind { blsgd_laplace, blsgd_gaussian, blsgd_ac, blgd, agd };
constexpr Kind kKinds[] = {Kind::blsgd_laplace, Kind::blsgd_gaussian, Kind::blsgd_ac, Kind::blgd, Kind::agd};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>()(engine_));
  }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

struct Case {
  Case(Kind kind, double rate, std::uint64_t seed) : draws(seed) {
    const auto loss = draws.whole(0, 1) == 0 ? GlmLoss::logistic : GlmLoss::hinge;
    const auto rows = static_cast<std::size_t>(draws.whole(1, 30));
    objective =
        glm(loss, random_table(loss, Storage::dense, rows, 3, draws.whole(0, 1) == 0, draws.engine()));
    const TableSize table{.rows = rows, .declared_rows = draws.between(5, 50)};
    if (rate < 1) {
      sampler = std::make_unique<PoissonSampler>(table, rate);
    } else {
      sampler = std::make_unique<FullSampler>(table, Relation::add_remove);
    }
    budget = {.epsilon = draws.between(0.05, 8), .delta = draws.between(1e-10, 1e-3)};
    if (kind == Kind::agd) {
      choose_agd();
    } else {
      choose_line_search(kind);
    }
  }

  void choose_line_search(Kind kind) {
    LineSearchOptions options = convex_line_search(budget.epsilon * draws.between(1, 60));
    options.search = LaplaceSearch::with_epsilon(budget.epsilon * draws.between(0.003, 0.3));
    options.candidates = draws.whole(1, 12);
    if (kind == Kind::blsgd_gaussian) {
      options.search =
          gaussian_search_of(std::pow(budget.epsilon * draws.between(0.003, 0.3), 2) / 2, options.candidates);
    }
    if (kind == Kind::blsgd_ac) options.decay = BoundDecay{};
    if (kind == Kind::blgd) options.growth = RaiseGradient{draws.between(0.1, 1)};
    options.first_step = draws.between(0.1, 10);
    query = GradientQuery{.noise_multiplier = 1 / std::sqrt(2 * options.gradient_rho)}.event();
    typical = line_search_event(options, *sampler);
    make = [=] { return make_line_search_descent(options, 3); };
  }

  void choose_agd() {
    AgdOptions options = agd_for(budget.epsilon * draws.between(1, 30));
    options.candidates = draws.whole(2, 21);
    options.raise = draws.between(0.1, 1);
    query = GradientQuery{.noise_multiplier = 1 / std::sqrt(2 * options.gradient_rho)}.event();
    make = [=] { return make_agd(options, 3); };
  }

  Draws draws;
  std::unique_ptr<Objective> objective;
  std::unique_ptr<Sampler> sampler;
  Budget budget;
  Event query = Event::nothing();
  Event typical = Event::gaussian(1);
  std::function<std::unique_ptr<Method>()> make;
};

// Passes queries on, and remembers the last one that was refused.
class Watched final : public BudgetFilter {
 public:
  explicit Watched(BudgetFilter& real) : real_(real) {}
  bool fits(const Event& event) const override { return real_.fits(event); }
  bool spend(const Event& event) override {
    const bool granted = real_.spend(event);
    if (!granted) refused = event;
    return granted;
  }
  double spent_epsilon() const override { return real_.spent_epsilon(); }
  double spent_share() const override { return real_.spent_share(); }

  Event refused = Event::nothing();

 private:
  BudgetFilter& real_;
};

void expect_certificate_holds(const Event& released, Accountant accountant, const Budget& budget) {
  Certificate certificate = certify(released, Relation::add_remove, accountant, budget, SpendingBy::outputs);
  certificate.secure_random = true;
  EXPECT_THAT(verify(certificate).problems, ::testing::IsEmpty());
}

void expect_sound_run(Kind kind, Accountant accountant, double rate, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << " " << to_string(accountant) << " rate "
                                    << rate << " seed " << seed);
  Case run(kind, rate, seed);
  const auto real = make_filter(accountant, run.budget, Relation::add_remove, run.typical);
  Watched filter(*real);
  SeededRandom random(seed);
  PrivateOracle oracle(*run.objective, *run.sampler, filter, random);
  const auto method = run.make();
  while (method->step(oracle)) {
    ASSERT_LE(filter.spent_epsilon(), run.budget.epsilon);
  }
  // The events reproduce the filter's figure.
  const Event released = oracle.released();
  const double epsilon = account(released, Relation::add_remove, accountant, run.budget.delta).epsilon;
  EXPECT_LE(epsilon, run.budget.epsilon * (1 + 1e-9));
  EXPECT_LE(epsilon, filter.spent_epsilon() * (1 + 1e-9));
  const auto again = make_filter(accountant, run.budget, Relation::add_remove, run.typical);
  EXPECT_EQ(again->spend(released), true);
  EXPECT_NEAR(again->spent_share(), filter.spent_share(), 1e-9);
  EXPECT_NEAR(again->spent_epsilon(), filter.spent_epsilon(), 1e-9 * run.budget.epsilon);
  if (seed % 10 == 0) expect_certificate_holds(released, accountant, run.budget);
  // What was refused is refused again, and nothing changes.
  ASSERT_NE(filter.refused.describe(), Event::nothing().describe());
  const double share = filter.spent_share();
  EXPECT_FALSE(filter.fits(filter.refused));
  EXPECT_FALSE(filter.spend(filter.refused));
  EXPECT_FALSE(method->step(oracle));
  EXPECT_EQ(filter.spent_share(), share);
  EXPECT_EQ(oracle.released().describe(), released.describe());
}

std::string name_of(const ::testing::TestParamInfo<Kind>& info) {
  const char* const names[] = {"BlsgdLaplace", "BlsgdGaussian", "BlsgdAc", "Blgd", "Agd"};
  return names[static_cast<int>(info.param)];
}

class AdaptiveBudget : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Each, AdaptiveBudget, ::testing::ValuesIn(kKinds), name_of);

// 5 methods x (100 runs by samples and 50 + 50 on all rows) = 1,000 runs.
TEST_P(AdaptiveBudget, IsNeverExceededBySampledRuns) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    expect_sound_run(GetParam(), Accountant::rdp, seed % 2 == 0 ? 0.1 : 0.5, seed);
  }
}

TEST_P(AdaptiveBudget, IsNeverExceededOnAllRows) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    expect_sound_run(GetParam(), Accountant::rdp, 1, seed);
    expect_sound_run(GetParam(), Accountant::zcdp, 1, seed);
  }
}

// No theorem: zCDP and GDP of samples, GDP of a search or a choice, plans fixed in advance.
TEST_P(AdaptiveBudget, IsRefusedWhereNoTheoremHolds) {
  const auto refused = [&](Accountant accountant, double rate) {
    Case run(GetParam(), rate, 1);
    return refusal([&] {
      const auto filter = make_filter(accountant, run.budget, Relation::add_remove, run.typical);
      SeededRandom random(1);
      PrivateOracle oracle(*run.objective, *run.sampler, *filter, random);
      const auto method = run.make();
      while (method->step(oracle)) {
      }
    });
  };
  EXPECT_THAT(refused(Accountant::zcdp, 0.5), HasSubstr("zcdp"));
  EXPECT_THAT(refused(Accountant::gdp, 0.5), HasSubstr("gdp"));
  EXPECT_THAT(refused(Accountant::gdp, 1), HasSubstr("gdp"));
  EXPECT_THAT(refused(Accountant::pld, 1), HasSubstr("needs a plan fixed before the run"));
}

// --- states

TEST_P(AdaptiveBudget, ARunGoesOnFromItsStateBitByBit) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto finish = [&](Method& method, PrivateOracle& oracle) {
      while (method.step(oracle)) {
      }
      return method.save();
    };
    Case run(GetParam(), 1, seed);
    const auto run_in_two = [&](std::int64_t stop_after) {
      const auto filter = make_filter(Accountant::zcdp, run.budget, Relation::add_remove);
      SeededRandom random(seed);
      PrivateOracle oracle(*run.objective, *run.sampler, *filter, random);
      const auto first = run.make();
      for (std::int64_t i = 0; i < stop_after && first->step(oracle); ++i) {
      }
      const auto second = run.make();
      second->restore(first->save());
      EXPECT_EQ(second->save(), first->save());
      return finish(*second, oracle);
    };
    const MethodState whole = run_in_two(0);
    EXPECT_EQ(run_in_two(1), whole);
    EXPECT_EQ(run_in_two(13), whole);
  }
}

TEST_P(AdaptiveBudget, AStateOfAnotherKindIsRefused) {
  const auto method = Case(GetParam(), 1, 1).make();
  const MethodState good = method->save();
  for (const auto& [name, value] : good) {
    MethodState state = good;
    state.erase(name);
    EXPECT_THAT(refusal([&] { method->restore(state); }), HasSubstr("lacks '" + name + "'"));
    state = good;
    state[name].push_back(1);
    EXPECT_NE(refusal([&] { method->restore(state); }), "") << name;
  }
  for (const double wrong : {-1.0, 0.5}) {
    MethodState state = good;
    state["step"] = {wrong};
    EXPECT_NE(refusal([&] { method->restore(state); }), "") << wrong;
  }
  MethodState state = good;
  state["gradient_rho"] = {0};
  EXPECT_NE(refusal([&] { method->restore(state); }), "");
}

}  // namespace
}  // namespace ration::testing
