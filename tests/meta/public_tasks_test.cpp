#include "meta/public_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/public_random.h"
#include "data/content_hash.h"
#include "ration/data/schema.h"
#include "support/binary_files.h"
#include "support/child_process.h"

namespace ration::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kTable = "age,work,rich\n20,shop,no\n30,field,yes\n40,shop,yes\n50,field,no\n";
const std::string kSchema = R"(
label = "rich"
columns = [
  { name = "age", type = "number", low = 0, high = 100 },
  { name = "work", type = "category", categories = ["shop", "field"] },
  { name = "rich", type = "category", categories = ["no", "yes"] },
]
)";

TEST(PublicTasks, MadeUpOnesHaveNoRowsAndNoHashes) {
  for (const PublicTasks& tasks : {quadratic_tasks(), generated_tasks(GlmLoss::hinge)}) {
    EXPECT_EQ(tasks.rows, 0);
    EXPECT_THAT(tasks.origin.data_hashes, IsEmpty());
    PublicRandom random(1);
    EXPECT_GT(tasks.source(random)->parameters(), 0u);
  }
  EXPECT_EQ(quadratic_tasks().origin.tasks, "quadratic");
  EXPECT_EQ(generated_tasks(GlmLoss::hinge).origin.model, "hinge");
}

TEST(PublicTasks, ATableIsReadByItsSchema) {
  const testing::TemporaryFolder folder;
  const std::string table = folder.write("table.csv", kTable);
  const std::string schema = folder.write("schema.toml", kSchema);
  PublicRows rows = read_public_table(table, schema, std::nullopt);
  EXPECT_EQ(rows.tasks, "table");
  EXPECT_EQ(rows.name, table);
  EXPECT_EQ(rows.classes, 2u);
  EXPECT_EQ(rows.drafted_target, std::nullopt);
  EXPECT_EQ(read_public_table(table, schema, "work").table.classes,
            (std::vector<std::string>{"shop", "field"}));

  const PublicTasks tasks = tasks_from(std::move(rows), GlmLoss::logistic, 1);
  EXPECT_EQ(tasks.rows, 4);
  EXPECT_EQ(tasks.origin.tasks, "table");
  EXPECT_EQ(tasks.origin.model, "logistic");
  EXPECT_THAT(tasks.origin.data_hashes,
              ElementsAre(data::content_hash(table)));  // whole and part are one file
}

TEST(PublicTasks, WithoutASchemaOneIsDraftedAndTheTargetSaid) {
  const testing::TemporaryFolder folder;
  const std::string table = folder.write("table.csv", kTable);
  EXPECT_EQ(read_public_table(table, std::nullopt, std::nullopt).drafted_target, "rich");
  const PublicRows rows = read_public_table(table, std::nullopt, "work");
  EXPECT_EQ(rows.drafted_target, "work");
  EXPECT_EQ(rows.table.classes.size(), 2u);
}

TEST(PublicTasks, OfTheImagesTwoClassesAreTaken) {
  const testing::TemporaryFolder folder;
  constexpr std::size_t kPixels = 28 * 28;
  folder.write("train-images-idx3-ubyte",
               testing::idx_images(4, 28, 28,
                                   std::string(kPixels, '\x01') + std::string(kPixels, '\x02') +
                                       std::string(kPixels, '\x03') + std::string(kPixels, '\x04')));
  folder.write("train-labels-idx1-ubyte", testing::idx_labels(4, std::string("\x06\x01\x04\x06", 4)));
  PublicRows rows = read_public_images("mnist:" + folder.path(), {4, 6});
  EXPECT_EQ(rows.classes, 2u);
  EXPECT_THAT(rows.table.rows.labels(), ElementsAre(1, 0, 1));
  EXPECT_THAT(rows.table.classes, ElementsAre("4", "6"));
  EXPECT_EQ(rows.table.rows.dense_row(1)[0], 3 / 255.0);
  const PublicTasks tasks = tasks_from(std::move(rows), GlmLoss::logistic, 0.5);
  EXPECT_EQ(tasks.origin.tasks, "images, classes 4,6");
  EXPECT_EQ(tasks.origin.data_hashes.size(), 3u);  // both files, and the two together
}

}  // namespace
}  // namespace ration::meta
