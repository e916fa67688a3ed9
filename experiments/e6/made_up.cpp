#include "e6/made_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "ration/data/table.h"

namespace ration::e6 {
namespace {

using Random = std::mt19937_64;

double normal(Random& random) {
  return std::normal_distribution<double>()(random);
}

double uniform(Random& random) {
  return std::uniform_real_distribution<double>()(random);
}

// What a column is made of, and what it does to the label: one effect for each class but the first.
struct Source {
  std::vector<double> loadings;  // on the hidden factors; with its own part, of length 1
  double own = 1;
  std::vector<double> upper;                 // of categories: where each ends, as a cumulative share
  double spread = 0;                         // of a skewed number
  std::vector<std::vector<double>> effects;  // [output][category], or of a number: slope, bend, place, waves
};

std::vector<double> shares(std::size_t choices, double rarer, Random& random) {
  std::vector<double> each;
  for (std::size_t k = 0; k < choices; ++k) each.push_back(std::pow(static_cast<double>(k + 1), -rarer));
  std::shuffle(each.begin(), each.end(), random);
  double sum = 0;
  for (double& share : each) share = sum += share;
  for (double& share : each) share /= sum;
  return each;
}

Source drawn_source(const Family& family, bool is_number, std::size_t outputs, Random& random) {
  Source source;
  double squares = 0;
  for (std::size_t f = 0; f < family.factors; ++f) {
    source.loadings.push_back(normal(random));
    squares += source.loadings.back() * source.loadings.back();
  }
  const double related = std::min(1.0, family.related * (0.5 + uniform(random)));
  for (double& loading : source.loadings) loading *= std::sqrt(related / std::max(squares, 1e-9));
  source.own = std::sqrt(1 - related);
  std::size_t numbers_of_effect = 4;
  if (is_number) {
    source.spread = 0.5 + uniform(random);
  } else {
    const std::size_t more = family.most_choices - family.least_choices;
    const auto choices =
        family.least_choices + static_cast<std::size_t>(uniform(random) * static_cast<double>(more + 1));
    source.upper = shares(choices, family.rarer, random);
    numbers_of_effect = choices;
  }
  const bool used = uniform(random) < family.used;
  const double size = used ? std::exp(0.7 * normal(random)) : 0;
  for (std::size_t k = 0; k < outputs; ++k) {
    std::vector<double> effect(numbers_of_effect);
    for (double& value : effect) value = size * normal(random);
    if (is_number) {
      effect[0] *= 3 * (1 - family.bend);
      effect[1] *= 3 * family.bend;
      effect[2] = 0.1 + 0.8 * uniform(random);
      effect[3] *= family.bend;
    }
    source.effects.push_back(std::move(effect));
  }
  return source;
}

struct Cell {
  std::size_t category = 0;
  double value = 0;  // in [0, 1]
  double place = 0;  // its rank among all, in [0, 1]
};

double cumulative_normal(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

Cell draw_cell(const Family& family, const Source& source, std::span<const double> hidden, Random& random) {
  double score = source.own * normal(random);
  for (std::size_t f = 0; f < hidden.size(); ++f) score += source.loadings[f] * hidden[f];
  Cell cell;
  cell.place = cumulative_normal(score);
  if (!source.upper.empty()) {
    const auto at = std::lower_bound(source.upper.begin(), source.upper.end() - 1, cell.place);
    cell.category = static_cast<std::size_t>(at - source.upper.begin());
    return cell;
  }
  const double skewed = std::min(1.0, std::exp(2 * source.spread * (score - 3.5)));
  cell.value = (1 - family.skew) * cell.place + family.skew * skewed;
  return cell;
}

double effect_of(const Source& source, std::size_t output, const Cell& cell) {
  const std::vector<double>& effect = source.effects[output];
  if (!source.upper.empty()) return effect[cell.category];
  return effect[0] * cell.place + effect[1] * std::max(0.0, cell.place - effect[2]) +
         effect[3] * std::sin(6.3 * (cell.place + effect[2]));
}

void add_to_row(const Source& source, const Cell& cell, std::size_t& column, SparseMatrix& matrix) {
  if (source.upper.empty()) {
    matrix.add(column++, cell.value);
    return;
  }
  matrix.add(column + cell.category, 1);
  column += source.upper.size();
}

data::Schema schema_of(const Family& family, const std::vector<Source>& sources) {
  data::Schema schema;
  for (std::size_t j = 0; j < sources.size(); ++j) {
    data::Column column;
    column.name = fmt::format("column_{}", j);
    if (sources[j].upper.empty()) {
      column.type = data::ColumnType::number;
      column.high = 1000;
    } else {
      column.type = data::ColumnType::category;
      for (std::size_t c = 0; c < sources[j].upper.size(); ++c)
        column.categories.push_back(fmt::format("{}", c));
    }
    schema.columns.push_back(std::move(column));
  }
  data::Column label;
  label.name = "label";
  if (family.classes == 0) {
    label.type = data::ColumnType::number;
  } else {
    label.type = data::ColumnType::category;
    for (std::size_t c = 0; c < family.classes; ++c) label.categories.push_back(fmt::format("{}", c));
  }
  schema.columns.push_back(std::move(label));
  schema.label = "label";
  return schema;
}

// What is added to the log odds for the label's rate.
double intercept_for(std::span<const double> scores, double strength, double rate) {
  double low = -60, high = 60;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    double sum = 0;
    for (const double score : scores) sum += 1 / (1 + std::exp(-strength * score - middle));
    (sum < rate * static_cast<double>(scores.size()) ? low : high) = middle;
  }
  return low;
}

void standardise(std::vector<std::vector<double>>& scores) {
  for (std::vector<double>& of_output : scores) {
    double mean = 0, square = 0;
    for (const double score : of_output) mean += score / static_cast<double>(of_output.size());
    for (const double score : of_output) square += (score - mean) * (score - mean);
    const double scale = 1 / std::sqrt(std::max(1e-12, square / static_cast<double>(of_output.size())));
    for (double& score : of_output) score = scale * (score - mean);
  }
}

std::vector<double> labels_for(const Family& family, std::vector<std::vector<double>> scores,
                               Random& random) {
  standardise(scores);
  std::vector<double> labels;
  const std::size_t rows = scores[0].size();
  const double intercept = family.classes == 2 ? intercept_for(scores[0], family.strength, family.rate) : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (family.classes == 2) {
      labels.push_back(uniform(random) < 1 / (1 + std::exp(-family.strength * scores[0][row] - intercept)));
    } else if (family.classes == 0) {
      const double value = 0.5 + 0.1 * (scores[0][row] + normal(random) / family.strength);
      labels.push_back(std::clamp(value, 0.0, 1.0));
    } else {
      std::vector<double> odds;
      for (const auto& of_output : scores) odds.push_back(std::exp(family.strength * of_output[row]));
      labels.push_back(
          static_cast<double>(std::discrete_distribution<int>(odds.begin(), odds.end())(random)));
    }
  }
  return labels;
}

}  // namespace

