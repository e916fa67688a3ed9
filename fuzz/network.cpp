// Networks drawn from all layers, and rows for them. Odd inputs: whatever the rows hold, none contributes
// more than its bound. Even ones, with rows of everyday numbers: the clipped sum is that of ordinary
// gradients, row by row.
#include <cmath>
#include <numeric>

#include "objectives/neural/drawn_networks.h"
#include "objectives/neural/nets.h"
#include "support/draw.h"
#include "support/fuzz.h"
#include "support/seeded.h"

using namespace ration;

namespace {

constexpr std::size_t kRows = 4;

class DrawnDice final : public nn::Dice {
 public:
  DrawnDice(const std::uint8_t* data, std::size_t size) : draw_(data, size), random_(draw_.word(2)) {}
  std::int64_t below(std::int64_t n) override {
    return static_cast<std::int64_t>(draw_.below(static_cast<std::size_t>(n)));
  }
  // Once the input has ended, from its seed: a network of zeros would teach nothing.
  double normal() override {
    const double bits =
        draw_.is_empty() ? static_cast<double>(random_.next_word() >> 48) : double(draw_.word(2));
    return 6 * (bits / 65535) - 3;
  }
  RandomSource& source() override { return random_; }

 private:
  fuzz::Draw draw_;
  fuzz::SeededRandom random_;
};

void check_bounds(DrawnDice& dice, Objective& objective, const std::vector<double>& w) {
  const AnyClipRule rule = nn::draw_rule(dice);
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const double alone = nn::length(nn::clipped(objective, w, {.rows = {row}}, rule));
    fuzz::expect(alone <= rule.bound(), "a row contributes more than its bound");
  }
  const double all = nn::length(nn::clipped(objective, w, nn::all_rows(kRows), rule));
  fuzz::expect(all <= kRows * rule.bound(), "rows together contribute more than their bounds");
}

void check_sum(const nn::DrawnCase& drawn, const Rows& rows, Objective& objective,
               const std::vector<double>& w) {
  constexpr double kRounding = 1e-4;
  const Batch batch = nn::all_rows(kRows);
  for (const AnyClipRule& rule : {AnyClipRule(Abadi{1e4}), AnyClipRule(Abadi{0.1}), AnyClipRule(AutoV{1})}) {
    double lengths = 0;
    const auto expected = nn::clipped_sum_row_by_row(drawn.net, rows, drawn.options, batch, rule, &lengths);
    const double apart = nn::distance(nn::clipped(objective, w, batch, rule), expected);
    const double room = rule.bound() < 1e4 ? nn::kRoomOfSums : 0;
    fuzz::expect(apart <= (kRounding + room) * lengths + 1e-30, "the clipped sum is not that of its rows");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int threads = (torch::set_num_threads(1), 1);
  (void)threads;
  DrawnDice dice(data, size);
  const bool tame = !dice.one_in(2);
  const nn::DrawnCase drawn = nn::draw_case(dice, tame);
  const auto rows = nn::draw_rows(dice, drawn, kRows, tame);
  std::unique_ptr<Objective> objective;
  // A drawn network may be one that is refused, with gradients that are infinite everywhere for example.
  const bool taken =
      fuzz::accepts_or_refuses([&] { objective = nn::make_neural(drawn.net, rows, drawn.options); });
  if (!taken) return 0;
  const std::vector<double> w = nn::trained_parameters(*drawn.net.module);
  fuzz::accepts_or_refuses([&] {
    if (tame) {
      check_sum(drawn, *rows, *objective, w);
    } else {
      check_bounds(dice, *objective, w);
    }
  });
  return 0;
}
