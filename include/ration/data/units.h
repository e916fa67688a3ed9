// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <vector>

namespace ration {

// Which rows belong together: those of one unit of privacy, a patient with all visits for example. Neighbours
// differ by one unit with all its rows. Whoever is given units numbers them, in a batch too, in place of
// rows.
//
// Order       the rows of a unit follow each other, and units have their own order; a unit without rows is
// one
//             like any other, and contributes nothing.
// Weights     `even`: a row of a unit of k rows weighs 1/k, so that every unit weighs the same and what a
// unit
//             contributes is as long as what a row does; otherwise 1. Either is a function of the unit alone.
class Units {
 public:
  // Unit u has the rows starts[u], ..., starts[u + 1] - 1. InputError unless starts begins with 0 and does
  // not fall, and no unit has more than `most_rows` >= 1 of them.
  Units(std::vector<std::size_t> starts, std::size_t most_rows, bool even = false);

  // How many there are, empty ones included. Private under add_remove.
  std::size_t count() const { return starts_.size() - 1; }
  // All rows.
  std::size_t rows() const { return starts_.back(); }
  // The first row of a unit.
  std::size_t first(std::size_t unit) const { return starts_[unit]; }
  // How many rows a unit has.
  std::size_t size(std::size_t unit) const { return starts_[unit + 1] - starts_[unit]; }
  // No unit of any table has more rows: public.
  std::size_t most_rows() const { return most_rows_; }
  // Whether units weigh the same: public.
  bool is_even() const { return even_; }
  // Of a unit's rows, each.
  double weight(std::size_t unit) const {
    return even_ && size(unit) > 0 ? 1 / static_cast<double>(size(unit)) : 1;
  }
  // The same units, weighing the same or as many times as they have rows.
  Units weighed(bool even) const { return Units(starts_, most_rows_, even); }

 private:
  std::vector<std::size_t> starts_;
  std::size_t most_rows_;
  bool even_;
};

}  // namespace ration
