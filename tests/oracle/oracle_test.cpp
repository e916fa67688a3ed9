#include "ration/oracle/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "mechanisms/gaussian.h"
#include "objectives/tables.h"
#include "ration/base/error.h"
#include "ration/privacy/certificate.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using Vector = std::vector<double>;

const GradientQuery kGradient{.clip = Abadi{1}, .noise_multiplier = 2};
const DecreaseQuery kDecrease{.loss_bound = 1, .noise = LaplaceSearch{0.5, 0.25}};
const MinimumQuery kMinimum{.loss_bound = 1, .epsilon = 0.5};
const SquaredNormQuery kSquaredNorm{.clip = Abadi{1}, .noise_multiplier = 3};
const CountQuery kCount{.bound = 1, .noise_multiplier = 4};
const MeanOfRowsQuery kMeanOfRows{.bound = 1, .noise_multiplier = 5};
const SecondMomentQuery kSecondMoment{.bound = 1, .noise_multiplier = 6};

// One oracle over a hundred rows, with everything it does written down.
class Door {
 public:
  explicit Door(const Sampler& sampler, std::size_t grants = 1000, double slope = 1)
      : objective(Vector(100, slope), 3, &journal), sampler_(sampler, journal), filter(grants, journal) {}

  Journal journal;
  RecordingObjective objective;

 private:
  RecordingSampler sampler_;

 public:
  RecordingFilter filter;
  CountingRandom random{1};
  PrivateOracle oracle{objective, sampler_, filter, random};

  const Vector w = {1, 0, 0};
  const Vector direction = {0.5, 0, 0};
  const Vector steps = {1, 0.5};
  const Vector margins = {0, 0};
  Vector mean = Vector(3, -7);

  Objective::Line line() const { return {w, direction, steps}; }
  std::vector<Objective::Parameters> candidates() const { return {w, direction}; }
};

// Asks a fresh query; whether it was answered.
struct NamedQuery {
  std::string name;
  std::string event;
  std::function<bool(Door&)> ask;
};

const std::vector<NamedQuery>& queries_of_any_size() {
  static const std::vector<NamedQuery> queries = {
      {"gradient", "Gaussian(noise 2)",
       [](Door& door) { return door.oracle.gradient(door.w, kGradient, door.mean); }},
      {"losses along", "AboveThreshold(Laplace, epsilon 0.5 + 2 x 0.25)",
       [](Door& door) {
         return door.oracle.first_decrease(door.line(), door.margins, kDecrease).has_value();
       }},
      {"losses", "BoundedRange(epsilon 0.5)",
       [](Door& door) { return door.oracle.minimum(door.candidates(), kMinimum).has_value(); }},
      {"losses along", "BoundedRange(epsilon 0.5)",
       [](Door& door) { return door.oracle.minimum_along(door.line(), kMinimum).has_value(); }},
      {"count", "Gaussian(noise 4)",
       [](Door& door) { return door.oracle.count(door.w, kCount).has_value(); }},
      {"rows", "Gaussian(noise 5)",
       [](Door& door) { return door.oracle.mean_of_rows(kMeanOfRows, door.mean); }},
      {"second moment", "Gaussian(noise 6)", [](Door& door) {
         door.oracle.look_through(
             std::make_shared<const RowView>(3, std::vector<std::size_t>{0, 2}, 2, Vector{1, 0, 0, 1}));
         return door.oracle.second_moment(kSecondMoment, door.mean);
       }}};
  return queries;
}
const NamedQuery& squared_norm_query() {
  static const NamedQuery query{"gradient", "Gaussian(noise 3)", [](Door& door) {
                                  return door.oracle.squared_norm(door.w, kSquaredNorm).has_value();
                                }};
  return query;
}

// Every sampler, and how it names the event of what ran on one of its batches.
struct Sampling {
  std::shared_ptr<const Sampler> sampler;
  std::string prefix;
  double divisor;

  std::vector<NamedQuery> queries() const {
    auto queries = queries_of_any_size();
    if (sampler->public_size()) queries.push_back(squared_norm_query());
    return queries;
  }
};

