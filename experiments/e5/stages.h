#pragma once

#include <string>

namespace ration::e5 {

struct Places {
  std::string data, examples, out;
};

// Leaves NAME.csv in places.out, and what it trained in NAME-training.csv. InputError if there is no such stage.
void run_stage(const std::string& name, const Places& places);

}  // namespace ration::e5
