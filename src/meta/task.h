#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ration/base/random.h"
#include "ration/clipping/any_clip_rule.h"
#include "ration/data/rows.h"
#include "ration/objectives/glm/glm.h"
#include "ration/objectives/objective.h"

// Learning to protect: optimisers that are trained on public problems, to be used on private ones. Everything
// in this folder reads rows as they are, without the oracle, and is for PUBLIC rows only.
namespace ration::meta {

// What a protector is judged by while it practises; gradients are those of the model's loss in either case.
enum class Judge {
  loss,    // the model's
  errors,  // the share of rows on the wrong side, smoothed: mean of 1 / (1 + e^(y z)), y = +-1. How sure a
           // model is does not count
};

// A public learning problem that a protector practises on: f(w) is a mean loss over rows.
class Task {
 public:
  // `start`: where it begins; empty: at zero. `rate`: the share of the rows that a step sees, drawn anew each
  // time; 1: all.
  explicit Task(std::unique_ptr<Objective> objective, std::vector<double> start = {}, double rate = 1);
  // From now on loss() is the smoothed share of errors of a linear model on these rows, which are the
  // objective's.
  void judge_by_errors(std::shared_ptr<const Rows> rows) { judged_rows_ = std::move(rows); }

  std::size_t parameters() const { return objective_->parameters(); }
  std::size_t rows() const { return objective_->rows(); }
  // Rows that a step sees: what a sum over them is divided by.
  std::size_t step_rows() const { return step_rows_; }
  const std::vector<double>& start() const { return start_; }
  // Draws the rows of the next step.
  void draw(RandomSource& random);
  // The mean of clipped gradients over the step's rows.
  void clipped_mean(std::span<const double> w, const AnyClipRule& clip, std::span<double> out);
  // What it is judged by, over the step's rows, and its gradient.
  double loss(std::span<const double> w, std::span<double> gradient);
  double loss(std::span<const double> w);
  // The same over all rows.
  double mean_loss(std::span<const double> w);
  Objective& objective() { return *objective_; }

 private:
  std::unique_ptr<Objective> objective_;
  std::vector<double> start_;
  std::size_t step_rows_;
  Batch batch_;
  std::shared_ptr<const Rows> judged_rows_;
};

// Problems of one kind, one after the other: what a protector is trained or judged on. May draw them at
// random.
using TaskSource = std::function<std::unique_ptr<Task>(RandomSource&)>;

// f(w) = mean over 60 terms of |W_i w - y_i|^2, in two dimensions, all of W, y standard normal. Each begins
// at `start`; empty: at a standard normal point. [L2P, App. C.1]
TaskSource random_quadratics(std::vector<double> start = {});

struct GeneratedTables {
  GlmLoss loss = GlmLoss::logistic;  // or hinge
  std::size_t least_rows = 5'000, most_rows = 40'000;
  std::size_t least_columns = 20, most_columns = 150;
  double max_row_norm = 2;
};
// Made-up tables: groups of one-hot columns of uneven frequencies, a few numbers in [0, 1] and a bias; the
// label is drawn from a logistic model with random weights. They describe nobody.
TaskSource generated_tables(const GeneratedTables& options);

// A random half of these rows each time, but `most` at most, so that no two tasks are the same. A label of
// two classes changes sides in every other task: a protector has no reason to prefer one sign.
TaskSource halves_of(std::shared_ptr<const Rows> rows, const GlmOptions& model, double rate = 1,
                     std::size_t most = std::numeric_limits<std::size_t>::max(), Judge judge = Judge::loss);

// The same, but in two tasks of three another column takes the label's place: whether it is above a threshold
// that between a tenth and nine tenths of the rows exceed; the column itself is blanked. A protector that has
// seen one question only learns how far its answer is. Tables without such a column keep their label.
TaskSource questions_about(std::shared_ptr<const Rows> rows, const GlmOptions& model,
                           std::size_t most = std::numeric_limits<std::size_t>::max());

// A small network on rows of two classes: `hidden` layers of sigmoid units and one output, at random weights
// each time. A plain program without libtorch, for networks that are practised on. [L2P, App. C.3]
TaskSource networks_on(const Rows& rows, const std::vector<std::size_t>& hidden, double rate = 1);

}  // namespace ration::meta
