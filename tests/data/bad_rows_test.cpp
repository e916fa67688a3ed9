// Rows that break the schema: what is said of them, and what each choice makes of them.
#include "ration/data/bad_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/images.h"
#include "data/named_data.h"
#include "support/binary_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHeader = "age,work,note,rich\n";

Table read_under(OnBadRow choice, const std::string& text, const Schema& schema,
                 const std::string& name = "t.csv") {
  const TemporaryFolder folder;
  return read_table(folder.write(name, text), schema, {.on_bad_row = choice});
}

// What is said on refusing rows; "" if nothing is refused, or for another reason.
std::string complaint_about_rows(const std::string& text, const Schema& schema,
                                 const std::string& name = "t.csv") {
  try {
    read_under(OnBadRow::refuse, text, schema, name);
  } catch (const BadRows& error) {
    return error.what();
  }
  return "";
}

std::vector<double> labels_of(const Table& table) {
  return {table.rows.labels().begin(), table.rows.labels().end()};
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

// --- refuse

TEST(BadRows, AllComplaintsComeAtOnceTheLabelsAmongThem) {
  const std::string said = complaint_about_rows(
      kHeader + "212,boat,x,no\n30,shop,x,no\n30,shop,x,maybe\n30,shop\nold,shop,x,no\n", small_schema());
  EXPECT_THAT(said, AllOf(HasSubstr(":2: column 'age': value 212 is outside"),
                          HasSubstr(":2: column 'work': value 'boat' is none of"),
                          HasSubstr(":4: column 'rich': value 'maybe' is none of"),
                          HasSubstr(":5: expected 4 fields, got 2"),
                          HasSubstr(":6: column 'age': expected a number, got 'old'")));
  EXPECT_EQ(lines_of(said), 5u);
}

TEST(BadRows, TheListIsCappedAndNobodyLearnsHowManyMoreThereAre) {
  std::string twenty = kHeader, thirty, forty;
  for (int i = 0; i < 20; ++i) twenty += fmt::format("{},shop,x,no\n", 100 + i);
  thirty = twenty;
  for (int i = 0; i < 10; ++i) thirty += "99,shop,x,no\n";
  forty = thirty + "99,boat,x,no\n30,shop,x,no\n99,shop,x,maybe\n";
  const std::string all = complaint_about_rows(twenty, small_schema());
  EXPECT_EQ(lines_of(all), 20u);
  EXPECT_THAT(all, AllOf(HasSubstr("value 119"), Not(HasSubstr("and more"))));
  const std::string some = complaint_about_rows(thirty, small_schema());
  EXPECT_EQ(lines_of(some), 21u);
  EXPECT_THAT(some, HasSubstr("and more: these are the first 20"));
  const auto after_the_path = [](const std::string& text) { return text.substr(text.find(":2: column")); };
  EXPECT_EQ(after_the_path(some).substr(0, 60),
            after_the_path(complaint_about_rows(forty, small_schema())).substr(0, 60));
  EXPECT_EQ(lines_of(complaint_about_rows(forty, small_schema())), 21u);
}

TEST(BadRows, EveryFormatListsThem) {
  const Schema libsvm = parse_schema(
      "format = \"libsvm\"\nlabel = \"y\"\nfeatures = { count = 5, low = 0, high = 1 }\n"
      "columns = [{ name = \"y\", type = \"category\", categories = [-1, 1] }]\n");
  EXPECT_EQ(lines_of(complaint_about_rows("3 1:2 2:x\n1 5:1\n1 2:1 1:1\n", libsvm, "t.svm")), 4u);
  const Schema text = parse_schema(
      "format = \"text\"\nheader = false\nlabel = \"kind\"\ntext = { vocabulary = 100 }\n"
      "columns = [{ name = \"kind\", type = \"category\", categories = [\"ham\", \"spam\"] }]\n");
  EXPECT_EQ(lines_of(complaint_about_rows("hello\tegg\nno tab\nhi\tham\n", text, "t.txt")), 2u);
  const Schema numbers = parse_schema(
      "label = \"y\"\ncolumns = [{ name = \"a\", type = \"number\", low = 0, high = 10 },\n"
      "{ name = \"y\", type = \"category\", categories = [0, 1] }]\n");
  EXPECT_EQ(lines_of(complaint_about_rows(npy(npy_header("<f8", "(2, 2)"), bytes_of<double>({11, 0, -1, 7})),
                                          numbers, "t.npy")),
            3u);
}

// What no row had a say in is another kind of refusal, since it tells nothing about a row.
TEST(BadRows, AWrongHeaderOrShapeIsAPublicFault) {
  const auto public_fault = [](const std::string& text, const Schema& schema, const std::string& name) {
    EXPECT_THROW(read_under(OnBadRow::refuse, text, schema, name), PublicFault) << text;
    EXPECT_THROW(read_under(OnBadRow::drop, text, schema, name), PublicFault) << text;
  };
  public_fault("age,work,rich\n30,shop,no\n", small_schema(), "t.csv");
  public_fault("age,work,note,rich,zip\n", small_schema(), "t.csv");
  public_fault("age,work,note,rich,age\n", small_schema(), "t.csv");
  const Schema numbers = parse_schema(
      "label = \"y\"\ncolumns = [{ name = \"a\", type = \"number\", low = 0, high = 10 },\n"
      "{ name = \"y\", type = \"category\", categories = [0, 1] }]\n");
  public_fault(npy(npy_header("<f8", "(1, 4)"), bytes_of<double>({1, 0, 2, 1})), numbers, "t.npy");
  // A first line that is no header may be a row.
  try {
    read_under(OnBadRow::refuse, "30,shop,x,no\n", small_schema());
    FAIL();
  } catch (const PublicFault&) {
    FAIL() << "quotes a row";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'30' first"));
  }
}

// --- clamp

const std::string kNoFill = R"(
label = "y"
columns = [
  { name = "age", type = "number", low = 10, high = 60 },
  { name = "hours", type = "number", low = 0, high = 9, cuts = [5] },
  { name = "work", type = "category", categories = ["field", "shop"] },
  { name = "y", type = "number", low = -1, high = 1 },
]
)";

