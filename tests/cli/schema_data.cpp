#include <gtest/gtest.h>

#include "ration/data/table.h"
#include "support/data_files.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

TEST(SchemaCommand, TheDraftOfAdultReadsAdult) {
  RATION_NEED_DATA(path, "adult/adult.data.gz");
  const std::string names = std::string(RATION_SOURCE_DIR) + "/examples/adult/names.txt";
  const Finished drafted = run_ration("schema " + path + " --target income --names " + names);
  ASSERT_EQ(drafted.exit_code, 0) << drafted.err;
  const data::Schema schema = data::parse_schema(drafted.out, "draft.toml");
  EXPECT_EQ(data::read_table(path, schema).rows.count(), 32561u);
  EXPECT_EQ(schema.classes(), 2u);
}

}  // namespace
}  // namespace ration::testing
