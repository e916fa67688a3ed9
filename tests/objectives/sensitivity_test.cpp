// The conformance suite: whatever the rows hold, neighbouring batches differ by no more than
// clipping/sensitivity.h says.
#include "ration/clipping/sensitivity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <tuple>

#include "objectives/tables.h"
#include "objectives/views.h"
#include "support/generators.h"

namespace ration::testing {
namespace {

double norm(const std::vector<double>& v) {
  double squares = 0;
  for (const double x : v) squares += x * x;
  return std::sqrt(squares);
}

double distance(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a);
}

// Two batches of one table that differ by one row, or one unit: under add_remove the second lacks a row of
// the first; under replace_one each lacks a row that the other has.
struct Neighbours {
  Batch first;
  Batch second;
};

Neighbours neighbours(Relation relation, std::size_t rows, std::mt19937_64& random) {
  const std::size_t left_out = random() % rows;
  if (relation == Relation::add_remove) return {all(rows), all_but(rows, left_out)};
  return {all_but(rows, (left_out + 1 + random() % (rows - 1)) % rows), all_but(rows, left_out)};
}

struct Case {
  std::shared_ptr<const Rows> rows;
  std::shared_ptr<const Units> units;   // null: each row is by itself
  std::shared_ptr<const RowView> view;  // null: rows are seen as they are
  std::unique_ptr<Objective> objective;
  Neighbours batches;
  std::vector<double> w;
  std::vector<double> other_w;
  double bound;
};

// Rows as they are, or seen through a map; or units of rows, which is what batches then number.
enum class Looking { directly, through_a_map, at_units, at_units_through_a_map };

// Units of 1 to 40 rows, some without any.
std::shared_ptr<const Units> random_units(std::size_t count, std::mt19937_64& random) {
  constexpr std::size_t kMost = 40;
  std::vector<std::size_t> starts{0};
  for (std::size_t unit = 0; unit < count; ++unit)
    starts.push_back(starts.back() +
                     (random() % 8 == 0 ? 0 : 1 + random() % (random() % 2 == 0 ? 4 : kMost)));
  return std::make_shared<const Units>(starts, kMost, random() % 2 == 0);
}

using Setting = std::tuple<GlmLoss, Storage, std::string_view, Relation, Looking>;

class EveryObjective : public ::testing::TestWithParam<Setting> {
 protected:
  GlmLoss loss() const { return std::get<0>(GetParam()); }
  Relation relation() const { return std::get<3>(GetParam()); }
  bool through_a_map() const {
    const Looking looking = std::get<4>(GetParam());
    return looking == Looking::through_a_map || looking == Looking::at_units_through_a_map;
  }
  bool at_units() const { return std::get<4>(GetParam()) >= Looking::at_units; }
  AnyClipRule rule(double bound, double gamma) const {
    return AnyClipRule::of(named<ClipKind>(std::get<2>(GetParam())), bound, gamma);
  }

  Case draw() const {
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    const std::size_t numbered = *rc::gen::inRange<std::size_t>(2, at_units() ? 6 : 24);
    const auto units = at_units() ? random_units(numbered, random) : nullptr;
    const std::size_t rows = units ? units->rows() : numbered;
    const std::size_t columns = *rc::gen::inRange<std::size_t>(1, 8);
    const double scale = *log_uniform(1e-3, 1e3);
    Case drawn{.rows = random_table(loss(), std::get<1>(GetParam()), rows, columns,
                                    *rc::gen::arbitrary<bool>(), random),
               .units = units,
               .view = nullptr,
               .objective = nullptr,
               .batches = neighbours(relation(), numbered, random),
               .w = {},
               .other_w = {},
               .bound = *log_uniform(1e-3, 1e3)};
    drawn.objective = make_glm(
        drawn.rows, {.loss = loss(), .classes = kClasses, .huber_width = 0.5, .threads = 1, .units = units});
    if (through_a_map()) {
      drawn.view = random_view(columns, 1 + random() % 8, *log_uniform(1e-6, 1e6), random);
      drawn.objective = drawn.objective->seen_through(drawn.view);
    }
    drawn.w = random_weights(drawn.objective->parameters(), scale, random);
    drawn.other_w = random_weights(drawn.objective->parameters(), scale, random);
    return drawn;
  }
};

// What rounding may take of sums of up to 24 contributions of norm at most `bound` on their way through a
// map, or from units. There is none otherwise: the clip factor leaves it (kRoundingRoom).
double rounding_of(const Case& drawn, double bound) {
  if (!drawn.view && !drawn.units) return 0;
  const auto chain = static_cast<double>(drawn.objective->longest_chain(24));
  return 2 * 24 * chain * 0x1p-53 * bound * drawn.objective->magnification();
}

TEST_P(EveryObjective, GradientSumsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const AnyClipRule clip = rule(drawn.bound, *log_uniform(1e-6, 10));
    const auto first = gradient_sum(*drawn.objective, drawn.w, drawn.batches.first, clip);
    const auto second = gradient_sum(*drawn.objective, drawn.w, drawn.batches.second, clip);
    RC_ASSERT(distance(first, second) <= clip.sensitivity(relation()) + rounding_of(drawn, drawn.bound));
  }));
}