TEST(BadRows, ClampBendsNumbersAndMakesZerosOfTheRest) {
  const Table table = read_under(OnBadRow::clamp,
                                 "age,hours,work,y\n"
                                 "212,100,shop,7\n"
                                 "-5,-1,field,-inf\n"
                                 "1e999,6,boat,0\n"
                                 "old,young,,0.5\n"
                                 "nan,nan,shop,0\n",
                                 parse_schema(kNoFill));
  EXPECT_EQ(table.left_out, 0u);
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(1, 0, 1, 0, 1, 1));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 2), ElementsAre(1, 0, 1, 0, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 3), ElementsAre(0, 0, 0, 0, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 4), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(labels_of(table), ElementsAre(1, -1, 0, 0.5, 0));
}

TEST(BadRows, ClampDropsWhatNothingCanStandInFor) {
  const Table table =
      read_under(OnBadRow::clamp, kHeader + "30,shop,x,maybe\n30,shop\n30,shop,x,yes\n", small_schema());
  EXPECT_EQ(table.rows.count(), 1u);
  EXPECT_EQ(table.left_out, 2u);
  EXPECT_EQ(read_under(OnBadRow::clamp, "age,hours,work,y\n30,1,shop,high\n", parse_schema(kNoFill)).left_out,
            1u);
}

// What the schema says of a column comes first.
TEST(BadRows, TheSchemasOwnRulesComeFirst) {
  const Schema lenient = small_schema("unknown_category = \"other\"\n");
  for (const OnBadRow choice : every<OnBadRow>()) {
    const Table table = read_under(choice, kHeader + "?,boat,x,no\n", lenient);
    EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0.5, 0, 0, 0, 1, 1)) << to_string(choice);
  }
}

// --- drop

TEST(BadRows, DropLeavesARowOutAndCountsIt) {
  const Table table =
      read_under(OnBadRow::drop,
                 kHeader + "30,shop,x,no\n212,shop,x,no\n35,boat,x,no\n35,shop,x,maybe\n35\n60,field,x,yes\n",
                 small_schema());
  EXPECT_EQ(table.rows.count(), 2u);
  EXPECT_EQ(table.left_out, 4u);
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(1, 1, 0, 0, 1));
  EXPECT_THAT(labels_of(table), ElementsAre(0, 1));
}

