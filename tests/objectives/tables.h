#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ration/data/rows.h"
#include "ration/objectives/glm/glm.h"

// Random tables and batches for the objectives' tests.
namespace ration::testing {

enum class Storage { dense, sparse };

inline constexpr GlmLoss kAllLosses[] = {GlmLoss::logistic, GlmLoss::softmax, GlmLoss::hinge, GlmLoss::huber,
                                         GlmLoss::squared};
inline constexpr std::size_t kClasses = 3;  // of softmax

// Everyday numbers, a third of them 0.
inline double plain_value(std::mt19937_64& random) {
  return random() % 3 == 0 ? 0 : std::normal_distribution<double>()(random);
}

// What a careless or hostile row may hold.
inline double hostile_value(std::mt19937_64& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double extremes[] = {1e300,   -1e300, 1e160,     1e8,        1e-160,
                             -1e-300, 5e-324, kInfinity, -kInfinity, std::nan("")};
  return random() % 3 == 0 ? extremes[random() % std::size(extremes)] : plain_value(random);
}

inline double label_for(GlmLoss loss, std::mt19937_64& random) {
  if (loss == GlmLoss::squared) return std::normal_distribution<double>()(random);
  return static_cast<double>(random() % (loss == GlmLoss::softmax ? kClasses : 2));
}

inline SparseMatrix to_sparse(std::size_t columns, const std::vector<double>& values) {
  SparseMatrix matrix{.columns = columns, .starts = {0}, .indices = {}, .values = {}};
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    if (values[cell] != 0) {
      matrix.indices.push_back(static_cast<std::int32_t>(cell % columns));
      matrix.values.push_back(values[cell]);
    }
    if ((cell + 1) % columns == 0) matrix.starts.push_back(matrix.values.size());
  }
  return matrix;
}

inline std::shared_ptr<const Rows> store(Storage storage, std::size_t columns, std::vector<double> values,
                                         std::vector<double> labels) {
  if (storage == Storage::dense) {
    return std::make_shared<Rows>(Rows::dense(columns, std::move(values), std::move(labels)));
  }
  return std::make_shared<Rows>(Rows::sparse(to_sparse(columns, values), std::move(labels)));
}

// The last column is the bias. Some rows are hostile if asked for. The whole is repeated `times` times.
inline std::shared_ptr<const Rows> random_table(GlmLoss loss, Storage storage, std::size_t rows,
                                                std::size_t columns, bool hostile, std::mt19937_64& random,
                                                std::size_t times = 1) {
  std::vector<double> values;
  std::vector<double> labels;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool hostile_row = hostile && random() % 2 == 0;
    for (std::size_t column = 0; column + 1 < columns; ++column) {
      values.push_back(hostile_row ? hostile_value(random) : plain_value(random));
    }
    values.push_back(1);
    labels.push_back(label_for(loss, random));
  }
  for (std::size_t cell = 0; cell < rows * columns * (times - 1); ++cell) values.push_back(values[cell]);
  for (std::size_t row = 0; row < rows * (times - 1); ++row) labels.push_back(labels[row]);
  return store(storage, columns, std::move(values), std::move(labels));
}

inline std::vector<double> random_weights(std::size_t size, double scale, std::mt19937_64& random) {
  std::vector<double> weights(size);
  for (double& weight : weights) weight = scale * std::normal_distribution<double>()(random);
  return weights;
}

inline std::unique_ptr<Objective> glm(GlmLoss loss, std::shared_ptr<const Rows> rows,
                                      std::size_t threads = 1) {
  return make_glm(std::move(rows),
                  {.loss = loss, .classes = kClasses, .huber_width = 0.5, .threads = threads});
}

// All rows but one; left_out = rows leaves none out.
inline Batch all_but(std::size_t rows, std::size_t left_out) {
  Batch batch;
  for (std::size_t row = 0; row < rows; ++row) {
    if (row != left_out) batch.rows.push_back(row);
  }
  return batch;
}
inline Batch all(std::size_t rows) {
  return all_but(rows, rows);
}

inline std::vector<double> gradient_sum(Objective& objective, Objective::Parameters w, const Batch& batch,
                                        const AnyClipRule& rule) {
  std::vector<double> sum(objective.parameters(), std::nan(""));
  objective.clipped_gradient_sum(w, batch, rule, sum);
  return sum;
}

inline std::vector<double> loss_sums(Objective& objective, const std::vector<std::vector<double>>& candidates,
                                     const Batch& batch, double bound) {
  std::vector<Objective::Parameters> views(candidates.begin(), candidates.end());
  std::vector<double> sums(candidates.size(), std::nan(""));
  objective.clipped_loss_sums(views, batch, bound, sums);
  return sums;
}

}  // namespace ration::testing
