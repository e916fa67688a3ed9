#include "data/find_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/child_process.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using data::find_data_file;
using ::testing::HasSubstr;

// RATION_DATA for the length of a test.
class DataFolder {
 public:
  explicit DataFolder(const std::string& path) {
    if (const char* before = std::getenv("RATION_DATA")) before_ = before;
    setenv("RATION_DATA", path.c_str(), 1);
  }
  ~DataFolder() { setenv("RATION_DATA", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST(FindDataFile, LooksBesideTheFileFirstThenInTheFolderOfTheData) {
  const TemporaryFolder plans;
  const TemporaryFolder sets;
  const DataFolder data(sets.path());
  const std::string far = sets.write("rows.csv", "far");
  EXPECT_EQ(find_data_file("rows.csv", plans.path()), far);
  const std::string near = plans.write("rows.csv", "near");
  EXPECT_EQ(find_data_file("rows.csv", plans.path()), near);
  EXPECT_EQ(find_data_file("rows.csv"), far);
  EXPECT_EQ(find_data_file(near, sets.path()), near);
}

TEST(FindDataFile, LooksInTheCurrentFolder) {
  const TemporaryFolder folder;
  const std::string there = folder.write("rows.csv", "");
  const std::filesystem::path from_here = std::filesystem::relative(there);
  EXPECT_EQ(find_data_file(from_here.string(), "/no/such/folder/that/goes/very/deep"),
            from_here.lexically_normal().string());
}

TEST(FindDataFile, SaysWhereItLookedAndWhatToDo) {
  const TemporaryFolder sets;
  const DataFolder data(sets.path());
  const std::string said = refusal([] { find_data_file("set/none.csv", "beside"); });
  EXPECT_THAT(said,
              HasSubstr("looked for beside/set/none.csv, set/none.csv, " + sets.path() + "/set/none.csv"));
  EXPECT_THAT(said, HasSubstr("in the folder RATION_DATA"));
  EXPECT_THAT(refusal([&] { find_data_file(sets.path()); }), HasSubstr("no such file"));
  EXPECT_THAT(refusal([] { find_data_file(""); }), HasSubstr("expected the name of a file"));
}

// There is no other folder where data might be.
TEST(FindDataFile, WithoutRationDataLooksNowhereElse) {
  const DataFolder none("");
  EXPECT_EQ(refusal([] { find_data_file("none.csv"); }), "none.csv: no such file; looked for none.csv");
  EXPECT_EQ(refusal([] { find_data_file("set/none.csv"); }),
            "set/none.csv: no such file; looked for set/none.csv; if it is a public data set, download it "
            "(examples/README.md) and set RATION_DATA to the folder");
}

}  // namespace
}  // namespace ration::testing
