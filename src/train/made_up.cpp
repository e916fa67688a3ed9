#include "train/made_up.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "base/public_random.h"
#include "data/one_hot_groups.h"
#include "ration/data/table.h"

namespace ration {
namespace {

constexpr double kFactor = 0.5;  // of the common factor in each column

// Of a standard normal value.
double uniform_of(double normal) {
  return 0.5 * std::erfc(-normal / std::sqrt(2.0));
}

// One column of the schema, as it is encoded and as it counts.
struct MadeColumn {
  std::size_t first = 0;
  std::vector<double> cumulative{};  // of categories, by their shares; empty for a number
  double power = 1;                  // of a number
  double sign = 1;                   // how it goes with the common factor
  std::vector<double> slopes{};      // of a number's score, for each class
  std::vector<double> bends{};
  std::vector<std::vector<double>> scores{};  // of each category, for each class
};

std::vector<double> cumulative_shares(std::size_t count, PublicRandom& random) {
  std::vector<double> shares(count);
  for (std::size_t k = 0; k < count; ++k) shares[k] = 1 / static_cast<double>(k + 1);
  std::shuffle(shares.begin(), shares.end(), random);
  double sum = 0;
  for (const double share : shares) sum += share;
  double so_far = 0;
  for (double& share : shares) share = so_far += share / sum;
  shares.back() = 1;
  return shares;
}

MadeColumn one_column(std::size_t first, std::size_t categories, std::size_t scores, PublicRandom& random) {
  constexpr double kPowers[] = {0.5, 1, 2, 4};
  std::normal_distribution<double> normal;
  MadeColumn column{.first = first};
  column.sign = random() % 2 == 0 ? 1 : -1;
  const double weight = std::exp(normal(random));
  if (categories > 0) {
    column.cumulative = cumulative_shares(categories, random);
    for (std::size_t k = 0; k < categories; ++k) {
      column.scores.emplace_back();
      for (std::size_t c = 0; c < scores; ++c) column.scores.back().push_back(weight * normal(random));
    }
    return column;
  }
  column.power = kPowers[random() % 4];
  for (std::size_t c = 0; c < scores; ++c) {
    column.slopes.push_back(2 * weight * normal(random));
    column.bends.push_back(4 * weight * normal(random));
  }
  return column;
}

// Features without a schema's columns are zeros and ones, a dozen ones to a row.
std::vector<MadeColumn> columns_of(const data::Schema& schema, std::size_t scores, PublicRandom& random) {
  std::vector<MadeColumn> columns;
  if (schema.indexed_features) {
    for (std::size_t j = 0; j < schema.indexed_features->count; ++j) {
      MadeColumn column = one_column(j, 2, scores, random);
      const double ones = std::min(0.5, 12 / static_cast<double>(schema.indexed_features->count));
      column.cumulative = {1 - ones, 1};
      columns.push_back(std::move(column));
    }
    return columns;
  }
  const auto groups = data::one_hot_groups(schema);
  const auto names = data::encoded_columns(schema);
  const std::size_t last = names.size() - (schema.bias ? 1 : 0);
  for (std::size_t j = 0, group = 0; j < last;) {
    const bool in_group = group < groups.size() && groups[group].first == j;
    const std::size_t count = in_group ? groups[group++].count : 1;
    columns.push_back(one_column(j, in_group ? count : 0, scores, random));
    j += count;
  }
  return columns;
}

struct Scored {
  SparseMatrix features;
  std::vector<double> scores;  // rows x scores
};

Scored draw_rows(const data::Schema& schema, std::size_t rows, std::size_t scores, PublicRandom& random) {
  std::normal_distribution<double> normal;
  const std::vector<MadeColumn> columns = columns_of(schema, scores, random);
  Scored out;
  out.features.columns = data::encoded_column_names(schema).size();
  out.scores.assign(rows * scores, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    const double common = normal(random);
    for (const MadeColumn& column : columns) {
      const double own = std::sqrt(1 - kFactor * kFactor) * normal(random);
      const double place = uniform_of(column.sign * kFactor * common + own);
      double* const score = &out.scores[row * scores];
      if (column.cumulative.empty()) {
        const double value = std::pow(place, column.power);
        out.features.add(column.first, value);
        for (std::size_t c = 0; c < scores; ++c) {
          const double bend = (value - 0.5) * (value - 0.5);
          score[c] += column.slopes[c] * value + column.bends[c] * bend;
        }
        continue;
      }
      const auto found = std::lower_bound(column.cumulative.begin(), column.cumulative.end(), place);
      const auto category = static_cast<std::size_t>(found - column.cumulative.begin());
      if (!schema.indexed_features) {
        out.features.add(column.first + category, 1);
      } else if (category == 1) {
        out.features.add(column.first, 1);
      }
      for (std::size_t c = 0; c < scores; ++c) score[c] += column.scores[category][c];
    }
    if (schema.bias) out.features.add(out.features.columns - 1, 1);
    out.features.end_row();
  }
  return out;
}

// Mean 0, deviation 1, each of them.
void standardise(std::vector<double>& scores, std::size_t count) {
  const double rows = static_cast<double>(scores.size()) / static_cast<double>(count);
  for (std::size_t c = 0; c < count; ++c) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = c; i < scores.size(); i += count) {
      sum += scores[i];
      squares += scores[i] * scores[i];
    }
    const double mean = sum / rows;
    const double stddev = std::sqrt(std::max(1e-12, squares / rows - mean * mean));
    for (std::size_t i = c; i < scores.size(); i += count) scores[i] = (scores[i] - mean) / stddev;
  }
}

