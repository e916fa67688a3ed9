// Every released figure has the noise its event claims. Unless said otherwise a check fails by chance with
// probability at most 1e-9 (support/statistics.h), and also rejects 2/3 and 3/2 of the right scale.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "mechanisms/search_law.h"
#include "mechanisms/selection_law.h"
#include "ration/clipping/sensitivity.h"
#include "ration/oracle/oracle.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

constexpr int kRuns = 20'000;
constexpr double kRow = 0.5;         // each row's gradient, and its loss at w = 1
constexpr std::size_t kRows = 8;     // few, so that a run is cheap
constexpr std::uint64_t kBatch = 4;  // of the fixed size

// Samplers, each with an objective whose sums are rounded so often that the room for it is half a bound: the
// noise must grow by that.
struct Setting {
  std::shared_ptr<const Sampler> sampler;
  std::uint64_t chain;
  double room;  // in bounds, on two neighbours together
};

Setting with_room(std::shared_ptr<const Sampler> sampler) {
  const double rounding = 0.25 / (0.25 + static_cast<double>(sampler->most_rows()));
  const auto chain = static_cast<std::uint64_t>(rounding * 0x1p53);
  return {std::move(sampler), chain, 0.5};
}

std::vector<Setting> all_settings() {
  const TableSize table{.rows = kRows, .declared_rows = 10};
  const auto full = std::make_shared<FullSampler>(table, Relation::add_remove);
  const auto all = std::make_shared<FullSampler>(TableSize{kRows, kRows}, Relation::replace_one);
  const auto poisson = std::make_shared<PoissonSampler>(table, 0.5);
  const auto fixed = std::make_shared<FixedSizeSampler>(kRows, kBatch);
  return {{full, 1, 0},    {all, 1, 0},    {poisson, 1, 0},    {fixed, 1, 0},
          with_room(full), with_room(all), with_room(poisson), with_room(fixed)};
}

double relative_bound(Relation relation) {
  return relation == Relation::replace_one ? 2 : 1;
}

// An oracle that always answers, and what it saw last.
struct Door {
  explicit Door(const Setting& setting, std::size_t parameters = 1, double row = kRow)
      : sampler(*setting.sampler), objective(Vector(kRows, row), parameters, &journal, setting.chain) {}

  double drawn() const { return static_cast<double>(objective.batches().back().size()); }

  const Sampler& sampler;
  Journal journal;
  RecordingObjective objective;
  GenerousFilter filter;
  SeededRandom random{11};
  PrivateOracle oracle{objective, sampler, filter, random};
  const Vector one = {1};
};

bool follows_normal_only(const Vector& sample, double stddev) {
  return follows_normal(sample, stddev) && !follows_normal(sample, 2 * stddev / 3) &&
         !follows_normal(sample, 1.5 * stddev);
}

TEST(OracleNoise, OfGradients) {
  constexpr double kBound = 3;
  for (const Setting& setting : all_settings()) {
    Door door(setting, 2);
    const GradientQuery query{.clip = Abadi{kBound}, .noise_multiplier = 1.5};
    const double stddev = 1.5 * kBound * (relative_bound(door.sampler.relation()) + setting.room);
    Vector first, second, mean(2);
    for (int i = 0; i < kRuns; ++i) {
      ASSERT_TRUE(door.oracle.gradient(Vector(2, 1.0), query, mean));
      first.push_back(mean[0] * door.sampler.divisor() - kRow * door.drawn());
      second.push_back(mean[1] * door.sampler.divisor());
    }
    EXPECT_TRUE(follows_normal_only(first, stddev));
    EXPECT_TRUE(follows_normal_only(second, stddev));
    EXPECT_NEAR(door.oracle.gradient_stddev(query) * door.sampler.divisor(), stddev, 1e-5 * stddev);
  }
}

TEST(OracleNoise, OfGradientsInOneSample) {
  for (const Setting& setting : all_settings()) {
    Door door(setting);
    const GradientQuery query{.clip = Abadi{1}, .noise_multiplier = 2};
    Vector noise, again, mean(1);
    for (int i = 0; i < kRuns; ++i) {
      auto sample = door.oracle.one_sample({query.event(), query.event()});
      sample->gradient(door.one, query, mean);
      noise.push_back(mean[0] * door.sampler.divisor() - kRow * door.drawn());
      sample->gradient(door.one, query, mean);
      again.push_back(mean[0] * door.sampler.divisor() - kRow * door.drawn());
    }
    const double stddev = 2 * (relative_bound(door.sampler.relation()) + setting.room);
    EXPECT_TRUE(follows_normal_only(noise, stddev));
    EXPECT_TRUE(follows_normal_only(again, stddev));
    for (double& value : noise) value /= stddev;
    for (double& value : again) value /= stddev;
    EXPECT_TRUE(uncorrelated(noise, again));
  }
}

