#pragma once

#include <array>
#include <memory>
#include <string>

#include "ration/data/rows.h"
#include "ration/data/schema.h"

namespace ration::e5 {

struct Split {
  std::shared_ptr<const Rows> train, test;
};

// A public data set with two classes: as a protector's training ground, all of it; as a table to protect, in
// two parts.
struct PublicData {
  std::string name;
  data::Schema schema;
  std::shared_ptr<const Rows> all;   // to practise on
  std::shared_ptr<const Rows> test;  // official; null: splits are drawn

  // `repeat` decides which fifth is for testing, unless the data come with test rows.
  Split split(std::size_t repeat) const;
};

// `data` is the folder of the data sets, `examples` that of the schemas.
PublicData census(const std::string& name, const std::string& file, const std::string& data,
                  const std::string& examples);
// Two digits of MNIST, pixels in [0, 1].
PublicData digit_pair(const std::string& data, std::array<int, 2> digits);

}  // namespace ration::e5
