#include "train/row_transform.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/add_hats.h"
#include "ration/data/table.h"

namespace ration {
namespace {

class Hats final : public RowStage {
 public:
  Hats(data::Schema before, data::Schema after)
      : before_(std::move(before)),
        after_(std::move(after)),
        width_before_(data::encoded_column_names(before_).size()),
        width_after_(data::encoded_column_names(after_).size()) {}

  bool changes(const Rows& rows) const override {
    return width_before_ != width_after_ && rows.columns() == width_before_;
  }
  Rows apply(Rows rows) const override { return data::add_hats(rows, before_, after_); }
  void undo(std::span<double>) const override {}

 private:
  data::Schema before_, after_;
  std::size_t width_before_, width_after_;
};

class RowNorm final : public RowStage {
 public:
  explicit RowNorm(double bound) : bound_(bound) {}

  bool changes(const Rows& rows) const override { return rows.norm_bound() > bound_; }
  Rows apply(Rows rows) const override { return std::move(rows).with_row_norms_at_most(bound_); }
  void undo(std::span<double>) const override {}

 private:
  double bound_;
};

class LabelUnit final : public RowStage {
 public:
  explicit LabelUnit(const data::Schema& schema) {
    const data::Column& label = schema.label_column();
    const bool has_bias_of_one = schema.bias && !schema.max_row_norm;
    zero_ = has_bias_of_one ? label.low : 0;
    range_ = has_bias_of_one ? label.high - label.low : std::max(std::abs(label.low), std::abs(label.high));
  }

  bool changes(const Rows&) const override { return true; }
  Rows apply(Rows rows) const override {
    std::vector<double> labels(rows.labels().begin(), rows.labels().end());
    for (double& label : labels) label = (label - zero_) / range_;
    return std::move(rows).with_labels(std::move(labels));
  }
  void undo(std::span<double> weights) const override {
    for (double& weight : weights) weight *= range_;
    if (zero_ != 0) weights.back() += zero_;
  }

 private:
  double zero_;   // what becomes 0; only with a bias column of ones, which can give it back
  double range_;  // what becomes 1, less zero_
};

class Centring final : public RowStage {
 public:
  explicit Centring(std::vector<double> mean) : mean_(std::move(mean)) {
    if (!mean_.empty()) mean_.back() = 0;
  }

  bool changes(const Rows&) const override { return true; }
  Rows apply(Rows rows) const override { return std::move(rows).less(mean_); }
  void undo(std::span<double> weights) const override {
    for (std::size_t first = 0; first < weights.size(); first += mean_.size()) {
      const auto of_output = weights.subspan(first, mean_.size());
      of_output.back() -= std::inner_product(mean_.begin(), mean_.end() - 1, of_output.begin(), 0.0);
    }
  }

 private:
  std::vector<double> mean_;  // 0 for the bias
};

}  // namespace

std::unique_ptr<const RowStage> hats_stage(const data::Schema& before, const data::Schema& after) {
  return std::make_unique<Hats>(before, after);
}

std::unique_ptr<const RowStage> row_norm_stage(double bound) {
  return std::make_unique<RowNorm>(bound);
}

std::unique_ptr<const RowStage> label_unit_stage(const data::Schema& schema) {
  return std::make_unique<LabelUnit>(schema);
}

std::unique_ptr<const RowStage> centring_stage(std::vector<double> mean) {
  return std::make_unique<Centring>(std::move(mean));
}

RowTransform::RowTransform(Rows rows, std::size_t left_out)
    : own_(std::make_shared<Rows>(std::move(rows))), left_out_(left_out) {}

RowTransform::RowTransform(std::shared_ptr<const Rows> rows, std::size_t left_out)
    : shared_(std::move(rows)), left_out_(left_out) {}

RowTransform::RowTransform(Rows rows, Units units)
    : own_(std::make_shared<Rows>(std::move(rows))),
      left_out_(0),
      units_(std::make_shared<const Units>(std::move(units))) {}

RowTransform::RowTransform(std::shared_ptr<const Rows> rows, std::shared_ptr<const Units> units)
    : shared_(std::move(rows)), left_out_(0), units_(std::move(units)) {}

void RowTransform::add_stages_of(const Model& model) {
  if (model.schema.max_row_norm) add(row_norm_stage(*model.schema.max_row_norm));
  if (model.classes == 0) add(label_unit_stage(model.schema));
}

void RowTransform::add(std::unique_ptr<const RowStage> stage) {
  if (stage->changes(rows())) {
    Rows before = own_ ? std::move(*own_) : Rows(*shared_);
    shared_.reset();
    own_ = std::make_shared<Rows>(stage->apply(std::move(before)));
  }
  stages_.push_back(std::move(stage));
}

std::shared_ptr<const Rows> RowTransform::share_rows() {
  if (own_) shared_ = std::exchange(own_, nullptr);
  return shared_;
}

void RowTransform::undo(std::span<double> weights) const {
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) (*stage)->undo(weights);
}

}  // namespace ration