// The room for rounding is that much larger where a map stretches rows.
constexpr double kMagnification = 3;

std::shared_ptr<const RowView> any_view(std::size_t coordinates) {
  return std::make_shared<const RowView>(2, std::vector<std::size_t>{0}, coordinates,
                                         Vector(coordinates, 1.0));
}

TEST(OracleNoise, OfGradientsOfWhatIsSeen) {
  for (const Setting& setting : all_settings()) {
    Door door(setting, 2);
    door.objective.magnification_seen = kMagnification;
    door.oracle.look_through(any_view(1));
    const GradientQuery query{.clip = Abadi{2}, .noise_multiplier = 1.5};
    const double stddev = 1.5 * 2 * (relative_bound(door.sampler.relation()) + kMagnification * setting.room);
    Vector noise, mean(1);
    for (int i = 0; i < kRuns; ++i) {
      ASSERT_TRUE(door.oracle.gradient(Vector(1, 1.0), query, mean));
      noise.push_back(mean[0] * door.sampler.divisor() - kRow * door.drawn());
    }
    EXPECT_TRUE(follows_normal_only(noise, stddev));
  }
}

TEST(OracleNoise, OfMeansOfRows) {
  constexpr double kBound = 3;
  for (const bool through_a_map : {false, true}) {
    for (const Setting& setting : all_settings()) {
      Door door(setting, 2);
      door.objective.magnification_seen = kMagnification;
      if (through_a_map) door.oracle.look_through(any_view(2));
      const MeanOfRowsQuery query{.bound = kBound, .noise_multiplier = 1.5};
      const double room = setting.room * (through_a_map ? kMagnification : 1);
      const double stddev = 1.5 * kBound * (relative_bound(door.sampler.relation()) + room);
      Vector first, second, mean(2);
      for (int i = 0; i < kRuns; ++i) {
        ASSERT_TRUE(door.oracle.mean_of_rows(query, mean));
        first.push_back(mean[0] * door.sampler.divisor() - kRow * door.drawn());
        second.push_back(mean[1] * door.sampler.divisor());
      }
      EXPECT_TRUE(follows_normal_only(first, stddev));
      EXPECT_TRUE(follows_normal_only(second, stddev));
      EXPECT_NEAR(door.oracle.mean_of_rows_stddev(query) * door.sampler.divisor(), stddev, 1e-5 * stddev);
      for (double& value : first) value /= stddev;
      for (double& value : second) value /= stddev;
      EXPECT_TRUE(uncorrelated(first, second));
    }
  }
}

// Beside the diagonal it is smaller by sqrt(2), which counts for as much: such an entry is there twice.
TEST(OracleNoise, OfSecondMoments) {
  constexpr double kBound = 3;
  for (const Setting& setting : all_settings()) {
    Door door(setting, 2);
    door.objective.magnification_seen = kMagnification;
    door.oracle.look_through(any_view(3));
    const SecondMomentQuery query{.bound = kBound, .noise_multiplier = 1.5};
    const bool replace = door.sampler.relation() == Relation::replace_one;
    const double room = std::sqrt(2) * kMagnification * kMagnification * setting.room;
    const double stddev = 1.5 * kBound * kBound * ((replace ? std::sqrt(2) : 1) + room);
    std::vector<Vector> noise(6);
    Vector upper(6);
    for (int i = 0; i < kRuns; ++i) {
      ASSERT_TRUE(door.oracle.second_moment(query, upper));
      for (std::size_t k = 0; k < 6; ++k) noise[k].push_back(upper[k] * door.sampler.divisor());
      noise[0].back() -= kRow * kRow * door.drawn();
    }
    EXPECT_NEAR(door.oracle.second_moment_stddev(query) * door.sampler.divisor(), stddev, 1e-5 * stddev);
    for (std::size_t k = 0; k < 6; ++k) {
      const bool on_the_diagonal = k == 0 || k == 3 || k == 5;
      const double expected = on_the_diagonal ? stddev : stddev / std::sqrt(2);
      EXPECT_TRUE(follows_normal_only(noise[k], expected)) << k;
      for (double& value : noise[k]) value /= expected;
      if (k > 0) {
        EXPECT_TRUE(uncorrelated(noise[0], noise[k])) << k;
      }
    }
    EXPECT_TRUE(uncorrelated(noise[1], noise[3]));
    EXPECT_TRUE(uncorrelated(noise[2], noise[4]));
  }
}

