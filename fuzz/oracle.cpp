// Neighbouring tables, models and queries drawn from the input: through the oracle, with next to no noise,
// the answers differ by no more than the sensitivity to which its noise is scaled.
#include "ration/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ration/clipping/sensitivity.h"
#include "ration/objectives/glm/glm.h"
#include "ration/objectives/row_view.h"
#include "ration/sampling/full.h"
#include "support/draw.h"
#include "support/fuzz.h"
#include "support/seeded.h"

using namespace ration;

namespace {

using Vector = std::vector<double>;

// So little noise that answers are what they would be without, to kRoom of the sensitivity.
constexpr double kNoise = 1e-9;
constexpr double kRoom = 1e-6;
constexpr std::size_t kClasses = 3;
constexpr double kRowNorm = 1;

class GrantsEverything final : public BudgetFilter {
 public:
  bool fits(const Event&) const override { return true; }
  bool spend(const Event&) override { return true; }
  double spent_epsilon() const override { return 0; }
  double spent_share() const override { return 0; }
};

struct Table {
  std::size_t columns;
  std::vector<Vector> rows;
  Vector labels;

  // Two tables of one kind are stored alike: what decides is public.
  std::shared_ptr<const Rows> stored(bool sparse, bool bounded) const {
    SparseMatrix matrix{.columns = columns, .starts = {0}, .indices = {}, .values = {}};
    Vector all;
    for (const Vector& row : rows) {
      for (std::size_t column = 0; column < columns; ++column) {
        if (row[column] != 0) matrix.add(column, row[column]);
      }
      matrix.end_row();
      all.insert(all.end(), row.begin(), row.end());
    }
    Rows out =
        sparse ? Rows::sparse(std::move(matrix), labels) : Rows::dense(columns, std::move(all), labels);
    return std::make_shared<const Rows>(bounded ? std::move(out).with_row_norms_at_most(kRowNorm)
                                                : std::move(out));
  }
};

Vector draw_row(fuzz::Draw& draw, std::size_t columns) {
  Vector row(columns);
  for (double& value : row) value = draw.any_double();
  return row;
}

double draw_label(fuzz::Draw& draw, GlmLoss loss) {
  if (loss == GlmLoss::squared) return draw.uniform(-3, 3);
  return static_cast<double>(draw.below(loss == GlmLoss::softmax ? kClasses : 2));
}

Vector draw_weights(fuzz::Draw& draw, std::size_t size) {
  const double scale = draw.log_uniform(1e-3, 1e3);
  Vector w(size);
  for (double& value : w) value = scale * draw.uniform(-1, 1);
  return w;
}

double distance(const Vector& a, const Vector& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

void expect_within(double difference, double sensitivity, const char* what) {
  fuzz::expect(difference <= sensitivity * (1 + kRoom), what);
}

// Two tables, what is public about them, and the door to each.
class Neighbours {
 public:
  explicit Neighbours(fuzz::Draw& draw) {
    relation_ = draw.flag() ? Relation::replace_one : Relation::add_remove;
    loss_ = draw.of<GlmLoss>(every<GlmLoss>());
    const bool sparse = draw.flag();
    bounded_ = draw.flag();
    const std::size_t columns = 1 + draw.below(6);
    const std::size_t rows = 1 + draw.below(12);
    first_ = second_ = {.columns = columns, .rows = {}, .labels = {}};
    for (std::size_t row = 0; row < rows; ++row) {
      first_.rows.push_back(draw_row(draw, columns));
      first_.labels.push_back(draw_label(draw, loss_));
    }
    change_one_row(draw);
    objectives_[0] = objective(first_, sparse);
    objectives_[1] = objective(second_, sparse);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t count = i == 0 ? first_.rows.size() : second_.rows.size();
      samplers_[i] = std::make_unique<FullSampler>(
          TableSize{.rows = count, .declared_rows = static_cast<double>(rows)}, relation_);
    }
  }

  Relation relation() const { return relation_; }
  GlmLoss loss() const { return loss_; }
  bool bounded() const { return bounded_; }
  std::size_t parameters() const { return objectives_[0]->parameters(); }
  std::size_t rows() const { return first_.rows.size(); }
  Objective& objective(std::size_t i) { return *objectives_[i]; }

  // Asks both; `ask` gets an oracle and returns its answer.
  template <class Ask>
  auto both(Ask ask) {
    const auto answer = [&](std::size_t i) {
      fuzz::SeededRandom random(1);
      GrantsEverything filter;
      PrivateOracle oracle(*objectives_[i], *samplers_[i], filter, random);
      return ask(oracle);
    };
    return std::pair(answer(0), answer(1));
  }

 private:
  void change_one_row(fuzz::Draw& draw) {
    second_ = first_;
    const std::size_t at = draw.below(first_.rows.size());
    if (relation_ == Relation::replace_one) {
      second_.rows[at] = draw_row(draw, first_.columns);
      second_.labels[at] = draw_label(draw, loss_);
    } else {
      second_.rows.erase(second_.rows.begin() + static_cast<std::ptrdiff_t>(at));
      second_.labels.erase(second_.labels.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  std::unique_ptr<Objective> objective(const Table& table, bool sparse) const {
    return make_glm(table.stored(sparse, bounded_),
                    {.loss = loss_, .classes = kClasses, .huber_width = 0.5, .threads = 1});
  }

  Relation relation_;
  GlmLoss loss_;
  bool bounded_;
  Table first_, second_;
  std::unique_ptr<Objective> objectives_[2];
  std::unique_ptr<Sampler> samplers_[2];
};

AnyClipRule draw_rule(fuzz::Draw& draw) {
  const auto kind = draw.of<ClipKind>(every<ClipKind>());
  const AnyClipRule rule = AnyClipRule::of(kind, draw.log_uniform(1e-3, 1e3), draw.log_uniform(1e-6, 10));
  return draw.flag() ? rule.per_layer() : rule;
}

void ask_gradient(fuzz::Draw& draw, Neighbours& pair) {
  const Vector w = draw_weights(draw, pair.parameters());
  const GradientQuery query{.clip = draw_rule(draw), .noise_multiplier = kNoise};
  double sensitivity = 0;
  const auto [a, b] = pair.both([&](PrivateOracle& oracle) {
    Vector mean(w.size());
    fuzz::expect(oracle.gradient(w, query, mean), "a query was refused");
    sensitivity = oracle.gradient_stddev(query) / kNoise;
    return mean;
  });
  expect_within(distance(a, b), sensitivity, "gradients of neighbours differ by more than their sensitivity");
}

// Any map that can be made, not only what methods make of noisy answers.
std::shared_ptr<const RowView> draw_view(fuzz::Draw& draw, std::size_t columns) {
  std::vector<std::size_t> used;
  for (std::size_t column = 0; column < columns; ++column) {
    if (draw.flag()) used.push_back(column);
  }
  if (used.empty()) used.push_back(draw.below(columns));
  const std::size_t coordinates = 1 + draw.below(5);
  const double size = draw.log_uniform(1e-100, 1e100);
  const bool tame = draw.flag();
  Vector matrix(used.size() * coordinates);
  for (double& value : matrix) value = tame ? size * draw.uniform(-1, 1) : draw.any_double();
  return std::make_shared<const RowView>(columns, std::move(used), coordinates, std::move(matrix));
}

void ask_gradient_of_what_is_seen(fuzz::Draw& draw, Neighbours& pair) {
  const std::size_t columns = pair.objective(0).facts().columns;
  const auto view = draw_view(draw, columns);
  const Vector w = draw_weights(draw, pair.parameters() / columns * view->coordinates());
  const GradientQuery query{.clip = draw_rule(draw), .noise_multiplier = kNoise};
  double sensitivity = 0;
  const auto [a, b] = pair.both([&](PrivateOracle& oracle) {
    oracle.look_through(view);
    Vector mean(w.size());
    fuzz::expect(oracle.gradient(w, query, mean), "a query was refused");
    sensitivity = oracle.gradient_stddev(query) / kNoise;
    return mean;
  });
  expect_within(distance(a, b), sensitivity,
                "gradients of what is seen of neighbours differ by more than their sensitivity");
}

// Of the rows as they are, or of what is seen of them.
void ask_mean_of_rows(fuzz::Draw& draw, Neighbours& pair) {
  const std::size_t columns = pair.objective(0).facts().columns;
  const auto view = draw.flag() ? draw_view(draw, columns) : nullptr;
  const MeanOfRowsQuery query{.bound = draw.log_uniform(1e-3, 1e3), .noise_multiplier = kNoise};
  double sensitivity = 0;
  const auto [a, b] = pair.both([&](PrivateOracle& oracle) {
    if (view) oracle.look_through(view);
    Vector mean(view ? view->coordinates() : columns);
    fuzz::expect(oracle.mean_of_rows(query, mean), "a query was refused");
    sensitivity = oracle.mean_of_rows_stddev(query) / kNoise;
    return mean;
  });
  expect_within(distance(a, b), sensitivity, "means of neighbours differ by more than their sensitivity");
}

void ask_second_moment(fuzz::Draw& draw, Neighbours& pair) {
  const auto view = draw_view(draw, pair.objective(0).facts().columns);
  const std::size_t side = view->coordinates();
  const SecondMomentQuery query{.bound = draw.log_uniform(1e-3, 1e3), .noise_multiplier = kNoise};
  double sensitivity = 0;
  const auto [a, b] = pair.both([&](PrivateOracle& oracle) {
    oracle.look_through(view);
    Vector upper(triangle_size(side));
    fuzz::expect(oracle.second_moment(query, upper), "a query was refused");
    sensitivity = oracle.second_moment_stddev(query) / kNoise;
    // The length of the matrix: what is beside the diagonal is there twice.
    for (std::size_t row = 0, at = 0; row < side; ++row) {
      for (std::size_t column = row; column < side; ++column, ++at)
        upper[at] *= row == column ? 1 : std::sqrt(2);
    }
    return upper;
  });
  expect_within(distance(a, b), sensitivity,
                "second moments of neighbours differ by more than their sensitivity");
}

void ask_squared_norm(fuzz::Draw& draw, Neighbours& pair) {
  if (pair.relation() != Relation::replace_one) return;  // no public size
  const Vector w = draw_weights(draw, pair.parameters());
  const SquaredNormQuery query{.clip = draw_rule(draw), .noise_multiplier = kNoise};
  const auto [a, b] = pair.both([&](PrivateOracle& oracle) { return oracle.squared_norm(w, query).value(); });
  const auto m = static_cast<double>(pair.rows());
  expect_within(std::abs(a - b) * m * m,
                squared_norm_sensitivity(query.clip.bound(), pair.rows(), pair.relation()),
                "squared norms of neighbours differ by more than their sensitivity");
}

void ask_count(fuzz::Draw& draw, Neighbours& pair) {
  const Vector w = draw_weights(draw, pair.parameters());
  const CountQuery query{.bound = draw.log_uniform(1e-6, 1e6), .noise_multiplier = kNoise};
  const auto [a, b] =
      pair.both([&](PrivateOracle& oracle) { return oracle.count(w, query).value() * oracle.divisor(); });
  expect_within(std::abs(a - b), count_sensitivity(pair.relation()),
                "counts of neighbours differ by more than their sensitivity");
}

void ask_label_counts(fuzz::Draw&, Neighbours& pair) {
  const std::size_t classes = pair.objective(0).facts().label_classes;
  if (classes == 0) return;
  const auto [a, b] = pair.both([&](PrivateOracle& oracle) {
    Vector counts(classes);
    fuzz::expect(oracle.label_counts({.noise_multiplier = kNoise}, counts), "a query was refused");
    return counts;
  });
  expect_within(distance(a, b), histogram_sensitivity_l2(pair.relation()),
                "label counts of neighbours differ by more than their sensitivity");
}

void ask_fit(fuzz::Draw& draw, Neighbours& pair) {
  if (!pair.bounded()) return;
  OutputQuery query{
      .ridge = draw.flag() ? draw.log_uniform(1e-4, 1) : 0, .row_norm = kRowNorm, .noise_multiplier = kNoise};
  const double step = draw.log_uniform(1e-3, 4);
  if (draw.flag() || pair.relation() == Relation::add_remove) {
    query.fit = DescentFit{.steps = 1 + draw.below(8), .step_size = step};
  } else {  // with the same order of the rows on both tables
    query.fit = PassesFit{.passes = 1 + draw.below(3),
                          .batch = 1 + draw.below(4),
                          .step_size = step,
                          .result = draw.flag() ? PassesFit::Result::last : PassesFit::Result::pass_averages};
  }
  fuzz::accepts_or_refuses([&] {  // of a loss without a proof, or too long a step
    double sensitivity = 0;
    const auto [a, b] = pair.both([&](PrivateOracle& oracle) {
      Vector w(pair.parameters());
      fuzz::expect(oracle.perturbed_fit(query, w), "a query was refused");
      sensitivity = oracle.perturbed_fit_stddev(query) / kNoise;
      return w;
    });
    expect_within(distance(a, b), sensitivity, "fits of neighbours differ by more than their sensitivity");
  });
}

// What noisy minimum and AboveThreshold compare. Only which point won leaves the oracle, so the sums
// themselves are looked at.
void compare_losses(fuzz::Draw& draw, Neighbours& pair) {
  const double bound = draw.log_uniform(1e-3, 1e3);
  const Vector start = draw_weights(draw, pair.parameters());
  const Vector direction = draw_weights(draw, pair.parameters());
  const Vector steps{0, draw.log_uniform(1e-3, 1e3)};
  Vector sums[2] = {Vector(2), Vector(2)};
  for (std::size_t i = 0; i < 2; ++i) {
    Batch batch;
    for (std::uint64_t row = 0; row < pair.objective(i).rows(); ++row) batch.rows.push_back(row);
    pair.objective(i).clipped_loss_sums_along({start, direction, steps}, batch, bound, sums[i]);
  }
  for (std::size_t k = 0; k < 2; ++k)
    expect_within(std::abs(sums[0][k] - sums[1][k]), loss_sum_sensitivity(bound, pair.relation()),
                  "losses of neighbours differ by more than their sensitivity");
  expect_within(std::abs((sums[0][0] - sums[0][1]) - (sums[1][0] - sums[1][1])),
                loss_difference_sensitivity(bound, pair.relation()),
                "differences of losses of neighbours differ by more than their sensitivity");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Draw draw(data, size);
  constexpr void (*kQueries[])(fuzz::Draw&, Neighbours&) = {ask_gradient,
                                                            ask_squared_norm,
                                                            ask_count,
                                                            ask_label_counts,
                                                            ask_fit,
                                                            compare_losses,
                                                            ask_gradient_of_what_is_seen,
                                                            ask_mean_of_rows,
                                                            ask_second_moment};
  const auto ask = kQueries[draw.below(std::size(kQueries))];
  Neighbours pair(draw);
  fuzz::accepts_or_refuses([&] { ask(draw, pair); });
  return 0;
}
