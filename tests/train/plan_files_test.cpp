#include "train/plan_files.h"

#include <gtest/gtest.h>

#include <set>

namespace ration::testing {
namespace {

// A key for a file that nobody copies would leave a run that cannot be resumed once the file is gone.
TEST(PlanFiles, EveryKeyForAFileIsOne) {
  std::set<std::string> keys;
  for (const PlanKey& key : plan_keys()) {
    if (key.value.find("FILE") != std::string::npos) keys.insert(key.name);
  }
  for (const PlanFile& file : plan_files()) EXPECT_EQ(keys.erase(file.key), 1u) << file.key;
  EXPECT_EQ(keys, (std::set<std::string>{"data", "ledger"}));  // no part of the plan
}

TEST(PlanFiles, APathMeansAFileBesideThePlan) {
  for (const PlanFile& file : plan_files()) {
    const std::string line = std::string(file.key) + " = ";
    EXPECT_EQ(file.path(parse_plan(line + "\"a/b.c\"", "dir/plan.toml")), "dir/a/b.c") << file.key;
    EXPECT_EQ(file.path(parse_plan(line + "\"/a/b.c\"", "dir/plan.toml")), "/a/b.c") << file.key;
    EXPECT_EQ(file.path(parse_plan("", "dir/plan.toml")), "") << file.key;
    EXPECT_TRUE(names_plan_file(file.key, "a/b.c"));
  }
  EXPECT_EQ(parse_plan("schedule = \"influence\"", "dir/plan.toml").schedule, "influence");
  EXPECT_FALSE(names_plan_file("schedule", "influence"));
  EXPECT_FALSE(names_plan_file("method", "a/b.c"));
}

}  // namespace
}  // namespace ration::testing
