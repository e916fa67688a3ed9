// For extensions: may change between minor versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ration/base/random.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

// The rows one query sees. The number of rows drawn is private in general, so a mean divides by `divisor`,
// which is public: the expected number of rows, never the number that happened to be drawn.
struct Batch {
  std::vector<std::uint64_t> rows;  // increasing
  double divisor = 1;               // > 0
};

// The table a sampler draws from. Under add_remove the number of rows is itself private: `declared_rows` is
// what the user says in public, and only that may reach a divisor. Under replace_one both are the same.
//
// The declaration need not be exact, but it must not be absurd: a table with more rows than most_rows() is
// refused. That is a public assumption of every run, and bounds the error of adding up rows (oracle/).
struct TableSize {
  std::uint64_t rows = 0;    // what there is
  double declared_rows = 0;  // > 0

  // Four times what was declared, and no less than 2^20.
  std::uint64_t most_rows() const;
  // Throws InputError unless 0 < declared_rows and rows <= most_rows().
  void require_sound(std::string_view sampler) const;
};

// Which rows a query sees. A sampler belongs to the relation its amplification theorem is for, and says what
// a mechanism's event becomes when the mechanism runs on a drawn batch.
//
// Guarantee   batches are independent of each other and of the data.
// Edge cases  an empty batch is an ordinary one.
class Sampler {
 public:
  virtual ~Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Overwrites `batch`; once it has held a batch as large, nothing is allocated.
  virtual void draw(RandomSource& random, Batch& batch) const = 0;
  // `base` ran on one drawn batch.
  virtual Event sampled(Event base) const = 0;
  // The relation of its amplification theorem.
  virtual Relation relation() const = 0;
  // The divisor of every batch.
  virtual double divisor() const = 0;
  // The number of rows in every batch if it is the same for both neighbours, and hence public: what the
  // squared-norm query needs. Nothing under add_remove.
  virtual std::optional<std::uint64_t> public_size() const = 0;
  // No batch of this table or of a neighbour has more rows; public.
  virtual std::uint64_t most_rows() const = 0;

 protected:
  Sampler() = default;
};

}  // namespace ration
