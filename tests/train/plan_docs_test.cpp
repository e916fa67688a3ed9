#include "train/plan_docs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/train/plan.h"
#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

TEST(PlanDocs, EveryKeyAndEveryChoiceIsInTheTables) {
  const std::string text = plan_keys_as_markdown();
  for (const PlanKey& key : plan_keys()) {
    EXPECT_THAT(text, HasSubstr("| `" + key.name + "` | "));
    for (const NameAndHelp& choice : key.choices) {
      EXPECT_THAT(text, HasSubstr("| `" + choice.name + "` | " + choice.help + " |")) << key.name;
      EXPECT_FALSE(choice.help.empty()) << key.name << " " << choice.name;
    }
  }
}

TEST(PlanDocs, TheFileIsUpToDate) {
  const std::string text = read_whole_file(RATION_SOURCE_DIR "/docs/plan.md");
  EXPECT_THAT(text, HasSubstr("what follows -->\n" + plan_keys_as_markdown() + "<!-- end of keys -->\n"))
      << "run docs/refresh_plan";
}

}  // namespace
}  // namespace ration::testing