// Where an increasing function reaches a value.
double solve(double low, double high, double value, const std::function<double(double)>& increasing) {
  for (int round = 0; round < 40; ++round) {
    const double middle = (low + high) / 2;
    (increasing(middle) < value ? low : high) = middle;
  }
  return (low + high) / 2;
}

double sigmoid(double z) {
  return 1 / (1 + std::exp(-z));
}

double offset_for(const std::vector<double>& scores, double steep, double share) {
  return solve(-100, 100, share, [&](double offset) {
    double sum = 0;
    for (const double score : scores) sum += sigmoid(steep * score + offset);
    return sum / static_cast<double>(scores.size());
  });
}

void set_two_classes(MadeUp& table, const std::vector<double>& scores, double steep, double share) {
  const double offset = offset_for(scores, steep, share);
  table.probabilities.resize(2 * scores.size());
  for (std::size_t row = 0; row < scores.size(); ++row) {
    table.probabilities[2 * row + 1] = sigmoid(steep * scores[row] + offset);
    table.probabilities[2 * row] = 1 - table.probabilities[2 * row + 1];
  }
}

void set_classes(MadeUp& table, const std::vector<double>& scores, double steep) {
  table.probabilities = scores;
  for (std::size_t first = 0; first < scores.size(); first += table.classes) {
    const auto row = std::span(table.probabilities).subspan(first, table.classes);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& value : row) sum += value = std::exp(steep * (value - largest));
    for (double& value : row) value /= sum;
  }
}

}  // namespace

double MadeUp::possible() const {
  double sum = 0;
  for (std::size_t first = 0; first < probabilities.size(); first += classes)
    sum += *std::max_element(probabilities.begin() + static_cast<std::ptrdiff_t>(first),
                             probabilities.begin() + static_cast<std::ptrdiff_t>(first + classes));
  return sum * static_cast<double>(classes) / static_cast<double>(probabilities.size());
}

double MadeUp::largest() const {
  double most = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    double sum = 0;
    for (std::size_t i = c; i < probabilities.size(); i += classes) sum += probabilities[i];
    most = std::max(most, sum);
  }
  return most * static_cast<double>(classes) / static_cast<double>(probabilities.size());
}

MadeUp make_up(const data::Schema& schema, const MadeUpOptions& options) {
  PublicRandom random(options.seed);
  const std::size_t classes = schema.classes();
  const std::size_t scores = classes == 2 ? 1 : classes;
  Scored drawn = draw_rows(schema, options.rows, scores, random);
  standardise(drawn.scores, scores);
  MadeUp table{.features = std::move(drawn.features), .probabilities = {}, .classes = classes};
  const auto with_steepness = [&](double steep) {
    scores == 1 ? set_two_classes(table, drawn.scores, steep, options.share)
                : set_classes(table, drawn.scores, steep);
    return table.possible();
  };
  with_steepness(solve(0, 60, options.possible, with_steepness));
  return table;
}

}  // namespace ration
