// For extensions: may change between minor versions.
#pragma once

#include <memory>
#include <span>

#include "ration/data/rows.h"
#include "ration/data/units.h"
#include "ration/objectives/glm/glm_loss.h"
#include "ration/objectives/objective.h"

namespace ration {

// A linear model, and how it is computed.
struct GlmOptions {
  GlmLoss loss = GlmLoss::logistic;      // decides which labels are taken
  std::size_t classes = 2;               // >= 2; softmax only
  double huber_width = 0.5;              // > 0; huber only
  std::size_t threads = 0;               // 0: one per processor
  std::shared_ptr<const Units> units{};  // which rows belong together; null: each row is by itself
};

// A linear model z = W x with one of the losses of GlmLoss. Parameters: one weight per column, for softmax
// those of class 0 first, then those of class 1, and so on. The bias is a constant column of the rows.
//
// Cost        two products with the drawn rows, which are read once: the norm of row i's gradient is that of
//             its slopes times the stored norm of x_i. Nothing of size rows x columns is made.
// Edge cases  a label the loss does not take is refused here, with its row.
std::unique_ptr<Objective> make_glm(std::shared_ptr<const Rows> rows, const GlmOptions& options);

// What the model says of rows whose labels are unknown: class or value per row. Labels are not looked at, so
// that they may be NaN (data::ReadOptions) and no error depends on them.
void predict_glm(const Rows& rows, const GlmOptions& options, std::span<const double> weights,
                 std::span<double> predictions);

// The outputs z = W x behind these predictions, row after row: as many as classes for softmax, otherwise 1.
void outputs_glm(const Rows& rows, const GlmOptions& options, std::span<const double> weights,
                 std::span<double> outputs);

}  // namespace ration