// sum = sum of the rows, or of what is seen of them.
std::vector<double> row_sum(const Case& drawn, const Batch& batch) {
  std::vector<double> sum(drawn.objective->facts().columns, std::nan(""));
  drawn.objective->shortened_row_sum(batch, drawn.bound, sum);
  return sum;
}

// As it is released: the diagonal, and sqrt(2) times the rest.
std::vector<double> second_moment(const Case& drawn, const Batch& batch) {
  const std::size_t side = drawn.view->coordinates();
  std::vector<double> upper(triangle_size(side), std::nan(""));
  drawn.objective->second_moment_sum(batch, drawn.bound, upper);
  for (std::size_t i = 0, at = 0; i < side; ++i) {
    for (std::size_t j = i; j < side; ++j, ++at) upper[at] *= i == j ? 1 : std::sqrt(2.0);
  }
  return upper;
}

TEST_P(EveryObjective, SumsOfRowsAndTheirSecondMomentsAreCloseForNeighbours) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const double room = rounding_of(drawn, drawn.bound);
    RC_ASSERT(distance(row_sum(drawn, drawn.batches.first), row_sum(drawn, drawn.batches.second)) <=
              gradient_sum_sensitivity(drawn.bound, relation()) + room);
    if (!drawn.view) return;
    RC_ASSERT(
        distance(second_moment(drawn, drawn.batches.first), second_moment(drawn, drawn.batches.second)) <=
        second_moment_sensitivity(drawn.bound, relation()) +
            std::sqrt(2.0) * drawn.objective->magnification() * drawn.bound * room);
  }));
}

TEST_P(EveryObjective, SquaredNormsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const AnyClipRule clip = rule(drawn.bound, *log_uniform(1e-6, 10));
    const double first = norm(gradient_sum(*drawn.objective, drawn.w, drawn.batches.first, clip));
    const double second = norm(gradient_sum(*drawn.objective, drawn.w, drawn.batches.second, clip));
    const double allowed = squared_norm_sensitivity(drawn.bound, drawn.batches.first.rows.size(), relation());
    const double room = rounding_of(drawn, drawn.bound);
    RC_ASSERT(std::abs(first * first - second * second) <= allowed + 2 * (first + second + room) * room);
  }));
}

// A sum of up to 24 losses rounds by less than 1e-13 of its largest possible term.
TEST_P(EveryObjective, LossSumsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const auto first =
        loss_sums(*drawn.objective, {drawn.w, drawn.other_w}, drawn.batches.first, drawn.bound);
    const auto second =
        loss_sums(*drawn.objective, {drawn.w, drawn.other_w}, drawn.batches.second, drawn.bound);
    const double room = 1e-13 * drawn.bound;
    RC_ASSERT(first[0] >= 0);
    RC_ASSERT(std::abs(first[0] - second[0]) <= loss_sum_sensitivity(drawn.bound, relation()) + room);
    RC_ASSERT(std::abs((first[0] - first[1]) - (second[0] - second[1])) <=
              loss_difference_sensitivity(drawn.bound, relation()) + room);
  }));
}

// A unit has one vote, however many rows it has.
TEST_P(EveryObjective, LabelCountsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const std::size_t classes = drawn.objective->facts().label_classes;
    if (classes == 0) return;
    std::vector<double> first(classes), second(classes);
    drawn.objective->label_counts(drawn.batches.first, first);
    drawn.objective->label_counts(drawn.batches.second, second);
    RC_ASSERT(distance(first, second) <= histogram_sensitivity_l2(relation()) * (1 + 1e-12));
  }));
}

