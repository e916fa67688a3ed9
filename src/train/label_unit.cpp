#include "train/label_unit.h"

#include <algorithm>
#include <cmath>

namespace ration {

LabelUnit::LabelUnit(const Model& model) : is_number_(model.classes == 0) {
  if (!is_number_) return;
  const data::Column& label = model.schema.label_column();
  const bool has_bias_of_one = model.schema.bias && !model.schema.max_row_norm;
  zero_ = has_bias_of_one ? label.low : 0;
  range_ = has_bias_of_one ? label.high - label.low : std::max(std::abs(label.low), std::abs(label.high));
}

Rows LabelUnit::scaled(Rows rows) const {
  if (!is_number_) return rows;
  std::vector<double> labels(rows.labels().begin(), rows.labels().end());
  for (double& label : labels) label = (label - zero_) / range_;
  return std::move(rows).with_labels(std::move(labels));
}

void LabelUnit::restore(std::vector<double>& weights) const {
  if (!is_number_) return;
  for (double& weight : weights) weight *= range_;
  if (zero_ != 0) weights.back() += zero_;
}

}  // namespace ration
