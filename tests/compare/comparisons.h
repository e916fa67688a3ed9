#pragma once

#include <sstream>
#include <string>

#include "compare/comparison.h"
#include "ration/data/census.h"
#include "support/child_process.h"

namespace ration::testing {

// A folder with a small census, its schema and a comparison of it.
class CensusFolder {
 public:
  explicit CensusFolder(std::size_t rows = 300) {
    std::ostringstream table;
    data::write_census(table, rows, 1);
    folder_.write("census.csv", table.str());
    folder_.write("census.toml", data::to_toml(data::census_schema()));
    folder_.write("compare.toml", text());
  }

  // Two variations of dpsgd and one that does not depend on epsilon: 2 * 2 + 1 jobs for each of 3 * 2 folds.
  static std::string text() {
    return R"(public = true
epsilons = [0.5, 2]
delta = 1e-6
folds = 3
repeats = 2
[plan]
steps = 4
[data.census]
files = "census.csv"
schema = "census.toml"
[models.logistic]
[methods.plain]
method = "dpsgd"
[methods.adam]
method = "dpsgd"
step = "adam"
lr = 0.1
[methods.free]
method = "dpsgd"
private = false
)";
  }

  const std::string& path() const { return folder_.path(); }
  std::string file(const std::string& name) const { return path() + "/" + name; }
  std::string read(const std::string& name) const { return read_whole_file(file(name)); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }
  compare::Comparison comparison() const { return compare::read_comparison(file("compare.toml")); }

 private:
  TemporaryFolder folder_;
};

}  // namespace ration::testing
