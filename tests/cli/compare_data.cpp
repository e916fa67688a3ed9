// The comparison of the experiments on real data, with the methods that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ration/train/plan.h"
#include "support/data_files.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

// Those of the command as the documentation has it that this version's plans know.
std::string known_methods() {
  std::string known;
  for (const PlanKey& key : plan_keys()) {
    if (key.name != "method") continue;
    for (const char* method : {"blsgd", "agd", "dpsgd", "nonprivate"}) {
      try {
        Plan scratch;
        key.set(scratch, "", method);
        known += (known.empty() ? "" : ",") + std::string(method);
      } catch (const std::invalid_argument&) {
      }
    }
  }
  return known;
}

TEST(CompareExperiment, OfA9aRunsAsWritten) {
  RATION_NEED_DATA(rows, "a9a/a9a.gz");
  const TemporaryFolder folder;
  setenv("RATION_DATA", std::filesystem::path(rows).parent_path().parent_path().c_str(), 1);
  const nlohmann::json out =
      ration_json("compare --plan experiments/e1.toml --data a9a --methods " + known_methods() +
                      " --epsilons 0.1,0.4 --folds 3 --repeats 1 --out " + folder.path() + "/cmp",
                  RATION_SOURCE_DIR);
  for (const auto& cell : out["results"]) {
    if (cell["method"] != "dpsgd" || cell["model"] != "logistic") continue;
    EXPECT_GT(cell["accuracy"], cell["epsilon"] == 0.1 ? 0.825 : 0.84) << cell;
    EXPECT_LT(cell["accuracy_error"], 0.01);
  }
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/cmp/accuracy-a9a-svm.svg"));
}

}  // namespace
}  // namespace ration::testing
