#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "ration/data/rows.h"
#include "ration/data/schema.h"
#include "ration/privacy/relation.h"
#include "ration/train/plan.h"

namespace ration::audit {

using SharedRows = std::shared_ptr<const Rows>;

// What an auditor plants. Under add_remove a canary is there or not; under replace_one it is there, or its
// twin is: the same features, and the label that pulls the other way.
struct Canary {
  SharedRows row;   // of one row
  SharedRows twin;  // null under add_remove
};

// Tables that were made up so that one row is seen as well as it can be.
//
// Rows        canary i has ones in columns of its own and zeros elsewhere, so that no two canaries pull at
//             the same weights; enough columns that its gradient is longer than the clip bound as long as the
//             model is undecided about it. All other rows are zeros, which pull at nothing but the biases of
//             a network.
// Labels      the second class, or the largest value.
// Encoding    obeys the schema: a canary is a row that could be in a file.
class CanaryTable {
 public:
  // A column of ones for the bias only if the plan's method needs one: other rows would pull at it.
  // `other_rows` there are in every world.
  CanaryTable(const Plan& plan, Relation relation, std::size_t canaries, std::size_t other_rows);

  const data::Schema& schema() const { return schema_; }
  const std::vector<Canary>& canaries() const { return canaries_; }
  // The table in which present[i] says whether canary i is there.
  SharedRows rows(const std::vector<bool>& present) const;
  // The rows that are there in any case; null if they pull at nothing.
  SharedRows others_that_pull() const;

 private:
  // A row for each; of zeros if none is chosen.
  SharedRows build(const std::vector<std::optional<std::size_t>>& chosen,
                   const std::vector<double>& labels) const;

  std::size_t other_rows_;
  std::size_t columns_each_;
  bool others_pull_;
  Relation relation_;
  data::Schema schema_;
  std::vector<Canary> canaries_;
};

// Two neighbours: rows that both have, and one that only one has.
struct Neighbours {
  data::Schema schema;
  SharedRows with;
  SharedRows without;
  SharedRows common;  // null if those pull at nothing
  Canary canary;
};

// The neighbours of a table with one canary.
Neighbours worst_case_neighbours(const Plan& plan, Relation relation, std::size_t other_rows);
// Rows of a file and one more (add_remove), or one of them changed (replace_one): the longest of them, with
// another label.
Neighbours neighbours_in(data::Schema schema, const Rows& rows, Relation relation);

}  // namespace ration::audit
