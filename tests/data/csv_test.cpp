#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/delimited.h"
#include "support/data_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Records = std::vector<std::vector<std::string>>;

Records records(const std::string& text, DelimitedOptions options = {}) {
  const TemporaryFolder folder;
  DelimitedReader reader(folder.write("t.csv", text), std::move(options));
  Records out;
  while (reader.next()) out.emplace_back(reader.fields().begin(), reader.fields().end());
  return out;
}

TEST(Delimited, SplitsPlainLines) {
  EXPECT_EQ(records("a,b\n1,2\n"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(records("a,b\n1,2"), (Records{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(records("a,,\n"), (Records{{"a", "", ""}}));
}

TEST(Delimited, KnowsLineEndsMarksAndBlankLinesAtTheEnd) {
  EXPECT_EQ(records("\xEF\xBB\xBF"
                    "a,b\r\n1,2\r\n\r\n\n"),
            (Records{{"a", "b"}, {"1", "2"}}));
}

TEST(Delimited, QuotedFieldsHoldDelimitersLineEndsAndQuotes) {
  EXPECT_EQ(records("\"a,b\",c\n"), (Records{{"a,b", "c"}}));
  EXPECT_EQ(records("\"a\nb\r\nc\",d\ne,f\n"), (Records{{"a\nb\r\nc", "d"}, {"e", "f"}}));
  EXPECT_EQ(records("\"say \"\"hi\"\"\",\"\"\n"), (Records{{"say \"hi\"", ""}}));
  EXPECT_EQ(records("\"\"\"\",x\n"), (Records{{"\"", "x"}}));
  EXPECT_EQ(records("x, \"a\" ,y\n"), (Records{{"x", "a", "y"}}));
}

TEST(Delimited, TrimsOnlyIfAskedAndNeverWithinQuotes) {
  EXPECT_EQ(records(" a , b,\" c \"\n"), (Records{{"a", "b", " c "}}));
  EXPECT_EQ(
      records(" a , b\n", {.delimiter = ',', .trim = false, .skip_lines = 0, .skip_lines_starting = ""}),
      (Records{{" a ", " b"}}));
}

TEST(Delimited, BlanksTabsAndSemicolons) {
  const auto by = [](char delimiter) {
    return DelimitedOptions{.delimiter = delimiter, .trim = true, .skip_lines = 0, .skip_lines_starting = ""};
  };
  EXPECT_EQ(records(" 1  2\t3 \n", by(' ')), (Records{{"1", "2", "3"}}));
  EXPECT_EQ(records("\"a b\" c\n", by(' ')), (Records{{"a b", "c"}}));
  EXPECT_EQ(records("1\t\t3\n", by('\t')), (Records{{"1", "", "3"}}));
  EXPECT_EQ(records("\"a\";1\n", by(';')), (Records{{"a", "1"}}));
}

TEST(Delimited, SkipsLinesByNumberAndByStart) {
  EXPECT_EQ(records("junk \"\nnote\na,b\n",
                    {.delimiter = ',', .trim = true, .skip_lines = 2, .skip_lines_starting = ""}),
            (Records{{"a", "b"}}));
  EXPECT_EQ(
      records("|x\na,b\n|y\n", {.delimiter = ',', .trim = true, .skip_lines = 0, .skip_lines_starting = "|"}),
      (Records{{"a", "b"}}));
}

// Records that straddle the blocks a file is read in, at every offset.
TEST(Delimited, BlocksDoNotShow) {
  constexpr std::size_t kBlock = 1u << 18;
  for (std::size_t shift = 0; shift < 12; ++shift) {
    const std::string filler(kBlock - 6 - shift, 'x');
    const Records out = records(filler + ",1\n\"a\n\"\"b\",22\nc,3\n");
    ASSERT_EQ(out, (Records{{filler, "1"}, {"a\n\"b", "22"}, {"c", "3"}})) << shift;
  }
}

TEST(Delimited, LineNumbersCountEmbeddedLineEnds) {
  const TemporaryFolder folder;
  DelimitedReader reader(folder.write("t.csv", "a\n\"b\nc\nd\"\ne\n"), {});
  std::vector<std::uint64_t> lines;
  while (reader.next()) lines.push_back(reader.line());
  EXPECT_THAT(lines, ElementsAre(1, 2, 5));
}

TEST(ReadCsv, EncodesBySchema) {
  const Table table =
      read_text("age,work,note,rich\n10,field,x,no\n60,shop,,yes\n?,NA,z,yes\n", small_schema());
  EXPECT_THAT(table.column_names, ElementsAre("age", "work=field", "work=shop", "work=(missing)", "(bias)"));
  EXPECT_THAT(table.classes, ElementsAre("no", "yes"));
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0, 1, 0, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(1, 0, 1, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 2), ElementsAre(0.5, 0, 0, 1, 1));
  EXPECT_THAT(std::vector<double>(table.rows.labels().begin(), table.rows.labels().end()),
              ElementsAre(0, 1, 1));
}

TEST(ReadCsv, TheHeaderDecidesTheOrder) {
  const Table table = read_text("rich,work,age,note\nyes,shop,35,x\n", small_schema());
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0.5, 0, 1, 0, 1));
  EXPECT_EQ(table.rows.labels()[0], 1);
}

TEST(ReadCsv, ReadsGzipWhateverTheName) {
  const std::string text = "35,shop,x,yes\n";
  const Table table = read_text(gzipped(text) + gzipped(text), small_schema("header = false\n"), "t.csv");
  EXPECT_EQ(table.rows.count(), 2u);
}

TEST(ReadCsv, ClampsAndFoldsOnlyIfAsked) {
  const std::string text = "300,boat,x,yes\n";
  const Schema lenient =
      small_schema("header = false\nout_of_bounds = \"clamp\"\nunknown_category = \"other\"\n");
  const Table table = read_text(text, lenient);
  EXPECT_THAT(table.column_names,
              ElementsAre("age", "work=field", "work=shop", "work=(missing)", "work=(other)", "(bias)"));
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(1, 0, 0, 0, 1, 1));
  EXPECT_THAT(refusal([&] { read_text(text, small_schema("header = false\n")); }),
              HasSubstr("outside the public bounds [10, 60]"));
}

// The label is never folded into "other" by a choice made for the whole table.
TEST(ReadCsv, TheLabelIsNeverFolded) {
  const Schema lenient = small_schema("header = false\nunknown_category = \"other\"\n");
  EXPECT_THAT(refusal([&] { read_text("30,shop,x,maybe\n", lenient); }),
              HasSubstr("column 'rich': value 'maybe' is none of the 2"));
}

TEST(ReadCsv, LabelsAndIgnoredColumnsMayBeAbsentForPrediction) {
  const TemporaryFolder folder;
  const ReadOptions no_labels{.labels = false};
  const auto with_header = folder.write("a.csv", "age,work,note\n35,shop,x\n");
  EXPECT_TRUE(std::isnan(read_table(with_header, small_schema(), no_labels).rows.labels()[0]));
  const auto without_ignored = folder.write("d.csv", "work,age\nshop,35\n");
  EXPECT_EQ(read_table(without_ignored, small_schema(), no_labels).rows.count(), 1u);
  EXPECT_THAT(refusal([&] { read_table(without_ignored, small_schema()); }),
              HasSubstr("column 'note': missing from the header"));
  const auto without = folder.write("b.csv", "35,shop,x\n");
  EXPECT_EQ(read_table(without, small_schema("header = false\n"), no_labels).rows.count(), 1u);
  const auto present = folder.write("c.csv", "35,shop,x,unheard-of\n");
  EXPECT_EQ(read_table(present, small_schema("header = false\n"), no_labels).rows.count(), 1u);
  EXPECT_THAT(refusal([&] { read_table(with_header, small_schema()); }),
              HasSubstr("column 'rich': missing from the header"));
}

TEST(ReadCsv, ScalesCutsAndLogs) {
  const Schema schema = parse_schema(R"(
label = "y"
header = false
bias = false
columns = [
  { name = "a", type = "number", low = 0, high = 10, cuts = [2, 5] },
  { name = "b", type = "number", low = 0, high = 99, scale = "log" },
  { name = "y", type = "number", low = -5, high = 5 },
])");
  const Table table = read_text("2,9,-3.5\n10,0,+2\n1.99,99,0\n", schema);
  EXPECT_THAT(table.column_names, ElementsAre("a in [0, 2)", "a in [2, 5)", "a in [5, 10]", "b"));
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0, 1, 0, ::testing::DoubleNear(0.5, 1e-12)));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(plain_row(table.rows, 2), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(std::vector<double>(table.rows.labels().begin(), table.rows.labels().end()),
              ElementsAre(-3.5, 2, 0));
  EXPECT_TRUE(table.classes.empty());
}

