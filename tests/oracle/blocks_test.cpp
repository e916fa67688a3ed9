// Gradients that are handed out block by block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "oracle/descent.h"
#include "oracle/long_gradient.h"
#include "ration/base/error.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using Vector = std::vector<double>;

constexpr std::size_t kBlock = PrivateOracle::Sample::kBlock;
constexpr std::size_t kLong = 600'001;  // worth several threads
const GradientQuery kQuery{.clip = Abadi{1}, .noise_multiplier = 2};

class SizesOfAnswers : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, SizesOfAnswers,
                         ::testing::Values(1, 2, 3, kBlock - 1, kBlock, kBlock + 1, kBlock + 2, 2 * kBlock,
                                           5 * kBlock + 777));

TEST_P(SizesOfAnswers, EachCoordinateComesOnceAndIsThatOfTheWholeAnswer) {
  LongGradient one(GetParam()), other(GetParam());
  SeededRandom random(3), same_bits(3);
  Vector whole(GetParam()), blocks;
  ASSERT_TRUE(one.oracle(random).gradient(one.w, kQuery, whole));
  other.answer(other.oracle(same_bits), kQuery, [&](std::size_t first, std::span<const double> mean) {
    EXPECT_EQ(first, blocks.size());
    EXPECT_LE(mean.size(), kBlock);
    blocks.insert(blocks.end(), mean.begin(), mean.end());
  });
  EXPECT_EQ(blocks, whole);
}

TEST_P(SizesOfAnswers, ASumOfFloatsIsReleasedLikeOneOfDoubles) {
  LongGradient doubles(GetParam()), floats(GetParam());
  floats.objective.in_floats = true;
  SeededRandom random(3), same_bits(3);
  Vector one(GetParam()), other(GetParam());
  ASSERT_TRUE(doubles.oracle(random).gradient(doubles.w, kQuery, one));
  ASSERT_TRUE(floats.oracle(same_bits).gradient(floats.w, kQuery, other));
  EXPECT_EQ(one, other);
  EXPECT_NEAR(one[0] * LongGradient::kDivisor, 0.5, 10 * 2);  // the sum is in it, under noise of 2
}

struct Subtract final : PrivateOracle::Descent {
  void move(std::size_t, std::span<const double> gradient, AnyNumbers w) override {
    std::visit(
        [&]<class Number>(std::span<Number> block) {
          for (std::size_t i = 0; i < block.size(); ++i)
            block[i] = static_cast<Number>(static_cast<double>(block[i]) - gradient[i]);
        },
        w);
  }
  void expect(std::size_t, std::size_t, Ahead&) const override {}
};

void descend(LongGradient& door, RandomSource& random, Weights& w) {
  Subtract descent;
  auto sample = door.oracle(random).one_sample({kQuery.event()});
  sample->descend(w, kQuery, descent);
}

Vector gradient_of_seed_3(std::size_t size) {
  LongGradient door(size);
  SeededRandom random(3);
  Vector gradient(size);
  EXPECT_TRUE(door.oracle(random).gradient(door.w, kQuery, gradient));
  return gradient;
}

Vector values_of(const Weights& w) {
  Vector out(w.size());
  w.copy_to(out);
  return out;
}

TEST_P(SizesOfAnswers, ADescentMovesByTheGradient) {
  const Vector gradient = gradient_of_seed_3(GetParam());
  LongGradient door(GetParam());
  door.objective.in_floats = true;
  SeededRandom random(3);
  Weights w(Vector(GetParam(), 1.0));
  descend(door, random, w);
  const Vector moved = values_of(w);
  for (std::size_t i = 0; i < w.size(); ++i) ASSERT_EQ(moved[i], 1 - gradient[i]);
}

TEST_P(SizesOfAnswers, ADescentInFloatsMovesWhatTheObjectiveLooksAt) {
  const Vector gradient = gradient_of_seed_3(GetParam());
  LongGradient door(GetParam());
  door.objective.in_floats = true;
  SeededRandom random(3);
  Weights w(Vector(GetParam(), 1.0), Weights::Kept::in_floats);
  descend(door, random, w);
  ASSERT_EQ(door.objective.asked_at, std::get<FloatWeights>(w.all()));
  const auto& looked_at = *door.objective.asked_at;
  const Vector moved = values_of(w);
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_EQ(looked_at[i], static_cast<float>(1 - gradient[i]));
    ASSERT_EQ(moved[i], static_cast<double>(looked_at[i]));
  }
}

TEST(Blocks, AnObjectiveInDoublesSeesFloatsAsTheyAre) {
  LongGradient door(10);
  SeededRandom random(3);
  Weights w(Vector(10, 0.1), Weights::Kept::in_floats);
  descend(door, random, w);
  EXPECT_THAT(door.objective.saw_at, Each(static_cast<double>(0.1f)));
  EXPECT_NE(values_of(w), door.objective.saw_at);
}

