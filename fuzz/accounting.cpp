// Events drawn from the input, accounted for in every way that has a theorem for them: no figure is NaN or
// negative, none falls with more steps, one more event or a smaller delta, and no accountant's bound lies
// below what another proves to be spent.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ration/privacy/accountant.h"
#include "support/draw.h"
#include "support/fuzz.h"

using namespace ration;

namespace {

Event draw_mechanism(fuzz::Draw& draw) {
  switch (draw.below(9)) {
    case 0:
      return Event::laplace(draw.log_uniform(0.1, 1e4));
    case 1:
      return Event::pure_dp(draw.log_uniform(1e-6, 5));
    case 2:
      return Event::above_threshold_laplace(draw.log_uniform(1e-4, 2), draw.log_uniform(1e-4, 2));
    case 3:
      return Event::above_threshold_gaussian(draw.log_uniform(1, 100), draw.log_uniform(1, 100),
                                             draw.between(1, 50));
    case 4:
      return Event::discrete_gaussian(draw.log_uniform(0.5, 1e3));
    case 5:
      return Event::noisy_max(draw.log_uniform(1e-4, 2));
    case 6:
      return Event::bounded_range(draw.log_uniform(1e-4, 2));
    default:
      return Event::gaussian(draw.log_uniform(0.4, 1e4));
  }
}

Event draw_step(fuzz::Draw& draw) {
  switch (draw.below(4)) {
    case 0:
      return Event::poisson_sampled(draw.log_uniform(1e-4, 1), Event::gaussian(draw.log_uniform(0.5, 50)));
    case 1:
      return Event::fixed_size_sampled(draw.log_uniform(1e-4, 1), Event::gaussian(draw.log_uniform(0.5, 50)));
    default:
      return draw_mechanism(draw);
  }
}

struct Question {
  std::vector<Event> parts;
  Relation relation;
  double delta;

  Event event() const { return Event::composed(parts); }
};

// Nothing if the accountant has no theorem, or none that certifies.
std::optional<Guarantee> ask(const Question& question, Accountant accountant) {
  if (!refusal(question.event(), question.relation, accountant).empty()) return std::nullopt;
  std::optional<Guarantee> found;
  fuzz::accepts_or_refuses(
      [&] { found = account(question.event(), question.relation, accountant, question.delta); });
  if (!found) return std::nullopt;
  fuzz::expect(found->epsilon >= 0, "epsilon is NaN or below zero");
  fuzz::expect(!found->epsilon_lower || *found->epsilon_lower <= found->epsilon,
               "the bounds are in disorder");
  return found;
}

// A lattice has its own slack (PldOptions::tolerance), and may be chosen otherwise for another plan.
double slack(Accountant accountant, double epsilon) {
  return accountant == Accountant::pld ? 2e-3 * std::max(1.0, epsilon) : 1e-9 * epsilon;
}

void expect_not_cheaper(const Question& less, const Question& more, Accountant accountant, const char* what) {
  const auto low = ask(less, accountant);
  const auto high = ask(more, accountant);
  if (!low || !high || std::isinf(high->epsilon)) return;
  fuzz::expect(low->epsilon <= high->epsilon + slack(accountant, high->epsilon), what);
}

// The lower end of one theorem's interval lies below every other's upper end: both bound the same truth.
void expect_agreement(const Question& question, bool with_pld) {
  double truth = 0, least = std::numeric_limits<double>::infinity();
  for (const Accountant accountant : kAccountants) {
    if (accountant == Accountant::pld && !with_pld) continue;
    const auto found = ask(question, accountant);
    if (!found || !found->certified) continue;
    least = std::min(least, found->epsilon);
    if (found->epsilon_lower) truth = std::max(truth, *found->epsilon_lower);
  }
  fuzz::expect(truth <= least * (1 + 1e-9) + 1e-12,
               "one accountant's bound lies below what another proves is spent");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Draw draw(data, size);
  // Distributions take a hundred times as long as formulas.
  const Accountant accountant = draw.of<Accountant>(kAccountants);
  const bool with_pld = accountant == Accountant::pld;
  Question question{.parts = {},
                    .relation = draw.flag() ? Relation::replace_one : Relation::add_remove,
                    .delta = draw.log_uniform(1e-12, 0.1)};
  const std::size_t kinds = 1 + draw.below(3);
  for (std::size_t i = 0; i < kinds; ++i)
    question.parts.push_back(Event::repeated(draw_step(draw), draw.between(1, with_pld ? 50 : 2000)));

  expect_agreement(question, with_pld);
  Question longer = question;
  longer.parts.push_back(longer.parts.front());
  expect_not_cheaper(question, longer, accountant, "epsilon falls with more steps");
  Question more = question;
  more.parts.push_back(draw_step(draw));
  expect_not_cheaper(question, more, accountant, "epsilon falls with one more event");
  Question stricter = question;
  stricter.delta /= draw.log_uniform(1, 1e3);
  expect_not_cheaper(question, stricter, accountant, "epsilon falls with delta");
  return 0;
}
