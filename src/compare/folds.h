#pragma once

#include <cstddef>
#include <vector>

namespace ration::compare {

struct Split {
  std::vector<std::size_t> train;
  std::vector<std::size_t> test;
};

// Cross-validation: rows dealt into folds whose sizes differ by one at most; each is tested on once and
// trained on otherwise.
//
// The deal is a fixed, public permutation of the row numbers for each repeat: rows are ordered by a hash of
// repeat and number (SplitMix64). It must be the same when a comparison is resumed, and on every machine, and
// it protects nothing, since a comparison is for public rows; so it is no draw from RandomSource. Every fold
// trains on the same number of rows, so that one calibration serves all: where folds differ in size, those
// that could train on one row more leave out the last of the permutation that is not theirs.
class Folds {
 public:
  // InputError unless 2 <= folds <= rows.
  Folds(std::size_t rows, std::size_t folds, std::size_t repeat);

  // Row numbers in increasing order.
  Split split(std::size_t fold) const;
  std::size_t train_rows() const;

 private:
  std::size_t first_of(std::size_t fold) const { return fold * order_.size() / folds_; }

  std::size_t folds_;
  std::vector<std::size_t> order_;
};

}  // namespace ration::compare