MadeUp make_up(const Family& family, std::uint64_t seed) {
  Random random(seed * 1'000'003 + family.rows + 100 * family.categories + family.numbers);
  const std::size_t outputs = family.classes > 2 ? family.classes : 1;
  std::vector<Source> sources;
  for (std::size_t j = 0; j < family.categories + family.numbers; ++j)
    sources.push_back(drawn_source(family, j >= family.categories, outputs, random));
  MadeUp out{schema_of(family, sources), nullptr, Rows::dense(1, {}, {})};
  const std::size_t columns = data::encoded_column_names(out.schema).size();
  const std::size_t rows = family.rows + family.test_rows;
  SparseMatrix train, test;
  train.columns = test.columns = columns;
  std::vector<std::vector<double>> scores(outputs, std::vector<double>(rows));
  std::vector<double> hidden(family.factors);
  for (std::size_t row = 0; row < rows; ++row) {
    SparseMatrix& matrix = row < family.rows ? train : test;
    for (double& factor : hidden) factor = normal(random);
    std::size_t column = 0;
    for (const Source& source : sources) {
      const Cell cell = draw_cell(family, source, hidden, random);
      add_to_row(source, cell, column, matrix);
      for (std::size_t k = 0; k < outputs; ++k) scores[k][row] += effect_of(source, k, cell);
    }
    matrix.add(column, 1);
    matrix.end_row();
  }
  const std::vector<double> labels = labels_for(family, std::move(scores), random);
  const auto cut = labels.begin() + static_cast<std::ptrdiff_t>(family.rows);
  out.train = std::make_shared<const Rows>(Rows::build(std::move(train), {labels.begin(), cut}));
  out.test = Rows::build(std::move(test), {cut, labels.end()});
  return out;
}

std::span<const Family> families() {
  static const std::vector<Family> all = {
      {.name = "even", .rows = 40'000},
      {.name = "one-hot", .rows = 40'000, .categories = 20, .numbers = 0},
      {.name = "rare categories",
       .rows = 30'000,
       .categories = 12,
       .most_choices = 40,
       .rarer = 2,
       .numbers = 2},
      {.name = "numbers", .rows = 20'000, .categories = 0, .numbers = 30, .related = 0.6},
      {.name = "linear numbers", .rows = 10'000, .categories = 0, .numbers = 12, .bend = 0},
      {.name = "skewed", .rows = 40'000, .categories = 6, .numbers = 8, .skew = 1},
      {.name = "half skewed", .rows = 50'000, .categories = 4, .numbers = 12, .skew = 0.5, .bend = 0.8},
      {.name = "correlated", .rows = 40'000, .categories = 12, .numbers = 6, .related = 0.9, .factors = 3},
      {.name = "rare class", .rows = 45'000, .categories = 9, .numbers = 7, .strength = 2.5, .rate = 0.1},
      {.name = "very rare class",
       .rows = 45'000,
       .categories = 9,
       .numbers = 7,
       .strength = 1.5,
       .rate = 0.02},
      {.name = "weak", .rows = 60'000, .categories = 25, .most_choices = 8, .numbers = 4, .strength = 0.7},
      {.name = "strong", .rows = 30'000, .categories = 10, .numbers = 6, .strength = 6},
      {.name = "few rows", .rows = 2'000, .categories = 5, .most_choices = 6, .numbers = 4},
      {.name = "5,000 rows", .rows = 5'000, .categories = 8, .most_choices = 8, .numbers = 8, .skew = 0.5},
      {.name = "many rows", .rows = 200'000, .categories = 8, .numbers = 6, .skew = 0.3},
  };
  return all;
}

const Family& wide_one_hot() {
  static const Family family{.name = "wide one-hot",
                             .rows = 79'000,
                             .categories = 45,
                             .most_choices = 10,
                             .numbers = 0,
                             .related = 0.3,
                             .used = 0.6,
                             .strength = 0.75,
                             .rate = 0.468};
  return family;
}

const Family& ten_classes() {
  static const Family family{.name = "ten classes", .rows = 40'000, .strength = 1.5, .classes = 10};
  return family;
}

const Family& numeric_label() {
  static const Family family{.name = "numeric label", .rows = 40'000, .strength = 1.5, .classes = 0};
  return family;
}

}  // namespace ration::e6