TEST(Blocks, AFloatSumOfAnotherSizeIsNotReleased) {
  LongGradient door(10);
  door.objective.in_floats = true;
  door.objective.float_sum.resize(9);
  SeededRandom random(3);
  Vector mean(10, -7);
  EXPECT_THROW((void)door.oracle(random).gradient(door.w, kQuery, mean), InternalError);
  EXPECT_THAT(mean, Each(-7));
}

TEST(Blocks, AreChargedLikeAGradient) {
  const FullSampler sampler({.rows = 8, .declared_rows = 8}, Relation::add_remove);
  Journal journal;
  RecordingObjective objective(Vector(8, 1.0), 3, &journal);
  RecordingFilter filter(1, journal);
  SeededRandom random(1);
  PrivateOracle oracle(objective, sampler, filter, random);
  const Vector w(3);
  auto sample = oracle.one_sample({kQuery.event()});
  ASSERT_TRUE(sample);
  sample->gradient(w, kQuery, [](std::size_t, std::span<const double>) {});
  EXPECT_THAT(journal, ElementsAre("Gaussian(noise 2)", "gradient"));
  EXPECT_THROW(sample->gradient(w, kQuery, [](std::size_t, std::span<const double>) {}), InputError);
  EXPECT_FALSE(oracle.one_sample({kQuery.event()}));
}

// ---- threads

Vector long_answer(RandomSource& random, std::size_t threads) {
  LongGradient door(kLong);
  Vector all(kLong);
  door.answer(door.oracle(random, threads), kQuery, [&](std::size_t first, std::span<const double> mean) {
    std::copy(mean.begin(), mean.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return all;
}

TEST(Blocks, ASeededSourceAnswersAlikeOnAnyNumberOfThreads) {
  SeededRandom one(5), four(5);
  EXPECT_EQ(long_answer(one, 1), long_answer(four, 4));
}

TEST(Blocks, SeveralThreadsHandOutEachCoordinateOnce) {
  for (const std::size_t threads : {2u, 3u}) {
    LongGradient door(kLong);
    std::vector<int> times(kLong, 0);
    std::set<std::thread::id> ids;
    std::mutex guard;
    std::condition_variable arrived;
    // A thread that comes late finds nothing left to do, so each waits for the others.
    door.answer(door.oracle(SecureRandom::for_this_thread(), threads), kQuery,
                [&](std::size_t first, std::span<const double> mean) {
                  for (std::size_t i = 0; i < mean.size(); ++i) ++times[first + i];
                  std::unique_lock lock(guard);
                  ids.insert(std::this_thread::get_id());
                  arrived.notify_all();
                  arrived.wait_for(lock, std::chrono::seconds(10), [&] { return ids.size() >= threads; });
                });
    EXPECT_THAT(times, Each(1));
    EXPECT_EQ(ids.size(), threads);
  }
}

// ---- exceptions

TEST(Blocks, WhoTakesThemMayStop) {
  for (const std::size_t threads : {1u, 2u}) {
    LongGradient door(kLong);
    PrivateOracle& oracle = door.oracle(SecureRandom::for_this_thread(), threads);
    const auto stop = [](std::size_t first, std::span<const double>) {
      if (first >= kLong / 3) throw std::runtime_error("enough");
    };
    EXPECT_THROW(door.answer(oracle, kQuery, stop), std::runtime_error);
    Vector mean(kLong);
    EXPECT_TRUE(oracle.gradient(door.w, kQuery, mean));  // and the oracle goes on
  }
}

// NOT PRIVATE. Fails after some words.
class FailingRandom final : public RandomSource {
 public:
  explicit FailingRandom(std::size_t words) : left_(words) {}
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    if (words.size() > left_) throw InternalError("no more bits");
    left_ -= words.size();
    for (auto& word : words) word = engine_();
  }
  std::mt19937_64 engine_{4};
  std::size_t left_;
};

TEST(Blocks, WhenTheBitsRunOutOnlyNoisyBlocksHaveBeenSeen) {
  LongGradient door(10 * kBlock);
  FailingRandom random(3 * kBlock + kBlock / 2);
  std::size_t seen = 0;
  EXPECT_THROW(door.answer(door.oracle(random), kQuery,
                           [&](std::size_t first, std::span<const double> mean) {
                             for (std::size_t i = 0; i < mean.size(); ++i) {
                               const double exact = door.objective.sum(first + i) / LongGradient::kDivisor;
                               ASSERT_NE(mean[i], exact);
                             }
                             seen += mean.size();
                           }),
               InternalError);
  EXPECT_EQ(seen, 3 * kBlock);
}

TEST(Blocks, WhenTheBitsRunOutAWholeAnswerIsNotSeenAtAll) {
  LongGradient door(10 * kBlock);
  FailingRandom random(9 * kBlock);
  Vector mean(10 * kBlock, -7);
  EXPECT_THROW((void)door.oracle(random).gradient(door.w, kQuery, mean), InternalError);
  EXPECT_THAT(mean, Each(-7));
}

}  // namespace
}  // namespace ration::testing
