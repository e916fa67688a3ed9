// For extensions: may change between minor versions.
#pragma once

#include <memory>
#include <span>

#include "ration/objectives/row_view.h"
#include "ration/oracle/queries.h"

namespace ration {

// A noisy gradient as it left the door, and what was public about it before.
struct ReleasedGradient {
  std::span<const double> at;             // the weights it was asked at
  const GradientQuery& query;             // what was asked
  std::span<const double> mean;           // the answer
  double divisor;                         // that made a mean of the sum
  double stddev;                          // of the noise in each coordinate of the mean
  std::shared_ptr<const RowView> view{};  // through which rows were seen; null: as they are
};

// Looks on at the door. What it sees is private already and was paid for, so it may keep all of it; it cannot
// change an answer.
class ReleaseObserver {
 public:
  virtual ~ReleaseObserver() = default;
  // After each gradient, on the thread that asked for it.
  virtual void on_gradient(const ReleasedGradient& gradient) = 0;
};

}  // namespace ration
