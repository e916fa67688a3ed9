#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "methods/method.h"
#include "ration/objectives/glm/glm.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"

// A table that a linear model can learn, behind an oracle.
namespace ration::testing {

struct BaselineBench {
  static constexpr std::size_t kRows = 2000;
  static constexpr std::size_t kColumns = 3;

  explicit BaselineBench(GlmLoss loss = GlmLoss::logistic, Relation relation = Relation::add_remove,
                         std::size_t grants = 1'000'000, double row_bound = 1)
      : objective(make_glm(table(row_bound), {.loss = loss, .classes = 2, .threads = 1})),
        sampler({.rows = kRows, .declared_rows = kRows}, relation),
        filter(grants, journal),
        oracle(*objective, sampler, filter, random) {}

  // Label 1 where the first feature is above -0.2, so more often than not. The last column is the bias.
  static std::shared_ptr<const Rows> table(double row_bound) {
    std::vector<double> values, labels;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double x = std::sin(static_cast<double>(i)), y = std::cos(3.0 * static_cast<double>(i));
      values.insert(values.end(), {x, y, 0.5});
      labels.push_back(x > -0.2 ? 1 : 0);
    }
    Rows rows = Rows::dense(kColumns, std::move(values), std::move(labels));
    return std::make_shared<const Rows>(row_bound > 0 ? std::move(rows).with_row_norms_at_most(row_bound)
                                                      : rows);
  }

  std::vector<double> run(Method& method) {
    while (method.step(oracle)) {
    }
    return weights_of(method);
  }
  std::vector<double> weights_of(const Method& method) const {
    std::vector<double> weights(objective->parameters());
    method.weights(weights);
    return weights;
  }
  double accuracy(const std::vector<double>& weights) {
    std::vector<double> predicted(kRows);
    objective->predict(weights, predicted);
    const auto rows = table(1);
    double right = 0;
    for (std::size_t i = 0; i < kRows; ++i) right += predicted[i] == rows->labels()[i] ? 1 : 0;
    return right / kRows;
  }

  Journal journal;
  std::unique_ptr<Objective> objective;
  FullSampler sampler;
  RecordingFilter filter;
  SeededRandom random{7};
  PrivateOracle oracle;
};

}  // namespace ration::testing
