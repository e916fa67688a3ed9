#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ration/data/rows.h"
#include "ration/data/schema.h"

namespace ration::e6 {

// A family of made-up tables. Columns follow a few hidden factors; the label follows the columns, through
// effects that are drawn once for each table, in part bent.
struct Family {
  std::string name;
  std::size_t rows = 40'000;       // to train on
  std::size_t test_rows = 10'000;  // more of them
  std::size_t categories = 8;      // columns of categories
  std::size_t least_choices = 2;   // of a category, drawn between these two
  std::size_t most_choices = 16;
  double rarer = 1.0;       // the k-th most frequent category has frequency as k^-rarer
  std::size_t numbers = 5;  // columns of numbers
  double skew = 0;          // of numbers: 0 as even as a uniform one, 1 log-normal far below its bound
  double related = 0.5;     // how much of a column the hidden factors decide, 0 to 1
  std::size_t factors = 4;
  double used = 0.5;        // the part of the columns that have an effect
  double strength = 2;      // standard deviation of the log odds
  double bend = 0.5;        // the part of a number's effect that is not linear
  double rate = 0.4;        // of the label's class 1; of more classes, not used
  std::size_t classes = 2;  // 0: a number in [0, 1]
};

// What constants are chosen on.
std::span<const Family> families();
// Made to look like what methods without scaling fail on: 45 columns of categories, 79,000 rows, and a label
// that few of them tell anything of.
const Family& wide_one_hot();
// Of ten classes, for softmax; with a number for a label, for the squared loss.
const Family& ten_classes();
const Family& numeric_label();

struct MadeUp {
  data::Schema schema;
  std::shared_ptr<const Rows> train;
  Rows test;
};

// Drawn from the family by this seed.
MadeUp make_up(const Family& family, std::uint64_t seed);

}  // namespace ration::e6
