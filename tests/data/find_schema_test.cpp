#include "data/find_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/ration_command.h"

namespace ration::data {
namespace {

namespace fs = std::filesystem;
using ration::testing::TemporaryFolder;
using ::testing::EndsWith;
using ::testing::Optional;

// A file of rows in a folder of this name.
std::string rows_in(const TemporaryFolder& folder, const std::string& name) {
  fs::create_directories(folder.path() + "/" + name);
  folder.write(name + "/rows.csv", "a,b\n");
  return folder.path() + "/" + name + "/rows.csv";
}

TEST(FindSchema, ComesWithTheProgramForFoldersOfThatName) {
  const TemporaryFolder folder;
  EXPECT_THAT(find_schema(rows_in(folder, "ipums-us-1980")),
              Optional(EndsWith("examples/ipums-us-1980/schema.toml")));
  EXPECT_EQ(find_schema(rows_in(folder, "hospital")), std::nullopt);
}

// It may be a draft that was read off these very rows.
TEST(FindSchema, NothingIsTakenFromBesideTheRows) {
  const TemporaryFolder folder;
  const std::string rows = rows_in(folder, "hospital");
  folder.write("hospital/schema.toml", "");
  EXPECT_EQ(find_schema(rows), std::nullopt);
  fs::create_directories(folder.path() + "/adult");
  EXPECT_EQ(find_schema(folder.path() + "/adult/../hospital/rows.csv"), std::nullopt);
}

TEST(FindSchema, NothingForRowsThatAreNotThereOrHaveTheirOwn) {
  EXPECT_EQ(find_schema(""), std::nullopt);
  EXPECT_EQ(find_schema("nowhere/adult/rows.csv"), std::nullopt);
  EXPECT_EQ(find_schema("fashion-mnist"), std::nullopt);
}

}  // namespace
}  // namespace ration::data
