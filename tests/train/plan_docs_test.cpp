#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/train/plan.h"
#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

// "| `lr` | 4 | Learning rate; lr > 0 |"; texts without their quotes.
std::string documented(const PlanKey& key) {
  std::string value = key.get(Plan{}).value_or("");
  std::erase(value, '"');
  return "| `" + key.name + "` | " + value + " | " + key.help + " |";
}

TEST(PlanDocs, EveryKeyIsThereWithItsDefaultAndItsHelp) {
  const std::string text = read_whole_file(RATION_SOURCE_DIR "/docs/plan.md");
  for (const PlanKey& key : plan_keys()) EXPECT_THAT(text, ::testing::HasSubstr(documented(key)));
}

}  // namespace
}  // namespace ration::testing
