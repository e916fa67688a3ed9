#include "ration/privacy/event.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "privacy/event_hash.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string message(const std::function<void()>& build) {
  try {
    build();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::int64_t total_count(const std::vector<CountedEvent>& events) {
  std::int64_t total = 0;
  for (const CountedEvent& event : events) total += event.count;
  return total;
}

TEST(Event, ConstructorsPrintTheViolatedInequality) {
  const Event fine = Event::gaussian(1);
  EXPECT_EQ(message([] { Event::gaussian(0); }),
            "Gaussian: expected noise_multiplier > 0, got noise_multiplier=0");
  EXPECT_EQ(message([] { Event::gaussian(-1); }),
            "Gaussian: expected noise_multiplier > 0, got noise_multiplier=-1");
  EXPECT_EQ(message([] { Event::laplace(0); }), "Laplace: expected scale > 0, got scale=0");
  EXPECT_EQ(message([] { Event::pure_dp(-0.5); }), "PureDp: expected epsilon >= 0, got epsilon=-0.5");
  EXPECT_EQ(message([] { Event::above_threshold_laplace(0, 1); }),
            "AboveThreshold: expected threshold_epsilon > 0, got threshold_epsilon=0");
  EXPECT_EQ(message([] { Event::above_threshold_laplace(1, -1); }),
            "AboveThreshold: expected query_epsilon > 0, got query_epsilon=-1");
  EXPECT_EQ(message([] { Event::above_threshold_gaussian(0, 1, 1); }),
            "AboveThreshold: expected threshold_noise > 0, got threshold_noise=0");
  EXPECT_EQ(message([] { Event::above_threshold_gaussian(1, 0, 1); }),
            "AboveThreshold: expected query_noise > 0, got query_noise=0");
  EXPECT_EQ(message([] { Event::above_threshold_gaussian(1, 1, -1); }),
            "AboveThreshold: expected queries >= 0, got queries=-1");
  EXPECT_EQ(message([] { Event::discrete_gaussian(0); }),
            "DiscreteGaussian: expected noise_multiplier > 0, got noise_multiplier=0");
  EXPECT_EQ(message([] { Event::noisy_max(0); }), "NoisyMax: expected epsilon > 0, got epsilon=0");
  EXPECT_EQ(message([] { Event::bounded_range(0); }), "BoundedRange: expected epsilon > 0, got epsilon=0");
  EXPECT_EQ(message([&] { Event::poisson_sampled(1.5, fine); }),
            "Poisson: expected 0 < rate <= 1, got rate=1.5");
  EXPECT_EQ(message([&] { Event::fixed_size_sampled(0, fine); }),
            "FixedSize: expected 0 < rate <= 1, got rate=0");
  EXPECT_EQ(message([&] { Event::repeated(fine, -1); }), "Repeated: expected count >= 0, got count=-1");
}

std::vector<Event> different_events() {
  const Event step = Event::poisson_sampled(0.01, Event::gaussian(1));
  return {Event::nothing(),
          Event::gaussian(1),
          Event::gaussian(std::nextafter(1.0, 2.0)),
          Event::discrete_gaussian(1),
          Event::laplace(1),
          Event::pure_dp(1),
          Event::noisy_max(1),
          Event::bounded_range(1),
          Event::above_threshold_laplace(1, 2),
          Event::above_threshold_laplace(2, 1),
          Event::above_threshold_gaussian(1, 2, 3),
          Event::above_threshold_gaussian(1, 2, 4),
          step,
          Event::poisson_sampled(0.02, Event::gaussian(1)),
          Event::poisson_sampled(0.01, Event::gaussian(2)),
          Event::fixed_size_sampled(0.01, Event::gaussian(1)),
          Event::composed({}),
          Event::composed({step}),
          Event::composed({step, Event::laplace(1)}),
          Event::composed({Event::laplace(1), step}),
          Event::repeated(step, 2),
          Event::repeated(step, 3)};
}

TEST(Event, IsEqualByKindAndNumbersAndNothingElse) {
  // Made twice: no node is shared.
  const std::vector<Event> events = different_events();
  const std::vector<Event> again = different_events();
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (std::size_t k = 0; k < events.size(); ++k) {
      EXPECT_EQ(events[i] == again[k], i == k) << events[i].describe() << " and " << again[k].describe();
    }
    EXPECT_EQ(EventHash{}(events[i]), EventHash{}(again[i])) << events[i].describe();
  }
  EXPECT_EQ(Event::pure_dp(0.0), Event::pure_dp(-0.0));
  EXPECT_EQ(EventHash{}(Event::pure_dp(0.0)), EventHash{}(Event::pure_dp(-0.0)));
}