std::vector<Sampling> all_samplers() {
  const TableSize table{.rows = 100, .declared_rows = 80};
  return {{std::make_shared<FullSampler>(table, Relation::add_remove), "", 80},
          {std::make_shared<FullSampler>(TableSize{100, 100}, Relation::replace_one), "", 100},
          {std::make_shared<PoissonSampler>(table, 0.25), "Poisson(0.25) of ", 20},
          {std::make_shared<FixedSizeSampler>(100, 10), "FixedSize(0.1) of ", 10}};
}

TEST(Oracle, ChargesThenDrawsThenReads) {
  for (const Sampling& sampling : all_samplers()) {
    for (const NamedQuery& query : sampling.queries()) {
      Door door(*sampling.sampler);
      ASSERT_TRUE(query.ask(door));
      ASSERT_GE(door.journal.size(), 3u);
      EXPECT_EQ(door.journal[0], sampling.prefix + query.event);
      EXPECT_EQ(door.journal[1], "draw");
      EXPECT_EQ(door.journal[2], query.name);
    }
  }
}

TEST(Oracle, ARefusedQueryDrawsNothingReadsNothingAndChangesNothing) {
  for (const Sampling& sampling : all_samplers()) {
    for (const NamedQuery& query : sampling.queries()) {
      Door door(*sampling.sampler, 0);
      EXPECT_FALSE(query.ask(door));
      EXPECT_THAT(door.journal, ElementsAre("refused " + sampling.prefix + query.event));
      EXPECT_EQ(door.random.words_generated(), 0u);
      EXPECT_THAT(door.mean, Each(-7));
      EXPECT_THAT(flatten(door.oracle.released()), IsEmpty());
    }
    Door door(*sampling.sampler, 0);
    EXPECT_FALSE(door.oracle.one_sample({kGradient.event(), kCount.event()}));
    EXPECT_THAT(door.journal, SizeIs(1));
    EXPECT_EQ(door.random.words_generated(), 0u);
    EXPECT_THAT(flatten(door.oracle.released()), IsEmpty());
  }
}

// A filter that refuses anything but gradients: what a run does not get leaves no trace in what it gets.
TEST(Oracle, ARefusalInBetweenLeavesTheNextAnswerAsItIs) {
  const PoissonSampler sampler({.rows = 100, .declared_rows = 80}, 0.25);
  const auto answers = [&](bool with_refusals) {
    RecordingObjective objective(Vector(100, 1.0), 3);
    const auto filter = make_plan_filter(Event::repeated(sampler.sampled(kGradient.event()), 5),
                                         Accountant::rdp, {100, 1e-5}, Relation::add_remove);
    SeededRandom random(3);
    PrivateOracle oracle(objective, sampler, *filter, random);
    const Vector w(3, 1.0);
    Vector all, mean(3);
    for (int i = 0; i < 5; ++i) {
      if (with_refusals) {
        EXPECT_FALSE(oracle.count(w, kCount));
        EXPECT_FALSE(oracle.one_sample({kCount.event()}));
      }
      EXPECT_TRUE(oracle.gradient(w, kGradient, mean));
      all.insert(all.end(), mean.begin(), mean.end());
    }
    return all;
  };
  EXPECT_EQ(answers(true), answers(false));
}

TEST(Oracle, AnExhaustedBudgetAnswersNothingMore) {
  for (const Sampling& sampling : all_samplers()) {
    Door door(*sampling.sampler, 2);
    EXPECT_TRUE(door.oracle.gradient(door.w, kGradient, door.mean));
    EXPECT_TRUE(door.oracle.count(door.w, kCount));
    const Vector last = door.mean;
    const Journal before = door.journal;
    for (const NamedQuery& query : sampling.queries()) EXPECT_FALSE(query.ask(door));
    EXPECT_EQ(door.mean, last);
    EXPECT_THAT(door.journal, SizeIs(before.size() + sampling.queries().size()));
    EXPECT_THAT(flatten(door.oracle.released()), SizeIs(2));
  }
}

TEST(Oracle, EachQuerySeesAFreshBatch) {
  const PoissonSampler sampler({.rows = 100, .declared_rows = 100}, 0.5);
  Door door(sampler);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(door.oracle.gradient(door.w, kGradient, door.mean));
  ASSERT_THAT(door.objective.batches(), SizeIs(3));
  EXPECT_NE(door.objective.batches()[0], door.objective.batches()[1]);
  EXPECT_NE(door.objective.batches()[1], door.objective.batches()[2]);
}

