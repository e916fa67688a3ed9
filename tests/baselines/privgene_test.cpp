#include "baselines/privgene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/bench.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using Vector = std::vector<double>;

TEST(PrivGene, FindsAGoodVectorIfItMay) {
  BaselineBench bench;
  SeededRandom chance(3);
  const auto method = make_privgene({.rounds = 30, .selection_epsilon = 100}, 3, chance);
  EXPECT_GT(bench.accuracy(bench.run(*method)), 0.85);
}

TEST(PrivGene, SelectsByChanceIfItMayNot) {
  BaselineBench bench;
  SeededRandom chance(3);
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    const auto method = make_privgene({.rounds = 4, .selection_epsilon = 1e-6}, 3, chance);
    sum += bench.accuracy(bench.run(*method));
  }
  EXPECT_LT(sum / 40, 0.7);
}

TEST(PrivGene, IsChargedAsPlanned) {
  const PrivGeneOptions options{.rounds = 5, .selection_epsilon = 0.25};
  BaselineBench bench;
  SeededRandom chance(3);
  const auto method = make_privgene(options, 3, chance);
  for (std::int64_t round = 1; round <= 5; ++round) {
    ASSERT_TRUE(method->step(bench.oracle));
    EXPECT_EQ(method->report().step, round);
    EXPECT_NEAR(method->report().learning_rate, 2 * std::pow(0.8, round), 1e-12);
  }
  EXPECT_FALSE(method->step(bench.oracle));
  EXPECT_EQ(bench.journal, Journal(5, Event::bounded_range(0.25).describe()));
  EXPECT_EQ(privgene_event(options).describe(), Event::repeated(Event::bounded_range(0.25), 5).describe());
}

TEST(PrivGene, ARefusedRoundChangesNothing) {
  BaselineBench bench(GlmLoss::logistic, Relation::add_remove, 2);
  SeededRandom chance(3);
  const auto method = make_privgene({}, 3, chance);
  ASSERT_TRUE(method->step(bench.oracle));
  ASSERT_TRUE(method->step(bench.oracle));
  const MethodState before = method->save();
  EXPECT_FALSE(method->step(bench.oracle));
  EXPECT_EQ(method->save(), before);
}

// The children as the comment says: the selected vector, crosses with the one before, mutations of falling
// size.
TEST(PrivGene, ChildrenAreCrossesAndMutations) {
  BaselineBench bench;
  SeededRandom chance(3);
  constexpr std::size_t kSize = 3;
  const PrivGeneOptions options{.population = 400, .mutation = 1e-3, .mutation_decay = 0.5};
  const auto method = make_privgene(options, kSize, chance);
  double expected = 1e-3;
  for (int round = 0; round < 3; ++round) {
    const MethodState state = method->save();
    const Vector &selected = state.at("weights"), &before = state.at("before"),
                 &children = state.at("children");
    double squares = 0, crossed = 0;
    for (std::size_t i = 0; i < kSize; ++i) EXPECT_EQ(children[i], selected[i]);
    for (std::size_t child = 1; child < 400; ++child) {
      for (std::size_t i = 0; i < kSize; ++i) {
        const double gene = children[child * kSize + i];
        if (child % 2 == 0) squares += (gene - selected[i]) * (gene - selected[i]);
        if (child % 2 == 1 && std::abs(gene - before[i]) < std::abs(gene - selected[i])) crossed += 1;
      }
    }
    EXPECT_NEAR(std::sqrt(squares / 199), expected, 0.15 * expected);
    if (round > 0) {
      EXPECT_NEAR(crossed / (200 * kSize), 0.5, 0.15);
    }
    expected *= 0.5;
    ASSERT_TRUE(method->step(bench.oracle));
    // It selects one of the children.
    const Vector chosen = bench.weights_of(*method);
    bool found = false;
    for (std::size_t child = 0; child < 400; ++child) {
      found =
          found || std::equal(chosen.begin(), chosen.end(), children.begin() + std::ptrdiff_t(child * kSize));
    }
    EXPECT_TRUE(found);
    EXPECT_EQ(method->save().at("before"), selected);
  }
}

TEST(PrivGene, GoesOnFromItsState) {
  BaselineBench bench;
  SeededRandom chance(3), other_chance(4);
  const auto first = make_privgene({}, 3, chance);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(first->step(bench.oracle));
  const auto second = make_privgene({}, 3, other_chance);
  second->restore(first->save());
  EXPECT_EQ(second->save(), first->save());
  EXPECT_EQ(second->report().step, 3);
  int rounds = 3;
  while (second->step(bench.oracle)) ++rounds;
  EXPECT_EQ(rounds, 8);
  const MethodState good = first->save();
  for (const auto& [name, value] : good) {
    MethodState state = good;
    state.erase(name);
    EXPECT_THAT(refusal([&] { second->restore(state); }), HasSubstr("lacks '" + name + "'"));
    state = good;
    state[name].push_back(1);
    EXPECT_NE(refusal([&] { second->restore(state); }), "") << name;
  }
}

TEST(PrivGene, RefusesOptionsWithoutMeaning) {
  const auto reason = [](const PrivGeneOptions& options) {
    SeededRandom chance(1);
    return refusal([&] { make_privgene(options, 3, chance); });
  };
  EXPECT_THAT(reason({.rounds = 0}), HasSubstr("rounds"));
  EXPECT_THAT(reason({.population = 1}), HasSubstr("population"));
  EXPECT_THAT(reason({.selection_epsilon = 0}), HasSubstr("selection_epsilon"));
  EXPECT_THAT(reason({.loss_bound = 0}), HasSubstr("loss_bound"));
  EXPECT_THAT(reason({.mutation = 0}), HasSubstr("mutation"));
  EXPECT_THAT(reason({.mutation_decay = 1.1}), HasSubstr("mutation_decay"));
}

}  // namespace
}  // namespace ration::testing