TEST(Event, NoParameterMayBeNanOrInfinite) {
  const Event fine = Event::gaussian(1);
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    EXPECT_THROW(Event::gaussian(bad), InputError);
    EXPECT_THROW(Event::laplace(bad), InputError);
    EXPECT_THROW(Event::pure_dp(bad), InputError);
    EXPECT_THROW(Event::above_threshold_laplace(bad, 1), InputError);
    EXPECT_THROW(Event::above_threshold_laplace(1, bad), InputError);
    EXPECT_THROW(Event::above_threshold_gaussian(bad, 1, 1), InputError);
    EXPECT_THROW(Event::above_threshold_gaussian(1, bad, 1), InputError);
    EXPECT_THROW(Event::discrete_gaussian(bad), InputError);
    EXPECT_THROW(Event::noisy_max(bad), InputError);
    EXPECT_THROW(Event::bounded_range(bad), InputError);
    EXPECT_THROW(Event::poisson_sampled(bad, fine), InputError);
    EXPECT_THROW(Event::fixed_size_sampled(bad, fine), InputError);
  }
}

TEST(Event, DescribesItselfInTheWordsOfMessages) {
  const Event step = Event::poisson_sampled(0.01, Event::gaussian(1.1));
  EXPECT_EQ(Event::repeated(step, 1000).describe(), "Poisson(0.01) of Gaussian(noise 1.1), 1000 times");
  EXPECT_EQ(Event::fixed_size_sampled(0.5, Event::laplace(2)).describe(),
            "FixedSize(0.5) of Laplace(scale 2)");
  EXPECT_EQ(Event::composed({Event::nothing(), Event::pure_dp(0.5)}).describe(),
            "[nothing; PureDp(epsilon 0.5)]");
  EXPECT_EQ(Event::above_threshold_laplace(0.25, 0.5).describe(),
            "AboveThreshold(Laplace, epsilon 0.25 + 2 x 0.5)");
  EXPECT_EQ(Event::above_threshold_gaussian(2, 3, 20).describe(),
            "AboveThreshold(Gaussian, noise 2 and 3, at most 20 queries)");
  EXPECT_EQ(Event::discrete_gaussian(2).describe(), "DiscreteGaussian(noise 2)");
  EXPECT_EQ(Event::noisy_max(0.5).describe(), "NoisyMax(epsilon 0.5)");
  EXPECT_EQ(Event::bounded_range(0.5).describe(), "BoundedRange(epsilon 0.5)");
}

TEST(Flatten, CountsThroughEveryLevelOfNesting) {
  const Event gaussian = Event::gaussian(1);
  const Event pair = Event::composed({gaussian, Event::repeated(gaussian, 2)});
  const auto flat = flatten(Event::repeated(Event::composed({pair, pair}), 5));
  EXPECT_EQ(total_count(flat), 2 * (1 + 2) * 5);
  for (const CountedEvent& item : flat)
    EXPECT_TRUE(std::holds_alternative<Event::Gaussian>(item.event.node()));
}

TEST(Flatten, MergesEqualNeighbours) {
  const Event gaussian = Event::gaussian(1);
  const auto flat = flatten(Event::composed({gaussian, Event::repeated(gaussian, 2), gaussian}));
  ASSERT_EQ(flat.size(), 1u);
  EXPECT_EQ(flat[0].count, 4);
  EXPECT_EQ(flatten(Event::composed({gaussian, Event::laplace(1), gaussian})).size(), 3u);
}

TEST(Flatten, LeavesOutWhatReleasedNothing) {
  const Event never = Event::repeated(Event::gaussian(1), 0);
  EXPECT_TRUE(flatten(Event::composed({Event::nothing(), never, Event::composed({})})).empty());
  EXPECT_TRUE(flatten(Event::repeated(Event::composed({Event::gaussian(1)}), 0)).empty());
}

TEST(Flatten, LeavesTheInsideOfASampleWhole) {
  const Event inside = Event::composed({Event::gaussian(1), Event::repeated(Event::laplace(1), 3)});
  const auto flat = flatten(Event::repeated(Event::poisson_sampled(0.1, inside), 7));
  ASSERT_EQ(flat.size(), 1u);
  EXPECT_EQ(flat[0].count, 7);
  const auto& sampled = std::get<Event::PoissonSampled>(flat[0].event.node());
  EXPECT_EQ(flatten(sampled.base).size(), 2u);
}

// A count that wrapped around would make a huge run free.
TEST(Flatten, RefusesCountsThatOverflow) {
  const std::int64_t many = std::int64_t{1} << 62;
  const Event gaussian = Event::gaussian(1);
  EXPECT_THROW(flatten(Event::repeated(Event::repeated(gaussian, many), 4)), InputError);
  EXPECT_THROW(flatten(Event::composed({Event::repeated(gaussian, many), Event::repeated(gaussian, many)})),
               InputError);
  EXPECT_EQ(total_count(flatten(Event::repeated(Event::repeated(gaussian, many), 1))), many);
}

}  // namespace
}  // namespace ration
