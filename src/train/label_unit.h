#pragma once

#include <vector>

#include "ration/data/rows.h"
#include "ration/train/model.h"

namespace ration {

// The unit in which a numeric label is trained. Gradients of the squared loss are as large as the label's
// unit makes them, and a clip bound of 1 suits labels of size 1; so the label is scaled into [0, 1] by its
// public bounds, and the weights are turned back into its own unit at the end. Classes are left as they are.
class LabelUnit {
 public:
  explicit LabelUnit(const Model& model);

  Rows scaled(Rows rows) const;
  // From weights for scaled labels to weights for labels as they are.
  void restore(std::vector<double>& weights) const;

 private:
  bool is_number_;
  double zero_ = 0;   // what becomes 0; only with a bias column of ones, which can give it back
  double range_ = 1;  // what becomes 1, less zero_
};

}  // namespace ration