TEST_P(EveryObjective, CountsOfNeighboursAreClose) {
  EXPECT_TRUE(rc::check([&] {
    const Case drawn = draw();
    const auto first = drawn.objective->count_norms_at_most(drawn.w, drawn.batches.first, drawn.bound);
    const auto second = drawn.objective->count_norms_at_most(drawn.w, drawn.batches.second, drawn.bound);
    RC_ASSERT(std::abs(static_cast<double>(first) - static_cast<double>(second)) <=
              count_sensitivity(relation()));
  }));
}

std::string name_of(const ::testing::TestParamInfo<Setting>& info) {
  std::string name(to_string(std::get<0>(info.param)));
  name += std::get<1>(info.param) == Storage::dense ? "_dense_" : "_sparse_";
  for (const char letter : std::get<2>(info.param)) name += letter == '-' ? '_' : letter;
  name += "_" + std::string(to_string(std::get<3>(info.param)));
  constexpr std::array kEndings{"", "_seen", "_units", "_units_seen"};
  return name + kEndings.at(static_cast<std::size_t>(std::get<4>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(All, EveryObjective,
                         ::testing::Combine(::testing::ValuesIn(kAllLosses),
                                            ::testing::Values(Storage::dense, Storage::sparse),
                                            ::testing::ValuesIn(names_of<ClipKind>()),
                                            ::testing::Values(Relation::add_remove, Relation::replace_one),
                                            ::testing::Values(Looking::directly, Looking::through_a_map,
                                                              Looking::at_units,
                                                              Looking::at_units_through_a_map)),
                         name_of);

// The figures are reached, so none could be smaller, and a suite that never came near would say nothing.
// Rows 0 and 1 are the same feature with opposite labels, 2 is a copy of 0.
class Tightness : public ::testing::Test {
 protected:
  std::unique_ptr<Objective> objective_ =
      glm(GlmLoss::logistic, store(Storage::dense, 1, {1e3, 1e3, 1e3}, {0, 1, 0}));
  std::vector<double> at(const std::vector<double>& w, std::vector<std::uint64_t> rows) {
    return gradient_sum(*objective_, w, {.rows = std::move(rows), .divisor = 1}, Abadi{2});
  }
  double losses(double w, std::vector<std::uint64_t> rows) {
    return loss_sums(*objective_, {{w}}, {.rows = std::move(rows), .divisor = 1}, 2)[0];
  }
};

TEST_F(Tightness, OfGradientSums) {
  EXPECT_NEAR(distance(at({0}, {0, 1}), at({0}, {0})), gradient_sum_sensitivity(2, Relation::add_remove),
              1e-9);
  EXPECT_NEAR(distance(at({0}, {0}), at({0}, {1})), gradient_sum_sensitivity(2, Relation::replace_one), 1e-9);
}

TEST_F(Tightness, OfLossSumsAndTheirDifferences) {
  EXPECT_NEAR(losses(1, {0, 1}) - losses(1, {1}), loss_sum_sensitivity(2, Relation::add_remove), 1e-9);
  EXPECT_NEAR(losses(1, {0}) - losses(1, {1}), loss_sum_sensitivity(2, Relation::replace_one), 1e-9);
  const auto difference = [&](std::vector<std::uint64_t> rows) { return losses(1, rows) - losses(-1, rows); };
  EXPECT_NEAR(difference({0}), loss_difference_sensitivity(2, Relation::add_remove), 1e-9);
  EXPECT_NEAR(difference({0}) - difference({1}), loss_difference_sensitivity(2, Relation::replace_one), 1e-9);
}

TEST_F(Tightness, OfSquaredNorms) {
  const auto squared = [&](std::vector<std::uint64_t> rows) {
    return std::pow(norm(at({0}, std::move(rows))), 2);
  };
  EXPECT_NEAR(squared({0, 2}) - squared({0}), squared_norm_sensitivity(2, 2, Relation::add_remove), 1e-9);
  // Reached up to one C^2.
  EXPECT_NEAR(squared({0, 2}) - squared({0, 1}), squared_norm_sensitivity(2, 2, Relation::replace_one) - 4,
              1e-9);
}

// Two rows at right angles, and one against the first.
class TightnessOfWhatIsSeen : public ::testing::Test {
 protected:
  static constexpr double kBound = 2;
  Case case_{.rows = store(Storage::dense, 2, {1e3, 0, 0, 1e3, -1e3, 0}, {0, 1, 1}),
             .units = nullptr,
             .view = std::make_shared<const RowView>(2, std::vector<std::size_t>{0, 1}, 2,
                                                     std::vector<double>{0, 5, 5, 0}),
             .objective = nullptr,
             .batches = {},
             .w = {},
             .other_w = {},
             .bound = kBound};
  void SetUp() override { case_.objective = glm(GlmLoss::logistic, case_.rows)->seen_through(case_.view); }

  static Batch of(std::vector<std::uint64_t> rows) { return {.rows = std::move(rows), .divisor = 1}; }
};

TEST_F(TightnessOfWhatIsSeen, OfSumsOfRows) {
  EXPECT_NEAR(distance(row_sum(case_, of({0, 1})), row_sum(case_, of({1}))),
              gradient_sum_sensitivity(kBound, Relation::add_remove), 1e-9);
  EXPECT_NEAR(distance(row_sum(case_, of({0})), row_sum(case_, of({2}))),
              gradient_sum_sensitivity(kBound, Relation::replace_one), 1e-9);
}

TEST_F(TightnessOfWhatIsSeen, OfSecondMoments) {
  EXPECT_NEAR(distance(second_moment(case_, of({0, 1})), second_moment(case_, of({1}))),
              second_moment_sensitivity(kBound, Relation::add_remove), 1e-9);
  EXPECT_NEAR(distance(second_moment(case_, of({0})), second_moment(case_, of({1}))),
              second_moment_sensitivity(kBound, Relation::replace_one), 1e-9);
}

// A row whose products are beside the diagonal counts as much as one whose square is on it.
TEST_F(TightnessOfWhatIsSeen, OfSecondMomentsOfARowBetweenTheAxes) {
  case_.rows = store(Storage::dense, 2, {1e3, 1e3, 1e3, -1e3}, {0, 1});
  SetUp();
  EXPECT_NEAR(distance(second_moment(case_, of({0, 1})), second_moment(case_, of({1}))),
              second_moment_sensitivity(kBound, Relation::add_remove), 1e-9);
  EXPECT_NEAR(distance(second_moment(case_, of({0})), second_moment(case_, of({1}))),
              second_moment_sensitivity(kBound, Relation::replace_one), 1e-9);
}

TEST_F(TightnessOfWhatIsSeen, OfGradientSums) {
  const auto gradient = [&](std::vector<std::uint64_t> rows) {
    return gradient_sum(*case_.objective, std::vector<double>{0, 0}, of(std::move(rows)), Abadi{kBound});
  };
  case_.rows = store(Storage::dense, 2, {1e3, 0, 1e3, 0}, {0, 1});  // the same row, labels that disagree
  SetUp();
  EXPECT_NEAR(distance(gradient({0, 1}), gradient({1})),
              gradient_sum_sensitivity(kBound, Relation::add_remove), 1e-9);
  EXPECT_NEAR(distance(gradient({0}), gradient({1})), gradient_sum_sensitivity(kBound, Relation::replace_one),
              1e-9);
}

// What such a row is multiplied by is subnormal: rounded to a few digits, it can be much too large. The
// factor is, or, where the model is sure, the slope times the factor alone.
TEST(SmallBounds, OfTheLongestRowsNoMoreIsLeftThanTheyAllow) {
  const std::vector<double> near_the_largest = {1.7e308, 1e300, 0, 1};
  const auto view = std::make_shared<const RowView>(4, std::vector<std::size_t>{0, 1, 3}, 3,
                                                    std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  for (const GlmLoss loss : kAllLosses) {
    const double label = loss == GlmLoss::squared ? 1e5 : 1;
    const auto directly = glm(loss, store(Storage::sparse, 4, near_the_largest, {label}));
    const auto seen = directly->seen_through(view);
    for (Objective* const objective : {directly.get(), seen.get()}) {
      const std::size_t columns = objective->facts().columns;
      std::vector<double> w(objective->parameters(), 0.0), row(columns);
      for (const double sure : {0.0, 9.0, 20.0, 30.0}) {
        w[(w.size() > columns ? columns : 0) + columns - 1] = sure;  // of the label's class
        for (const double bound : {8e-16, 2.7e-14, 3.3e-12, 1.1e-9, 1e-6, 1e-4, 1.0}) {
          const double most = bound * (1 + 1e-13);  // rounding of this test
          for (const AnyClipRule& rule :
               {AnyClipRule(Abadi{bound}), AnyClipRule(AutoV{bound}), AnyClipRule(AutoS{bound})}) {
            EXPECT_LE(norm(gradient_sum(*objective, w, all(1), rule)), most) << bound << ' ' << rule.name();
          }
          objective->shortened_row_sum(all(1), bound, row);
          EXPECT_LE(norm(row), most) << bound;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ration::testing