// More kinds of events than the oracle keeps ready, each several times.
TEST(Oracle, ReleasedIsWhatTheFilterWasCharged) {
  for (const Sampling& sampling : all_samplers()) {
    Door door(*sampling.sampler);
    std::map<std::string, std::int64_t> charged;
    for (int i = 0; i < 60; ++i) {
      const GradientQuery query{.clip = Abadi{1}, .noise_multiplier = 1.0 + i % 12};
      ASSERT_TRUE(door.oracle.gradient(door.w, query, door.mean));
      ASSERT_TRUE(door.oracle.count(door.w, kCount));
    }
    ASSERT_TRUE(door.oracle.one_sample({kGradient.event(), kGradient.event()}));
    for (const std::string& line : door.journal) {
      if (line.find("noise") != std::string::npos) ++charged[line];
    }
    std::map<std::string, std::int64_t> released;
    for (const CountedEvent& one : flatten(door.oracle.released()))
      released[one.event.describe()] += one.count;
    // Without amplification the two gradients of one sample count as what they are.
    if (sampling.prefix.empty()) {
      EXPECT_EQ(charged.erase("[Gaussian(noise 2); Gaussian(noise 2)]"), 1u);
      charged["Gaussian(noise 2)"] += 2;
    }
    EXPECT_EQ(released, charged);
  }
}

TEST(Oracle, TheCertificateOfWhatWasReleasedIsWhatTheFilterCounted) {
  const Budget budget{8, 1e-5};
  for (const Sampling& sampling : all_samplers()) {
    const Relation relation = sampling.sampler->relation();
    RecordingObjective objective(Vector(100, 1.0), 3);
    SeededRandom random(4);
    const auto run = [&](BudgetFilter& filter) {
      PrivateOracle oracle(objective, *sampling.sampler, filter, random);
      const Vector w(3, 1.0);
      Vector mean(3);
      int answered = 0;
      for (int i = 0; i < 20; ++i) answered += oracle.gradient(w, {.noise_multiplier = 6}, mean) ? 1 : 0;
      for (int i = 0; i < 5; ++i) answered += oracle.count(w, {.noise_multiplier = 9}) ? 1 : 0;
      EXPECT_EQ(answered, 25);
      return oracle.released();
    };
    const Event gaussians =
        Event::composed({Event::repeated(sampling.sampler->sampled(Event::gaussian(6)), 20),
                         Event::repeated(sampling.sampler->sampled(Event::gaussian(9)), 5)});
    const auto plan = make_plan_filter(gaussians, Accountant::rdp, budget, relation);
    const Event released = run(*plan);
    const Certificate certificate = certify(released, relation, Accountant::rdp, budget, SpendingBy::plan);
    EXPECT_NEAR(certificate.epsilon, plan->spent_epsilon(), 1e-12 * certificate.epsilon);
    EXPECT_EQ(plan->spent_share(), 1);

    const Event typical = sampling.sampler->sampled(Event::gaussian(6));
    const auto filter = make_rdp_filter(budget, relation, typical);
    const Event by_outputs = run(*filter);
    const auto again = make_rdp_filter(budget, relation, typical);
    ASSERT_TRUE(again->spend(by_outputs));
    EXPECT_NEAR(again->spent_share(), filter->spent_share(), 1e-12);
    EXPECT_LE(certify(by_outputs, relation, Accountant::rdp, budget, SpendingBy::outputs).epsilon_of_events,
              filter->spent_epsilon() * (1 + 1e-9));
  }
}

// A hundred equal rows, of which each answer sees as many as were drawn; next to no noise.
TEST(Oracle, MeansDivideByThePublicDivisor) {
  for (const Sampling& sampling : all_samplers()) {
    Door door(*sampling.sampler, 1000, 0.5);
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(door.oracle.gradient(door.w, {.clip = Abadi{1}, .noise_multiplier = 1e-6}, door.mean));
      const auto drawn = static_cast<double>(door.objective.batches().back().size());
      EXPECT_NEAR(door.mean[0], 0.5 * drawn / sampling.divisor, 1e-4);
      const auto count = door.oracle.count(door.w, {.bound = 1, .noise_multiplier = 1e-6});
      const auto counted = static_cast<double>(door.objective.batches().back().size());
      EXPECT_NEAR(count.value(), counted / sampling.divisor, 1e-4);
    }
    if (!sampling.sampler->public_size()) continue;
    const double size = static_cast<double>(*sampling.sampler->public_size());
    const auto squared = door.oracle.squared_norm(door.w, {.clip = Abadi{1}, .noise_multiplier = 1e-6});
    EXPECT_NEAR(squared.value(), std::pow(0.5 * size / sampling.divisor, 2), 1e-3);
  }
}