TEST(ReadCsv, AliasesAreOtherSpellings) {
  Schema schema = small_schema("header = false\n");
  schema.columns[3].aliases = {{"no.", "no"}, {"yes.", "yes"}};
  const Table table = read_text("30,shop,x,yes.\n30,shop,x,no.\n", schema);
  EXPECT_EQ(table.rows.labels()[0], 1);
  EXPECT_EQ(table.rows.labels()[1], 0);
}

TEST(ReadCsv, ShortensRowsIfAsked) {
  const Table table = read_text("60,shop,x,yes\n", small_schema("header = false\nmax_row_norm = 0.5\n"));
  EXPECT_LE(table.rows.norms()[0], 0.5);
  EXPECT_NEAR(plain_row(table.rows, 0)[0], 0.5 / std::sqrt(3), 1e-12);
}

TEST(ReadCsv, StorageFollowsTheSchemaNotTheRows) {
  std::string columns;
  for (int i = 0; i < 30; ++i) columns += "\"c" + std::to_string(i) + "\",";
  const Schema wide =
      parse_schema("label=\"y\"\nheader=false\ncolumns=[{name=\"a\",type=\"category\",categories=[" +
                   columns + "]},{name=\"y\",type=\"category\",categories=[0,1]}]");
  EXPECT_FALSE(read_text("c3,1\n", wide).rows.is_dense());
  EXPECT_THAT(plain_row(read_text("c29,0\n", wide).rows, 0)[29], 1);
  EXPECT_TRUE(read_text("10,field,,no\n", small_schema("header=false\n")).rows.is_dense());
}

// Extreme bounds neither overflow nor leave [0, 1].
TEST(ReadCsv, ScalesTheWidestBounds) {
  const Schema schema = parse_schema(
      "label=\"y\"\nheader=false\ncolumns=[{name=\"a\",type=\"number\",low=-1.7e308,high=1.7e308},{name="
      "\"y\",type="
      "\"category\",categories=[0,1]}]");
  const Table table = read_text("0,1\n1.7e308,0\n", schema);
  EXPECT_EQ(plain_row(table.rows, 0)[0], 0.5);
  EXPECT_EQ(plain_row(table.rows, 1)[0], 1.0);
}

}  // namespace
}  // namespace ration::testing
