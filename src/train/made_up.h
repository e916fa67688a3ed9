#pragma once

#include <cstdint>
#include <vector>

#include "ration/data/rows.h"
#include "ration/data/schema.h"

namespace ration {

// A made-up table of a schema's shape, without knots: features, and how probable each class is.
struct MadeUp {
  SparseMatrix features;
  std::vector<double> probabilities;  // rows x classes
  std::size_t classes = 2;

  std::span<const double> probabilities_of(std::size_t row) const {
    return std::span(probabilities).subspan(row * classes, classes);
  }
  // The mean of the largest: the accuracy of who knows them.
  double possible() const;
  // The largest share of a class.
  double largest() const;
};

struct MadeUpOptions {
  std::size_t rows = 1000;
  double possible = 0.8;  // > share of the most frequent class, < 1
  double share = 0.5;     // of the last of two classes; of several, all have about the same
  std::uint64_t seed = 1;
};

// Features  a common factor goes through all columns (correlation .25); categories have shares as 1 / place,
//           numbers are powers of uniform ones.
// Classes   softmax of scores that are linear in categories and linear or curved in numbers, columns of very
//           different weight, scaled until the best accuracy is the one that is asked for.
MadeUp make_up(const data::Schema& schema, const MadeUpOptions& options);

}  // namespace ration