TEST(Oracle, AnEmptyBatchIsAnsweredWithPureNoise) {
  const PoissonSampler sampler({.rows = 0, .declared_rows = 100}, 0.5);
  Journal journal;
  RecordingObjective objective({}, 3, &journal);
  GenerousFilter filter;
  SeededRandom random(5);
  PrivateOracle oracle(objective, sampler, filter, random);
  const Vector w(3, 1.0);
  Vector mean(3);
  ASSERT_TRUE(oracle.gradient(w, kGradient, mean));
  EXPECT_THAT(objective.batches(), ElementsAre(IsEmpty()));
  for (const double value : mean) {
    EXPECT_NE(value, 0);
    EXPECT_LT(std::abs(value), 10 * oracle.gradient_stddev(kGradient));
  }
  EXPECT_NE(oracle.count(w, kCount).value(), 0);
  const std::vector<Objective::Parameters> candidates = {w, w};
  EXPECT_LT(oracle.minimum(candidates, kMinimum).value(), 2u);
}

TEST(Oracle, ASquaredNormNeedsAPublicSizeAndIsRefusedBeforeItIsCharged) {
  const TableSize table{.rows = 100, .declared_rows = 80};
  const FullSampler full(table, Relation::add_remove);
  const PoissonSampler poisson(table, 0.25);
  for (const Sampler* sampler : {static_cast<const Sampler*>(&full), static_cast<const Sampler*>(&poisson)}) {
    Door door(*sampler);
    EXPECT_THAT([&] { (void)door.oracle.squared_norm(door.w, kSquaredNorm); },
                ThrowsMessage<InputError>(HasSubstr("public size")));
    EXPECT_THAT(door.journal, IsEmpty());
    EXPECT_EQ(door.random.words_generated(), 0u);
    auto sample = door.oracle.one_sample({kSquaredNorm.event()});
    const auto journal = door.journal;
    EXPECT_THROW(sample->squared_norm(door.w, kSquaredNorm), InputError);
    EXPECT_EQ(door.journal, journal);
  }
}

// ---- one sample ----

TEST(OneSample, IsChargedOnceForTheWholeAndDrawsOneBatch) {
  for (const Sampling& sampling : all_samplers()) {
    Door door(*sampling.sampler);
    auto sample =
        door.oracle.one_sample({kGradient.event(), kDecrease.event(door.margins.size()), kCount.event()});
    ASSERT_TRUE(sample);
    sample->gradient(door.w, kGradient, door.mean);
    sample->first_decrease(door.line(), door.margins, kDecrease);
    sample->count(door.w, kCount);
    const std::string whole = sampling.prefix +
                              "[Gaussian(noise 2); AboveThreshold(Laplace, epsilon 0.5 + 2 x 0.25); "
                              "Gaussian(noise 4)]";
    EXPECT_THAT(door.journal, ElementsAre(whole, "draw", "gradient", "losses along", "count"));
    for (const auto& batch : door.objective.batches()) EXPECT_EQ(batch, door.objective.batches()[0]);
  }
}

// The composition of two amplified parts would look cheaper than the truth.
TEST(OneSample, AmplifiesTheCompositionAndNotItsParts) {
  const PoissonSampler sampler({.rows = 100, .declared_rows = 100}, 0.1);
  Door door(sampler);
  ASSERT_TRUE(door.oracle.one_sample({kGradient.event(), kGradient.event()}));
  const auto released = flatten(door.oracle.released());
  ASSERT_THAT(released, SizeIs(1));
  EXPECT_EQ(released[0].count, 1);
  EXPECT_EQ(released[0].event.describe(), "Poisson(0.1) of [Gaussian(noise 2); Gaussian(noise 2)]");
  const auto epsilon = [](const Event& event) {
    return account(event, Relation::add_remove, Accountant::rdp, 1e-5).epsilon;
  };
  EXPECT_GT(epsilon(door.oracle.released()), epsilon(Event::repeated(sampler.sampled(kGradient.event()), 2)));
}

