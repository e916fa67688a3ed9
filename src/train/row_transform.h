#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ration/data/rows.h"
#include "ration/data/units.h"
#include "ration/train/model.h"

namespace ration {

// One thing that happens to the rows between the encoded table and the objective, and how weights that were
// trained afterwards are turned into weights for rows as they were before.
class RowStage {
 public:
  virtual ~RowStage() = default;

  // False: apply() would give these rows back as they are, so nobody needs a copy of them.
  virtual bool changes(const Rows& rows) const = 0;
  virtual Rows apply(Rows rows) const = 0;
  virtual void undo(std::span<double> weights) const = 0;
};

// Rows that were encoded by `before` with the hats of knots that `after` has beside (data/add_hats.h); rows
// that have them already stay as they are. The model's schema has the knots, too: nothing to undo.
std::unique_ptr<const RowStage> hats_stage(const data::Schema& before, const data::Schema& after);

// Rows no longer than `bound` > 0. The schema says so to whoever uses the model, too: nothing to undo.
std::unique_ptr<const RowStage> row_norm_stage(double bound);

// The unit in which a numeric label is trained. Gradients of the squared loss are as large as the label's
// unit makes them, and a clip bound of 1 suits labels of size 1; so the label is scaled into [0, 1] by its
// public bounds, and the weights are turned back into its own unit at the end. The schema's label must be a
// number.
std::unique_ptr<const RowStage> label_unit_stage(const data::Schema& schema);

// Rows less a released mean m, for a linear model. Features that are far from zero on average make all
// gradients point the same way: much of a clipped gradient is then spent on one direction, and steps must be
// short for it. The last column, a bias of ones, stays as it is, and takes up the difference at the end:
// w (x - m) + b = w x + (b - w m). There may be several outputs, each with a weight per column.
std::unique_ptr<const RowStage> centring_stage(std::vector<double> mean);

// All that happens to the rows of a run. Stages are applied as they are added, since what a later one needs
// may be asked of the rows that an earlier one made; they are undone in the opposite order.
//
// Memory      rows of one's own are changed in place; of shared ones a copy is made when the first stage
//             changes them.
class RowTransform {
 public:
  // `left_out`: rows that count but are not there (data::Table).
  explicit RowTransform(Rows rows, std::size_t left_out = 0);
  explicit RowTransform(std::shared_ptr<const Rows> rows, std::size_t left_out = 0);
  // Rows that belong together; a unit that has lost all its rows is among them.
  RowTransform(Rows rows, Units units);
  RowTransform(std::shared_ptr<const Rows> rows, std::shared_ptr<const Units> units);

  // What is known before a row is read: the bound on the rows and the unit of the label.
  void add_stages_of(const Model& model);
  void add(std::unique_ptr<const RowStage> stage);

  const Rows& rows() const { return own_ ? *own_ : *shared_; }
  std::size_t left_out() const { return left_out_; }
  // Null: each row is by itself.
  const std::shared_ptr<const Units>& units() const { return units_; }
  // How many there are of what is protected: units, or rows of both kinds.
  std::size_t count() const { return units_ ? units_->count() : rows().count() + left_out_; }
  // From here on they are shared.
  std::shared_ptr<const Rows> share_rows();
  // From weights for rows() to weights for the rows that came in.
  void undo(std::span<double> weights) const;

 private:
  std::shared_ptr<Rows> own_;  // null: shared_ has them
  std::shared_ptr<const Rows> shared_;
  std::size_t left_out_;
  std::shared_ptr<const Units> units_;
  std::vector<std::unique_ptr<const RowStage>> stages_;
};

}  // namespace ration
