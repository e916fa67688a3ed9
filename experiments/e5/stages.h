#pragma once

#include <string>
#include <vector>

namespace ration::e5 {

struct Places {
  std::string data, examples, out;
};

// In the order in which they are run.
const std::vector<std::string>& all_stages();

// Leaves NAME.csv in places.out, and what it trained in NAME-training.csv. InputError if there is no such
// stage.
void run_stage(const std::string& name, const Places& places);

}  // namespace ration::e5