class OneSampleOf : public ::testing::Test {
 protected:
  FullSampler sampler_{{.rows = 100, .declared_rows = 100}, Relation::replace_one};
  Door door_{sampler_};

  std::string refusal(const std::function<void()>& action) {
    const Journal before = door_.journal;
    try {
      action();
    } catch (const InputError& error) {
      EXPECT_EQ(door_.journal, before) << "a refused query read the rows";
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(OneSampleOf, AQueryThatWasNotAnnouncedIsRefused) {
  auto sample = door_.oracle.one_sample({kGradient.event()});
  const GradientQuery less_noise{.clip = Abadi{1}, .noise_multiplier = 1.9999999999999998};
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, less_noise, door_.mean); }),
              HasSubstr("was not announced"));
  EXPECT_THAT(refusal([&] { sample->count(door_.w, kCount); }), HasSubstr("was not announced"));
  EXPECT_THAT(refusal([&] { sample->minimum(door_.candidates(), kMinimum); }), HasSubstr("not announced"));
  EXPECT_THAT(refusal([&] { sample->minimum_along(door_.line(), kMinimum); }), HasSubstr("not announced"));
  EXPECT_THAT(refusal([&] { sample->squared_norm(door_.w, kSquaredNorm); }), HasSubstr("not announced"));
  EXPECT_THAT(refusal([&] { sample->first_decrease(door_.line(), door_.margins, kDecrease); }),
              HasSubstr("not announced"));
  EXPECT_THAT(door_.mean, Each(-7));
}

TEST_F(OneSampleOf, EachAnnouncementIsGoodForOneQuery) {
  auto sample = door_.oracle.one_sample({kGradient.event(), kGradient.event()});
  sample->gradient(door_.w, kGradient, door_.mean);
  sample->gradient(door_.w, kGradient, door_.mean);
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, kGradient, door_.mean); }), HasSubstr("asked before"));
}

TEST_F(OneSampleOf, QueriesComeInTheirOrderAndMayBeSkipped) {
  auto sample = door_.oracle.one_sample({kGradient.event(), kCount.event(), kSquaredNorm.event()});
  sample->count(door_.w, kCount);
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, kGradient, door_.mean); }), HasSubstr("announced"));
}

TEST_F(OneSampleOf, ASkippedQueryDoesNotComeBackForAnUnknownOne) {
  auto sample = door_.oracle.one_sample({kGradient.event(), kSquaredNorm.event()});
  EXPECT_THAT(refusal([&] { sample->count(door_.w, kCount); }), HasSubstr("announced"));
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, kGradient, door_.mean); }), HasSubstr("announced"));
}

TEST_F(OneSampleOf, AnAnnouncedSumOrRepetitionIsNoQuery) {
  auto sample =
      door_.oracle.one_sample({Event::repeated(kGradient.event(), 2), Event::composed({kGradient.event()}),
                               Event::poisson_sampled(0.1, kGradient.event())});
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, kGradient, door_.mean); }), HasSubstr("announced"));
}

TEST_F(OneSampleOf, EndsWithTheNextBatch) {
  auto sample = door_.oracle.one_sample({kGradient.event()});
  ASSERT_TRUE(door_.oracle.count(door_.w, kCount));
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, kGradient, door_.mean); }),
              HasSubstr("another batch has been drawn"));
  auto first = door_.oracle.one_sample({kGradient.event()});
  auto second = door_.oracle.one_sample({kGradient.event()});
  EXPECT_THAT(refusal([&] { first->gradient(door_.w, kGradient, door_.mean); }), HasSubstr("another batch"));
  second->gradient(door_.w, kGradient, door_.mean);
}

TEST(OneSample, ARefusedQueryDoesNotEndIt) {
  const FullSampler sampler({.rows = 100, .declared_rows = 100}, Relation::replace_one);
  Door door(sampler, 1);
  auto sample = door.oracle.one_sample({kGradient.event()});
  EXPECT_FALSE(door.oracle.count(door.w, kCount));
  sample->gradient(door.w, kGradient, door.mean);
  EXPECT_NE(door.mean[0], -7);
}

