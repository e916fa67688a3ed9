#include "ration/sampling/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ration/base/error.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

const Event kStep = Event::gaussian(2);

Batch drawn_from(const Sampler& sampler, std::uint64_t seed = 1) {
  SeededRandom random(seed);
  Batch batch{.rows = {7, 7, 7}, .divisor = -1};  // what was there before must go
  sampler.draw(random, batch);
  return batch;
}

std::vector<std::uint64_t> all_rows(std::uint64_t rows) {
  std::vector<std::uint64_t> all(rows);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

TEST(FullSampler, SeesEveryRowAndDividesByTheDeclaredNumber) {
  const FullSampler sampler({.rows = 100, .declared_rows = 90}, Relation::add_remove);
  const Batch batch = drawn_from(sampler);
  EXPECT_EQ(batch.rows, all_rows(100));
  EXPECT_EQ(batch.divisor, 90);
  EXPECT_EQ(sampler.sampled(kStep).describe(), kStep.describe());
}

TEST(FullSampler, ItsSizeIsPublicOnlyUnderReplaceOne) {
  EXPECT_EQ(FullSampler({100, 100}, Relation::replace_one).public_size(), 100u);
  EXPECT_EQ(FullSampler({100, 100}, Relation::add_remove).public_size(), std::nullopt);
  EXPECT_THROW(FullSampler({100, 90}, Relation::replace_one), InputError);
}

TEST(FullSampler, ReplacesABatchOfTheSameSize) {
  const FullSampler sampler({.rows = 3, .declared_rows = 3}, Relation::add_remove);
  SeededRandom random(1);
  for (const auto& before : {std::vector<std::uint64_t>{1, 2, 5}, {0, 1, 2}, {}, {0, 1, 2, 3}}) {
    Batch batch{.rows = before, .divisor = 1};
    sampler.draw(random, batch);
    EXPECT_EQ(batch.rows, all_rows(3));
  }
}

TEST(PoissonSampler, DividesByThePublicExpectationWhateverIsDrawn) {
  const PoissonSampler sampler({.rows = 1000, .declared_rows = 1200}, 0.1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(drawn_from(sampler, seed).divisor, 120);
  EXPECT_EQ(sampler.relation(), Relation::add_remove);
  EXPECT_EQ(sampler.public_size(), std::nullopt);
}

TEST(PoissonSampler, WrapsTheEventInItsRate) {
  EXPECT_EQ(PoissonSampler({10, 10}, 0.25).sampled(kStep).describe(),
            Event::poisson_sampled(0.25, kStep).describe());
  EXPECT_EQ(PoissonSampler({10, 10}, 1).sampled(kStep).describe(), kStep.describe());
}

TEST(PoissonSampler, AnEmptyTableGivesEmptyBatches) {
  EXPECT_TRUE(drawn_from(PoissonSampler({.rows = 0, .declared_rows = 5}, 0.5)).rows.empty());
}

TEST(PoissonSampler, RefusesWhatIsNoRate) {
  EXPECT_THAT(
      [] {
        PoissonSampler({10, 10}, 1.5);
      },
      ThrowsMessage<InputError>(StrEq("Poisson: expected 0 < rate <= 1, got rate=1.5")));
  EXPECT_THROW(PoissonSampler({10, 10}, 0), InputError);
  EXPECT_THROW(PoissonSampler({10, 0}, 0.5), InputError);
}

TEST(FixedSizeSampler, DrawsItsSizeAndDividesByIt) {
  const FixedSizeSampler sampler(1000, 30);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Batch batch = drawn_from(sampler, seed);
    EXPECT_EQ(batch.rows.size(), 30u);
    EXPECT_EQ(batch.divisor, 30);
  }
  EXPECT_EQ(sampler.relation(), Relation::replace_one);
  EXPECT_EQ(sampler.public_size(), 30u);
}

TEST(FixedSizeSampler, WrapsTheEventInItsRate) {
  EXPECT_EQ(FixedSizeSampler(40, 10).sampled(kStep).describe(),
            Event::fixed_size_sampled(0.25, kStep).describe());
  EXPECT_EQ(FixedSizeSampler(40, 40).sampled(kStep).describe(), kStep.describe());
}

TEST(FixedSizeSampler, RefusesSizesThereAreNot) {
  EXPECT_THROW(FixedSizeSampler(10, 11), InputError);
  EXPECT_THROW(FixedSizeSampler(10, 0), InputError);
}

TEST(Sampler, AWarmBatchIsReused) {
  SeededRandom random(1);
  const PoissonSampler poisson({100'000, 1e5}, 0.01);
  const FixedSizeSampler fixed(100'000, 1000);
  Batch batch;
  batch.rows.reserve(2000);
  const auto* before = batch.rows.data();
  for (int repeat = 0; repeat < 50; ++repeat) {
    poisson.draw(random, batch);
    fixed.draw(random, batch);
  }
  EXPECT_EQ(batch.rows.data(), before);
}

TEST(TableSize, AllowsFourTimesWhatWasDeclaredAndAMillionAnyway) {
  EXPECT_EQ((TableSize{.rows = 0, .declared_rows = 1e-3}).most_rows(), 1u << 20);
  EXPECT_EQ((TableSize{.rows = 0, .declared_rows = 0x1p18}).most_rows(), 1u << 20);
  EXPECT_EQ((TableSize{.rows = 0, .declared_rows = 3e6}).most_rows(), 12'000'000u);
  EXPECT_EQ((TableSize{.rows = 0, .declared_rows = 1e300}).most_rows(), std::uint64_t{1} << 53);
}

// The message must not say how many rows there are: under add_remove that is private.
TEST(TableSize, RefusesATableFarBeyondTheDeclaration) {
  const auto poisson = [](std::uint64_t rows, double declared) {
    return PoissonSampler({.rows = rows, .declared_rows = declared}, 0.5);
  };
  EXPECT_NO_THROW(poisson(1u << 20, 5));
  EXPECT_THAT([&] { poisson((1u << 20) + 12'345, 5); },
              ThrowsMessage<InputError>(StrEq("Poisson: the table has more than 1048576 rows, far beyond "
                                              "the 5 declared; declare its size")));
  EXPECT_NO_THROW(poisson(12'000'000, 3e6));
  EXPECT_THROW(poisson(12'000'001, 3e6), InputError);
  EXPECT_THROW(FullSampler({(1u << 20) + 1, 5}, Relation::add_remove), InputError);
  for (const double declared : {0.0, -1.0, std::nan(""), double(INFINITY)}) {
    EXPECT_THROW(poisson(0, declared), InputError);
    EXPECT_THROW(FullSampler({0, declared}, Relation::add_remove), InputError);
  }
}

TEST(Sampler, MostRowsIsPublicAndNoBatchHasMore) {
  const TableSize small{.rows = 300, .declared_rows = 7};
  const TableSize other{.rows = 10, .declared_rows = 7};
  const PoissonSampler poisson(small, 0.9);
  const FullSampler full(small, Relation::add_remove);
  const FixedSizeSampler fixed(300, 12);
  EXPECT_EQ(poisson.most_rows(), PoissonSampler(other, 0.9).most_rows());
  EXPECT_EQ(full.most_rows(), FullSampler(other, Relation::add_remove).most_rows());
  EXPECT_EQ(fixed.most_rows(), 12u);
  for (const Sampler* sampler : {static_cast<const Sampler*>(&poisson), static_cast<const Sampler*>(&full),
                                 static_cast<const Sampler*>(&fixed)}) {
    EXPECT_LE(drawn_from(*sampler).rows.size(), sampler->most_rows());
  }
}

}  // namespace
}  // namespace ration::testing