TEST(BadRows, ATableOfWhichAllRowsAreDroppedIsATable) {
  const Table table = read_under(OnBadRow::drop, kHeader + "212,shop,x,no\n", small_schema());
  EXPECT_EQ(table.rows.count(), 0u);
  EXPECT_EQ(table.left_out, 1u);
  EXPECT_EQ(table.column_names.size(), table.rows.columns());
}

TEST(BadRows, DropForgetsTheBeginningOfABadLibsvmRow) {
  const Schema schema = parse_schema(
      "format = \"libsvm\"\nlabel = \"y\"\nfeatures = { count = 5, low = 0, high = 1 }\n"
      "columns = [{ name = \"y\", type = \"category\", categories = [-1, 1] }]\n");
  const Table table = read_under(OnBadRow::drop, "1 1:1 2:7\n1 1:1\n5 1:1\n-1 3:1 2:1\n-1 5:0.5\n", schema);
  ASSERT_EQ(table.rows.count(), 2u);
  EXPECT_EQ(table.left_out, 3u);
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(1, 0, 0, 0, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(0, 0, 0, 0, 0.5, 1));
  const Table clamped = read_under(OnBadRow::clamp, "1 1:1 2:7 3:x\n", schema);
  EXPECT_THAT(plain_row(clamped.rows, 0), ElementsAre(1, 1, 0, 0, 0, 1));
}

TEST(BadRows, TextsAndImages) {
  const Schema text = parse_schema(
      "format = \"text\"\nheader = false\nlabel = \"kind\"\ntext = { vocabulary = 100 }\n"
      "columns = [{ name = \"kind\", type = \"category\", categories = [\"ham\", \"spam\"] }]\n");
  const Table texts = read_under(OnBadRow::drop, "hello\tegg\nno tab\nhi\tspam\n", text, "t.txt");
  EXPECT_EQ(texts.left_out, 2u);
  EXPECT_THAT(labels_of(texts), ElementsAre(1));

  Schema schema = *schema_of_data("fashion-mnist");
  schema.image = ImageShape{.channels = 1, .height = 1, .width = 2};
  const Images images{
      .channels = 1, .height = 1, .width = 2, .pixels = {1, 2, 3, 4, 5, 6}, .labels = {9, 10, 0}};
  const Table pictures = image_table(images, schema, OnBadRow::drop);
  EXPECT_EQ(pictures.left_out, 1u);
  EXPECT_THAT(labels_of(pictures), ElementsAre(9, 0));
  EXPECT_THAT(plain_row(pictures.rows, 1), ElementsAre(5 / 255.0, 6 / 255.0, 1));
  EXPECT_THROW(image_table(images, schema), BadRows);
}

// The choice is a function of one row: what becomes of the others does not depend on it.
TEST(BadRows, OtherRowsAreReadAsIfABadOneWereNotThere) {
  const std::string good[] = {"30,shop,x,no\n", "41,field,x,yes\n"};
  for (const OnBadRow choice : {OnBadRow::clamp, OnBadRow::drop}) {
    const Table alone = read_under(choice, kHeader + good[0] + good[1], small_schema());
    for (const std::string bad : {"212,shop,x,no\n", "30,boat,x,maybe\n", "30\n", "x,y,z,q\n"}) {
      for (const std::size_t place : {0u, 1u, 2u}) {
        const std::string rows = place == 0   ? bad + good[0] + good[1]
                                 : place == 1 ? good[0] + bad + good[1]
                                              : good[0] + good[1] + bad;
        const Table with = read_under(choice, kHeader + rows, small_schema());
        ASSERT_EQ(with.rows.count() + with.left_out, 3u) << rows;
        ASSERT_LE(with.left_out, 1u) << rows;
        for (std::size_t row = 0; row < 2; ++row) {
          const std::size_t now = row + (with.left_out == 0 && place <= row ? 1 : 0);
          EXPECT_EQ(plain_row(with.rows, now), plain_row(alone.rows, row)) << rows;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ration::testing