TEST_F(OneSampleOf, AMovedFromSampleCannotAsk) {
  auto sample = door_.oracle.one_sample({kGradient.event()});
  PrivateOracle::Sample moved = std::move(*sample);
  EXPECT_THAT(refusal([&] { sample->gradient(door_.w, kGradient, door_.mean); }), HasSubstr("not announced"));
  moved.gradient(door_.w, kGradient, door_.mean);
  static_assert(!std::is_copy_constructible_v<PrivateOracle::Sample>);
  static_assert(!std::is_move_assignable_v<PrivateOracle::Sample>);
}

// ---- nothing exact gets out ----

// Noise that cannot be drawn.
class BrokenRandom final : public RandomSource {
 public:
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t>) override { throw InternalError("no bits"); }
};

TEST(Oracle, AnExceptionLeavesNothingExactWithTheCaller) {
  const FullSampler sampler({.rows = 100, .declared_rows = 100}, Relation::add_remove);
  RecordingObjective objective(Vector(100, 0.5), 3);
  GenerousFilter filter;
  SeededRandom random(6);
  PrivateOracle oracle(objective, sampler, filter, random);
  const Vector w(3, 1.0);
  Vector mean(3, -7);
  // Beyond what the grid can hold.
  EXPECT_THROW((void)oracle.gradient(w, {.clip = Abadi{1e201}}, mean), InputError);
  EXPECT_THROW((void)oracle.gradient(w, {.clip = Abadi{1}, .noise_multiplier = 1e-201}, mean), InputError);
  EXPECT_THROW((void)oracle.gradient(w, {.clip = Abadi{1}, .noise_multiplier = 1e201}, mean), InputError);
  EXPECT_THAT(mean, Each(-7));
  BrokenRandom broken;
  PrivateOracle silent(objective, sampler, filter, broken);
  EXPECT_THROW((void)silent.gradient(w, kGradient, mean), InternalError);
  EXPECT_THAT(mean, Each(-7));
  Vector too_short(2, -7), too_long(4, -7);
  EXPECT_THROW((void)oracle.gradient(w, kGradient, too_short), InputError);
  EXPECT_THROW((void)oracle.gradient(w, kGradient, too_long), InputError);
  EXPECT_THAT(too_long, Each(-7));
}

TEST(Oracle, TheMeanMayTakeThePlaceOfTheParameters) {
  const FullSampler sampler({.rows = 50, .declared_rows = 50}, Relation::add_remove);
  std::mt19937_64 engine(8);
  const auto objective =
      glm(GlmLoss::squared, random_table(GlmLoss::squared, Storage::dense, 50, 4, false, engine));
  GenerousFilter filter;
  const Vector start = random_weights(4, 1, engine);
  SeededRandom one(9), other(9);
  Vector apart(4), in_place = start;
  PrivateOracle first(*objective, sampler, filter, one), second(*objective, sampler, filter, other);
  ASSERT_TRUE(first.gradient(start, kGradient, apart));
  ASSERT_TRUE(second.gradient(in_place, kGradient, in_place));
  EXPECT_EQ(apart, in_place);
}

TEST(Oracle, RefusesLossBoundsWhoseSumsMightOverflow) {
  const FullSampler sampler({.rows = 100, .declared_rows = 100}, Relation::add_remove);
  Door door(sampler);
  for (const double bound : {1e201, 1e308, 1e-201, 0.0, -1.0, std::nan("")}) {
    EXPECT_THROW((void)door.oracle.minimum(door.candidates(), {.loss_bound = bound}), InputError);
    EXPECT_THROW((void)door.oracle.minimum_along(door.line(), {.loss_bound = bound}), InputError);
    EXPECT_THROW((void)door.oracle.first_decrease(door.line(), door.margins, {.loss_bound = bound}),
                 InputError);
  }
}