TEST(OracleNoise, OfCounts) {
  for (const Setting& setting : all_settings()) {
    Door door(setting);
    Vector noise;
    for (int i = 0; i < kRuns; ++i) {
      const double count = door.oracle.count(door.one, {.bound = 1, .noise_multiplier = 2.5}).value();
      noise.push_back(count * door.sampler.divisor() - door.drawn());
    }
    EXPECT_TRUE(follows_normal_only(noise, 2.5));  // a count is exact
  }
}

// Half of the values are below 0 and released as 0, if the rows' own sum is 0; the others are folded back.
TEST(OracleNoise, OfSquaredNorms) {
  for (const Setting& setting : all_settings()) {
    if (!setting.sampler->public_size()) continue;
    Door door(setting, 1, 0.0);
    constexpr double kBound = 2;
    const auto size = static_cast<double>(*door.sampler.public_size());
    Vector positive;
    for (int i = 0; i < kRuns; ++i) {
      const double value =
          door.oracle.squared_norm(door.one, {.clip = Abadi{kBound}, .noise_multiplier = 1.5}).value();
      if (value > 0) positive.push_back(value * door.sampler.divisor() * door.sampler.divisor());
    }
    const auto folded = [](double stddev) {
      return [stddev](double x) { return 2 * normal_cdf(x / stddev) - 1; };
    };
    // 2 (2 m C e + e^2), e the error of one sum.
    const double error =
        static_cast<double>(size) * kBound * setting.room / 2 / static_cast<double>(door.sampler.most_rows());
    const double room = 2 * (2 * size * kBound * error + error * error);
    const double stddev = 1.5 * ((4 * size - 3) * kBound * kBound + room);
    EXPECT_TRUE(follows(positive, folded(stddev)));
    EXPECT_FALSE(follows(positive, folded(2 * stddev / 3)));
    EXPECT_FALSE(follows(positive, folded(1.5 * stddev)));
    // The share above 0 is one half: off by more than 3.3 / sqrt(n) with probability below 1e-9 (Hoeffding).
    EXPECT_NEAR(static_cast<double>(positive.size()) / kRuns, 0.5, 3.3 / std::sqrt(kRuns));
  }
}

// ---- answers that are choices ----

// Only batches of a public size, so that the exact sums are known beforehand.
std::vector<Setting> sure_settings() {
  std::vector<Setting> sure;
  for (const Setting& setting : all_settings()) {
    const bool poisson = setting.sampler->sampled(Event::gaussian(1)).describe().starts_with("Poisson");
    if (!poisson) sure.push_back(setting);
  }
  return sure;
}
double size_of_batch(const Sampler& sampler) {
  return static_cast<double>(sampler.public_size().value_or(kRows));
}

// Losses at w are 0.5 w per row, so along the line from w = 1 those of steps 0.2, 0.6, ... fall.
const Vector kSteps = {0.2, 0.6, 1.0, 0.4, 0.1, 0.3, 0.2, 0.8, 0.9, 0.5};  // more than one chunk
const Vector kMargins = {0.5, 2, 1, 0, 3, 1, -1, 2, 2, 0};

void expect_first_decrease(const std::variant<LaplaceSearch, GaussianSearch>& noise) {
  constexpr double kBound = 0.75;
  for (const Setting& setting : sure_settings()) {
    Door door(setting);
    std::vector<std::uint64_t> counts(kSteps.size() + 1);
    for (int i = 0; i < kRuns; ++i) {
      const auto found = door.oracle.first_decrease({door.one, door.one, kSteps}, kMargins,
                                                    {.loss_bound = kBound, .noise = noise});
      ++counts[found->point.value_or(kSteps.size())];
    }
    Vector queries;
    for (std::size_t k = 0; k < kSteps.size(); ++k) {
      queries.push_back(size_of_batch(door.sampler) * kRow * kSteps[k] - kMargins[k]);
    }
    const double sensitivity = kBound * (relative_bound(door.sampler.relation()) + 2 * setting.room);
    const auto law = [&](double scale) {
      return first_above_law(queries, 0, noise_of({.sensitivity = sensitivity * scale, .noise = noise}));
    };
    EXPECT_TRUE(follows_pmf(counts, law(1)));
    EXPECT_FALSE(follows_pmf(counts, law(2.0 / 3)));
    EXPECT_FALSE(follows_pmf(counts, law(1.5)));
  }
}

