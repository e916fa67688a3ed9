// No row of a drawn network contributes more than its bound, under any rule, whatever the rows hold.
#include "objectives/neural/drawn_networks.h"

#include <gtest/gtest.h>

#include "base/distributions.h"
#include "objectives/neural/nets.h"
#include "support/doubles.h"

namespace ration::nn {
namespace {

class SeededDice final : public Dice {
 public:
  explicit SeededDice(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) override {
    return static_cast<std::int64_t>(uniform_below(random_, static_cast<std::uint64_t>(n)));
  }
  double normal() override { return standard_gaussian(random_); }
  RandomSource& source() override { return random_; }

 private:
  ration::testing::SeededRandom random_;
};

TEST(DrawnNetworks, NoRowContributesMoreThanItsBound) {
  constexpr std::size_t kRows = 6;
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    SeededDice dice(seed);
    const DrawnCase drawn = draw_case(dice, false);
    const auto rows = draw_rows(dice, drawn, kRows, false);
    std::unique_ptr<Objective> objective;
    const std::string why = refusal([&] { objective = make_neural(drawn.net, rows, drawn.options); });
    if (!why.empty()) continue;  // such as gradients that are infinite everywhere
    ++tried;
    const auto w = trained_parameters(*drawn.net.module);
    for (int i = 0; i < 3; ++i) {
      const AnyClipRule rule = draw_rule(dice);
      for (std::uint64_t row = 0; row < kRows; ++row) {
        const double alone = length(clipped(*objective, w, {.rows = {row}}, rule));
        EXPECT_LE(alone, rule.bound()) << "row " << row << " " << rule.name() << rule.is_per_layer();
      }
      for (const double value : clipped(*objective, w, all_rows(kRows), rule))
        ASSERT_TRUE(std::isfinite(value));
      EXPECT_LE(length(clipped(*objective, w, all_rows(kRows), rule)), kRows * rule.bound());
    }
  }
  EXPECT_GE(tried, 350);
}

// None of these is refused, and the sums are those of ordinary gradients, clipped or not.
TEST(DrawnNetworks, GiveTheClippedSum) {
  constexpr std::size_t kRows = 6;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    SeededDice dice(1000 + seed);
    const DrawnCase drawn = draw_case(dice, true);
    const auto rows = draw_rows(dice, drawn, kRows, true);
    const auto objective = make_neural(drawn.net, rows, drawn.options);
    const auto w = trained_parameters(*drawn.net.module);
    for (const AnyClipRule& rule :
         {AnyClipRule(Abadi{1e4}), AnyClipRule(Abadi{0.1}), AnyClipRule(AutoV{1})}) {
      expect_clipped_sum(*objective, drawn.net, *rows, drawn.options, w, all_rows(kRows), rule,
                         rule.bound() < 1e4 ? kRoomOfSums : 0);
    }
  }
}

}  // namespace
}  // namespace ration::nn