// One row of slope 1: the losses at w = 5 - {0, 1, 2} are 5, 4, 3; offsets turn them round.
TEST(Oracle, OffsetsArePartOfTheMinimum) {
  RecordingObjective objective({1.0}, 1);
  const FullSampler sampler({.rows = 1, .declared_rows = 4}, Relation::add_remove);
  GenerousFilter filter;
  SeededRandom random(3);
  PrivateOracle oracle(objective, sampler, filter, random);
  const Vector start = {5}, direction = {1}, steps = {0, 1, 2};
  const Objective::Line line{start, direction, steps};
  const MinimumQuery query{.loss_bound = 10, .epsilon = 1e6};
  EXPECT_EQ(oracle.minimum_along(line, query), 2u);
  EXPECT_EQ(oracle.minimum_along(line, query, Vector{0, 0, 1.5}), 1u);
  EXPECT_EQ(oracle.minimum_along(line, query, Vector{-3, 0, 0}), 0u);
  EXPECT_THAT([&] { (void)oracle.minimum_along(line, query, Vector{1}); },
              ThrowsMessage<InputError>(HasSubstr("one offset for each of 3 points or none, got 1")));
  EXPECT_EQ(oracle.divisor(), 4);
}

// Longer than what is computed at once: the points far down the line are compared with its start, too.
TEST(Oracle, ALongLineIsSearchedToItsEnd) {
  RecordingObjective objective({1.0}, 1);
  const FullSampler sampler({.rows = 1, .declared_rows = 4}, Relation::add_remove);
  GenerousFilter filter;
  SeededRandom random(3);
  PrivateOracle oracle(objective, sampler, filter, random);
  const DecreaseQuery query{.loss_bound = 100, .noise = LaplaceSearch::with_epsilon(1e9)};
  const Vector start = {50}, direction = {1};
  Vector steps;
  for (int i = 1; i <= 30; ++i) steps.push_back(i);
  for (const std::size_t wanted : {0u, 6u, 7u, 8u, 21u, 29u}) {
    Vector margins(steps.size(), 90);
    margins[wanted] = steps[wanted] - 0.5;  // the loss falls by the step
    EXPECT_EQ(oracle.first_decrease({start, direction, steps}, margins, query)->point, wanted);
    margins[wanted] = steps[wanted] + 0.5;
    EXPECT_EQ(oracle.first_decrease({start, direction, steps}, margins, query)->point, std::nullopt);
  }
}

TEST(Oracle, RefusesMarginsThatDoNotMatchThePoints) {
  const FullSampler sampler({.rows = 100, .declared_rows = 100}, Relation::add_remove);
  Door door(sampler);
  EXPECT_THAT([&] { (void)door.oracle.first_decrease(door.line(), Vector(3), kDecrease); },
              ThrowsMessage<InputError>(HasSubstr("expected one margin for each of 2 points, got 3")));
  const Objective::Line no_points{door.w, door.direction, {}};
  EXPECT_FALSE(door.oracle.first_decrease(no_points, {}, kDecrease)->point);
  EXPECT_THROW((void)door.oracle.minimum({}, kMinimum), InputError);
}

// ---- sensitivity ----

// In units of the clip bound, without the grid's share: what the noise is scaled to.
double sensitivity_behind(const PrivateOracle& oracle, const Sampler& sampler, const GradientQuery& query) {
  const double noisy = oracle.gradient_stddev(query) * sampler.divisor() / query.noise_multiplier;
  const GaussianMechanism plain({.sensitivity = noisy, .noise_multiplier = query.noise_multiplier});
  return noisy - std::sqrt(static_cast<double>(oracle.parameters())) * plain.grid().step();
}

TEST(OracleSensitivity, IsTwiceTheBoundUnderReplaceOne) {
  RecordingObjective objective(Vector(100, 1.0), 1);
  GenerousFilter filter;
  SeededRandom random(1);
  for (const Sampling& sampling : all_samplers()) {
    const PrivateOracle oracle(objective, *sampling.sampler, filter, random);
    const double expected = sampling.sampler->relation() == Relation::replace_one ? 6 : 3;
    const double actual = sensitivity_behind(oracle, *sampling.sampler, {.clip = Abadi{3}});
    EXPECT_GE(actual, expected * (1 - 1e-15));
    EXPECT_LE(actual, expected * (1 + 1e-8));
  }
}

// m k u C on each of two neighbours.
TEST(OracleSensitivity, GrowsWithTheLongestChainAndThePublicNumberOfRows) {
  const FixedSizeSampler sampler(4096, 1024);
  GenerousFilter filter;
  SeededRandom random(1);
  for (const std::uint64_t chain : {1ull, 1ull << 20, 1ull << 40, 1ull << 42}) {
    RecordingObjective objective(Vector(4096, 1.0), 1, nullptr, chain);
    const PrivateOracle oracle(objective, sampler, filter, random);
    const double rounding = static_cast<double>(chain) * 0x1p-53;
    EXPECT_NEAR(sensitivity_behind(oracle, sampler, {.clip = Abadi{3}}),
                6 + 2 * 1024 * 3 * rounding / (1 - rounding), 1e-12);
  }
}