TEST(OracleNoise, OfTheFirstDecreaseWithLaplaceNoise) {
  expect_first_decrease(LaplaceSearch{.threshold_epsilon = 1, .query_epsilon = 0.8});
}
TEST(OracleNoise, OfTheFirstDecreaseWithGaussianNoise) {
  expect_first_decrease(GaussianSearch{.threshold_noise = 0.7, .query_noise = 0.9});
}

// A difference minus a margin of 2^52 is rounded to whole numbers: on two neighbours together it can move by
// one more, and two sums over 2^20 rows are not far from exact beside that.
TEST(OracleNoise, OfTheFirstDecreaseCoversTheRoundingOfHugeMargins) {
  const FullSampler sampler({.rows = kRows, .declared_rows = 10}, Relation::add_remove);
  Door door({std::shared_ptr<const Sampler>(&sampler, [](auto*) {}), 1, 0});
  const Vector steps = {0.2, 1.0, 0.5}, margins = {0.5, 1, 0x1p52};
  const std::variant<LaplaceSearch, GaussianSearch> noise = LaplaceSearch{1, 0.8};
  std::vector<std::uint64_t> counts(4);
  for (int i = 0; i < kRuns; ++i) {
    const auto found = door.oracle.first_decrease({door.one, door.one, steps}, margins, {1, noise});
    ++counts[found->point.value_or(3)];
  }
  const Vector queries = {kRows * kRow * 0.2 - 0.5, kRows * kRow * 1.0 - 1, -0x1p52};
  const auto law = [&](double sensitivity) {
    return first_above_law(queries, 0, noise_of({.sensitivity = sensitivity, .noise = noise}));
  };
  EXPECT_TRUE(follows_pmf(counts, law(2)));
  EXPECT_FALSE(follows_pmf(counts, law(1)));
  EXPECT_FALSE(follows_pmf(counts, law(3)));
}

// Under either relation the bound itself: a loss that leaves and one that comes cannot both add.
void expect_minimum(SelectionNoise noise, bool along) {
  constexpr double kBound = 0.75;
  constexpr double kEpsilon = 1.2;
  const Vector points = {1.0, 0.3, 0.6, 0.2, 0.8};
  const Vector steps = {0.0, 0.7, 0.4, 0.8, 0.2};
  std::vector<Objective::Parameters> candidates;
  for (const double& point : points) candidates.push_back(std::span(&point, 1));
  for (const Setting& setting : sure_settings()) {
    Door door(setting);
    const MinimumQuery query{.loss_bound = kBound, .epsilon = kEpsilon, .noise = noise};
    std::vector<std::uint64_t> counts(points.size());
    for (int i = 0; i < kRuns; ++i) {
      ++counts[along ? door.oracle.minimum_along({door.one, door.one, steps}, query).value()
                     : door.oracle.minimum(candidates, query).value()];
    }
    Scores scores;
    for (const double point : points) scores.push_back(-size_of_batch(door.sampler) * kRow * point);
    const auto law = [&](double scale) {
      const double rate = kEpsilon / (2 * kBound * (1 + setting.room) * scale);
      return noise == SelectionNoise::gumbel ? gumbel_noise_law(scores, rate)
                                             : exponential_noise_law(scores, rate);
    };
    EXPECT_TRUE(follows_pmf(counts, law(1)));
    EXPECT_FALSE(follows_pmf(counts, law(2.0 / 3)));
    EXPECT_FALSE(follows_pmf(counts, law(1.5)));
  }
}

TEST(OracleNoise, OfTheMinimum) {
  for (const SelectionNoise noise : {SelectionNoise::gumbel, SelectionNoise::exponential}) {
    expect_minimum(noise, false);
    expect_minimum(noise, true);
  }
}

}  // namespace
}  // namespace ration::testing
