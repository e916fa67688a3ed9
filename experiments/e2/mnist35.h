#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ration/data/rows.h"

namespace ration::e2 {

// The digits 3 and 5 of MNIST, in 60 dimensions: what [Hong22, App. D] calls MNIST35.
//
// Private   the first 1000 images of a 3 or a 5 in the training file.
// Public    those of the test file, 1902: mean, principal axes and deviations come from them, so that the
//           encoding of a private image depends on no other private image. The first 1000 also serve to
//           estimate influences.
// Encoding  60 principal components, each over its public deviation; then all are divided by the longest
//           public row and multiplied by the data scale, and longer rows are shortened to it.
class Mnist35 {
 public:
  // The folder with the four files of MNIST, gzipped.
  explicit Mnist35(const std::string& folder);

  // Row norms at most `scale`; labels 0 for a 3 and 1 for a 5, or -1 and 1 as targets of the squared loss.
  enum class Labels { classes, signs };
  std::shared_ptr<const Rows> private_rows(double scale, Labels labels) const;
  std::shared_ptr<const Rows> public_rows(double scale, Labels labels) const;

  static constexpr std::size_t kRows = 1000;
  static constexpr std::size_t kColumns = 60;

 private:
  struct Encoded {
    std::vector<double> values;  // row after row, the longest public row of norm 1
    std::vector<double> classes;
  };
  static std::shared_ptr<const Rows> scaled(const Encoded& encoded, double scale, Labels labels);

  Encoded private_, public_;
};

}  // namespace ration::e2