// Rows whose sums go wrong as far as they can be made to. A stretch of 8192 rows is added up one after the
// other: 2048 long gradients bring the sum just below 2048, thousands of short ones follow, then long ones of
// the other sign take the sum back. With one more row at the front the sum is above 2048 instead, where
// doubles are twice as far apart: each short gradient, 5/8 of that distance, is rounded up; without it each
// is 5/4 of a distance and rounded down. The row also pushes the last row of each stretch into the next, so
// that the same happens in all twelve.
struct Nasty {
  static constexpr double kShort = 0.625 * 0x1p-41;
  static constexpr std::size_t kStretches = 12;
  Vector labels;  // of rows that are just 1; at w = 0 the gradient of the squared loss is -label

  static Nasty table(double short_one) {
    Nasty out;
    out.labels.push_back(-1);
    for (std::size_t stretch = 0; stretch < kStretches; ++stretch) {
      out.labels.insert(out.labels.end(), 2048, -1.0);
      out.labels.insert(out.labels.end(), 4095, -short_one);
      out.labels.insert(out.labels.end(), 2048, 1.0);
      out.labels.push_back(-1);
    }
    return out;
  }
};

__int128 in_units(double value) {
  return static_cast<__int128>(std::ldexp(value, 100));  // whole, as all contributions are above 2^-48
}

class NastySums : public ::testing::TestWithParam<Storage> {
 protected:
  // A dense table's rows are added four at a time.
  Nasty nasty_ = Nasty::table(GetParam() == Storage::dense ? Nasty::kShort / 4 : Nasty::kShort);
  std::size_t rows_ = nasty_.labels.size();
  std::unique_ptr<Objective> objective_ =
      glm(GlmLoss::squared, store(GetParam(), 1, Vector(rows_, 1.0), nasty_.labels));

  double sum(const Batch& batch) { return gradient_sum(*objective_, Vector{0.0}, batch, Abadi{1})[0]; }
  double contribution(std::uint64_t row) { return sum({.rows = {row}, .divisor = 1}); }
};

TEST_P(NastySums, NeighboursDifferByMoreThanTheBoundAndTheNoiseCoversIt) {
  const double apart = sum(all(rows_)) - sum(all_but(rows_, 0));
  EXPECT_GT(apart, 1.0) << "the case is not nasty enough to need the room";
  // In exact arithmetic they differ by one contribution, which is within the bound.
  __int128 exact = 0;
  for (std::uint64_t row = 0; row < rows_; ++row) exact += in_units(contribution(row));
  __int128 exact_neighbour = exact - in_units(contribution(0));
  EXPECT_LE(contribution(0), 1.0);
  const auto error = [](double sum, __int128 truth) {
    return std::ldexp(double(in_units(sum) - truth), -100);
  };
  const double off =
      std::abs(error(sum(all(rows_)), exact)) + std::abs(error(sum(all_but(rows_, 0)), exact_neighbour));

  GenerousFilter filter;
  SeededRandom random(1);
  const TableSize table{.rows = rows_, .declared_rows = 25'000};  // a declaration that is far too low
  const FullSampler full(table, Relation::add_remove);
  const PoissonSampler poisson(table, 0.999);
  for (const Sampler* sampler : {static_cast<const Sampler*>(&full), static_cast<const Sampler*>(&poisson)}) {
    const PrivateOracle oracle(*objective_, *sampler, filter, random);
    const double covered = sensitivity_behind(oracle, *sampler, {.clip = Abadi{1}, .noise_multiplier = 1});
    EXPECT_GE(covered, apart);
    EXPECT_GE(covered, 1 + off);
    EXPECT_LT(covered, 1 + 1e-5);  // and costs next to nothing
  }
}

INSTANTIATE_TEST_SUITE_P(Each, NastySums, ::testing::Values(Storage::dense, Storage::sparse));

}  // namespace
}  // namespace ration::testing
