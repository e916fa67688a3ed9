#include "ration/data/schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/sampled_column.h"
#include "data/schema_draft.h"
#include "ration/data/table.h"
#include "support/child_process.h"
#include "support/places.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Schema, ReadsWhatItWrites) {
  for (const char* name : {"adult", "a9a", "bank", "bank-dpagd", "ipums-br", "ipums-us-1980"}) {
    const Schema schema = read_schema(std::string(RATION_SOURCE_DIR "/examples/") + name + "/schema.toml");
    const std::string text = to_toml(schema);
    EXPECT_EQ(to_toml(parse_schema(text)), text) << name;
    EXPECT_EQ(encoded_column_names(parse_schema(text)), encoded_column_names(schema)) << name;
  }
}

// The threshold itself belongs to the lower class.
TEST(Schema, AThresholdMakesTwoClassesOfANumericLabel) {
  const Schema schema = parse_schema(
      "label = \"y\"\nheader = false\ncolumns = [\n  { name = \"x\", type = \"number\", low = 0, high = 1 "
      "},\n"
      "  { name = \"y\", type = \"number\", low = -5, high = 10, above = 2.5 },\n]\n");
  EXPECT_EQ(schema.classes(), 2u);
  const TemporaryFolder folder;
  const Table table = read_table(folder.write("t.csv", "1,2.5\n0,2.6\n1,-5\n1,10\n"), schema);
  EXPECT_THAT(table.rows.labels(), ::testing::ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(table.classes, ::testing::ElementsAre("<= 2.5", "> 2.5"));
}

TEST(Schema, WritesTextsThatNeedEscapes) {
  Schema schema = small_schema();
  schema.columns[1].categories = {"a\"b", "c\\d", "e\tf", "\xC3\xA9"};
  EXPECT_EQ(parse_schema(to_toml(schema)).columns[1].categories, schema.columns[1].categories);
}

TEST(Schema, RefusesAnUnsoundOneMadeInMemory) {
  Schema schema = small_schema();
  schema.columns[0].low = 90;
  EXPECT_EQ(refusal([&] { require_sound(schema); }),
            "small.toml: column 'age': expected low < high, got low=90, high=60");
}

struct BadSchema {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const BadSchema& bad, std::ostream* out) {
  *out << bad.name;
}

class RefusedSchema : public ::testing::TestWithParam<BadSchema> {};

TEST_P(RefusedSchema, NamesFileLineKeyAndRule) {
  const std::string said = refusal([] { parse_schema(GetParam().text, "adult.toml"); });
  EXPECT_THAT(said, StartsWith("adult.toml:"));
  EXPECT_THAT(said, HasSubstr(GetParam().message));
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

std::string two_columns(const std::string& age) {
  return "label = \"y\"\ncolumns = [\n  { name = \"age\", " + age +
         " },\n  { name = \"y\", type = \"category\", categories = [0, 1] },\n]\n";
}
std::string with_label(const std::string& label) {
  return "label = \"y\"\ncolumns = [\n  { name = \"y\", " + label + " },\n]\n";
}

const BadSchema kBadSchemas[] = {
    {"Swapped", two_columns("type = \"number\", low = 90, high = 17"),
     "adult.toml:3: column 'age': expected low < high, got low=90, high=17"},
    {"AboveOnAFeature", two_columns("type = \"number\", low = 0, high = 9, above = 4"),
     "adult.toml:3: column 'age': above makes classes of a label"},
    {"AboveTheBounds", with_label("type = \"number\", low = 0, high = 9, above = 9"),
     "expected 0 <= above < 9, got 9"},
    {"BelowTheBounds", with_label("type = \"number\", low = 0, high = 9, above = -1"),
     "expected 0 <= above < 9, got -1"},
    {"AboveIsText", with_label("type = \"number\", low = 0, high = 9, above = \"4\""),
     "above: expected a number, got '4'"},
    {"Equal", two_columns("type = \"number\", low = 1, high = 1"), "expected low < high, got low=1, high=1"},
    {"NanBound", two_columns("type = \"number\", low = nan, high = 1"), "expected low < high, got low=nan"},
    {"InfiniteBound", two_columns("type = \"number\", low = 0, high = inf"), "high=inf"},
    {"NoBound", two_columns("type = \"number\", low = 0"), "adult.toml:3: column 'age': high is needed"},
    {"BoundIsText", two_columns("type = \"number\", low = \"0\", high = 1"),
     "column 'age': low: expected a number, got '0'"},
    {"UnknownType", two_columns("type = \"integer\""),
     "type: expected one of \"number\", \"category\", \"ignore\", got 'integer'"},
    {"NoType", two_columns("low = 3"), "column 'age': type is needed"},
    {"UnknownKey", two_columns("type = \"number\", low = 0, high = 1, max = 4"),
     "adult.toml:3: column 'age': unknown key 'max'"},
    {"KeyOfAnotherType", two_columns("type = \"ignore\", low = 0"), "unknown key 'low'"},
    {"UnknownKeyOnTop", "labels = \"y\"\n",
     "adult.toml:1: unknown key 'labels'; expected one of format, delimiter"},
    {"NoCategories", two_columns("type = \"category\""), "expected at least one category"},
    {"CategoryTwice", two_columns("type = \"category\", categories = [\"a\", \"a\"]"),
     "category 'a' is listed twice"},
    {"CategoryIsMissingMark", "missing = \"a\"\n" + two_columns("type = \"category\", categories = [\"a\"]"),
     "'a' is a category and a mark of missing values"},
    {"KnotsUnsorted", two_columns("type = \"number\", low = 0, high = 9, knots = [4, 3]"),
     "adult.toml:3: column 'age': expected low < knots, increasing, got 3 after 4"},
    {"KnotTwice", two_columns("type = \"number\", low = 0, high = 9, knots = [4, 4]"),
     "expected low < knots, increasing, got 4 after 4"},
    {"KnotsBelow", two_columns("type = \"number\", low = 0, high = 9, knots = [0, 3]"),
     "expected low < knots, increasing, got 0 after 0"},
    {"KnotsBeyond", two_columns("type = \"number\", low = 0, high = 9, knots = [4, 9]"),
     "expected knots < high, got 9 with high=9"},
    {"KnotIsNan", two_columns("type = \"number\", low = 0, high = 9, knots = [nan]"),
     "expected low < knots, increasing, got nan after 0"},
    {"KnotIsInfinite", two_columns("type = \"number\", low = 0, high = 9, knots = [inf]"),
     "expected knots < high, got inf with high=9"},
    {"KnotsTooClose", two_columns("type = \"number\", low = -1e300, high = 1e300, knots = [1, 2]"),
     "expected knots that stay apart when scaled into [0, 1], got 1 and 2"},
    {"KnotTooCloseToHigh", two_columns("type = \"number\", low = -1e300, high = 1, knots = [0.5]"),
     "expected knots that stay apart when scaled into [0, 1], got 0.5 and 1"},
    {"KnotsAndCuts", two_columns("type = \"number\", low = 0, high = 9, cuts = [2], knots = [3]"),
     "expected either cuts or knots, got both"},
    {"KnotsNoList", two_columns("type = \"number\", low = 0, high = 9, knots = 3"),
     "column 'age': knots: expected a list of numbers, got 3"},
    {"KnotIsText", two_columns("type = \"number\", low = 0, high = 9, knots = [\"3\"]"),
     "column 'age': knots: expected a number, got '3'"},
    {"KnotsOfACategory", two_columns("type = \"category\", categories = [\"a\"], knots = [3]"),
     "column 'age': unknown key 'knots'"},
    {"AliasOfNothing", two_columns("type = \"category\", categories = [\"a\"], aliases = { x = \"b\" }"),
     "alias 'x' stands for 'b', which is none of the categories"},
    {"AliasIsCategory",
     two_columns("type = \"category\", categories = [\"a\", \"b\"], aliases = { a = \"b\" }"),
     "'a' is a category and an alias"},
    {"FillOutside", two_columns("type = \"number\", low = 0, high = 1, fill = 2"),
     "expected 0 <= fill <= 1, got 2"},
    {"FillUnknown", two_columns("type = \"category\", categories = [\"a\"], fill = \"b\""),
     "fill 'b' is none of the categories"},
    {"FillAndCategory",
     two_columns("type = \"category\", categories = [\"a\"], fill = \"a\", missing_category = true"),
     "expected either fill or missing_category"},
    {"CutsUnsorted", two_columns("type = \"number\", low = 0, high = 9, cuts = [4, 3]"),
     "increasing, got 3 after 4"},
    {"CutsBeyond", two_columns("type = \"number\", low = 0, high = 9, cuts = [9]"), "expected cuts < high"},
    {"CutsAndScale", two_columns("type = \"number\", low = 0, high = 9, cuts = [2], scale = \"log\""),
     "either cuts or scale"},
    {"NameTwice", two_columns("type = \"ignore\" },\n  { name = \"age\", type = \"ignore\""),
     "adult.toml:4: column 'age': listed twice"},
    {"NoName", "label = \"y\"\ncolumns = [{ type = \"ignore\" }]", "expected a name"},
    {"LabelUnknown",
     "# c\nlabel = \"z\"\ncolumns = [{ name = \"y\", type = \"category\", categories = [0, 1] }]",
     "adult.toml:2: label 'z' is none of the columns"},
    {"LabelAbsent", "columns = [{ name = \"y\", type = \"ignore\" }]", "expected label"},
    {"LabelIgnored", with_label("type = \"ignore\""), "the label's type is 'ignore'"},
    {"LabelMissingCategory", with_label("type = \"category\", categories = [0, 1], missing_category = true"),
     "a label cannot be missing"},
    {"LabelOther", with_label("type = \"category\", categories = [0, 1], unknown_category = \"other\""),
     "a label has no other classes"},
    {"LabelOneClass", with_label("type = \"category\", categories = [0]"), "at least two classes"},
    {"LabelKnots", with_label("type = \"number\", low = 0, high = 1, knots = [0.5]"),
     "adult.toml:3: column 'y': a label is not scaled; leave cuts, knots and scale out"},
    {"LabelScaled", with_label("type = \"number\", low = 0, high = 1, scale = \"log\""),
     "a label is not scaled"},
    {"NoColumns", "label = \"y\"\n", "expected columns, got none"},
    {"ColumnsNoList", "label = \"y\"\ncolumns = 3\n",
     "adult.toml:2: columns: expected a list of tables, got 3"},
    {"ColumnNoTable", "columns = [1]\n", "columns: expected tables with name and type"},
    {"LongDelimiter", "delimiter = \"ab\"\n", "adult.toml:1: delimiter: expected one character, got 'ab'"},
    {"QuoteDelimiter", "delimiter = '\"'\n" + with_label("type = \"category\", categories = [0, 1]"),
     "expected a delimiter other than"},
    {"HeaderNoBool", "header = \"yes\"\n", "header: expected true or false, got 'yes'"},
    {"NegativeSkip", "skip_lines = -1\n", "skip_lines: expected a whole number >= 0, got -1"},
    {"NormZero", "max_row_norm = 0\n" + with_label("type = \"category\", categories = [0, 1]"),
     "expected max_row_norm > 0, got 0"},
    {"LibsvmWithoutFeatures",
     "format = \"libsvm\"\n" + with_label("type = \"category\", categories = [0, 1]"), "go together"},
    {"FeaturesZero",
     "format = \"libsvm\"\nfeatures = { count = 0 }\n" +
         with_label("type = \"category\", categories = [0, 1]"),
     "features: expected 1 <= count"},
    {"FeaturesAndColumns",
     "format = \"libsvm\"\nfeatures = { count = 3 }\n" + two_columns("type = \"ignore\""),
     "expected columns to hold the label alone"},
    {"NotToml", "label = \n", "adult.toml:1: not TOML"},
    {"CodeWithoutQuotes", "label = 01\n", "; write codes in quotes"},
    {"Binary", std::string("\x00\x01\xFF", 3), "not TOML"},
    {"Empty", "", "expected columns, got none"},
};

INSTANTIATE_TEST_SUITE_P(Schema, RefusedSchema, ::testing::ValuesIn(kBadSchemas),
                         [](const auto& test) { return test.param.name; });

TEST(Draft, GuessesAndWarns) {
  const TemporaryFolder folder;
  const auto path = folder.write("people.csv", "age;job;y\n30;\"clerk\";no\n?;smith;yes\n41;NA;no\n");
  const std::string text = draft_schema(path, "y");
  EXPECT_THAT(text, HasSubstr("READ WITHOUT PRIVACY"));
  const Schema schema = parse_schema(text, "draft.toml");
  EXPECT_EQ(schema.delimiter, ';');
  EXPECT_EQ(schema.columns[0].low, 30);
  EXPECT_EQ(schema.columns[0].high, 41);
  EXPECT_THAT(schema.columns[1].categories, ::testing::ElementsAre("clerk", "smith"));
  EXPECT_EQ(read_table(path, schema).rows.count(), 3u);
}

// Names in quotes may hold the blanks, and the delimiters, that are tried.
TEST(Draft, ReadsQuotedHeaders) {
  const TemporaryFolder folder;
  for (const char* text :
       {"\"a b\",\"y\"\n1,no\n2,yes\n", "\"a b\";\"y\"\n1;no\n2;yes\n", "\"a b\"\t\"y\"\n1\tno\n2\tyes\n"}) {
    const Schema schema = parse_schema(draft_schema(folder.write("quoted.csv", text), "y"));
    ASSERT_EQ(schema.columns.size(), 2u) << text;
    EXPECT_EQ(schema.columns[0].name, "a b");
    EXPECT_EQ(schema.columns[1].categories, (std::vector<std::string>{"no", "yes"}));
  }
}

TEST(Draft, NumericTargetsWithFewValuesAreClasses) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.dat", "1 0\n2 1\n3 0\n");
  const Schema schema = parse_schema(draft_schema(path, "y", {"x", "y"}));
  EXPECT_EQ(schema.delimiter, ' ');
  EXPECT_FALSE(schema.header);
  EXPECT_EQ(schema.classes(), 2u);
}

TEST(Draft, LeavesOutWhatHasTooManyTexts) {
  std::string text = "id,y\n";
  for (int i = 0; i < 300; ++i) text += "person" + std::to_string(i) + (i % 2 == 0 ? ",a\n" : ",b\n");
  const TemporaryFolder folder;
  const std::string draft = draft_schema(folder.write("t.csv", text), "y");
  EXPECT_THAT(draft, HasSubstr("'id' has more than 200 different texts"));
  EXPECT_EQ(parse_schema(draft).columns[0].type, ColumnType::ignore);
}

TEST(Draft, LeavesOutNumbersThatNameRows) {
  std::string text = "row,patient_id,income,label\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{},{},{},{}\n", 5000 + i, 7919 * i, 7919 * i, i % 2);
  const TemporaryFolder folder;
  const std::string draft = draft_schema(folder.write("t.csv", text), "label");
  EXPECT_THAT(draft, HasSubstr("{ name = \"row\", type = \"ignore\" }"));
  EXPECT_THAT(draft, HasSubstr("{ name = \"patient_id\", type = \"ignore\" }"));
  EXPECT_THAT(draft, HasSubstr("'patient_id' has a different whole number in each row"));
  EXPECT_THAT(draft, HasSubstr("{ name = \"income\", type = \"number\""));
}

TEST(Draft, NumbersThatRepeatAreNoIds) {
  std::string text = "visit_id,label\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{},{}\n", i < 2 ? 0 : i, i % 2);
  const TemporaryFolder folder;
  const std::string draft = draft_schema(folder.write("t.csv", text), "label");
  EXPECT_THAT(draft, HasSubstr("{ name = \"visit_id\", type = \"number\""));
}

TEST(Draft, DigitsWithALeadingZeroAreCodes) {
  const TemporaryFolder folder;
  const std::string draft =
      draft_schema(folder.write("t.csv", "zip,half,count,y\n01,0.5,0,a\n10,0.25,10,b\n02,1,7,a\n"), "y");
  EXPECT_THAT(draft,
              HasSubstr("{ name = \"zip\", type = \"category\", categories = [\"01\", \"02\", \"10\"] }"));
  EXPECT_THAT(draft, HasSubstr("# Column 'zip' has numbers with leading zeros, like codes: a category.\n"));
  const Schema schema = parse_schema(draft);
  EXPECT_EQ(schema.columns[1].type, ColumnType::number);
  EXPECT_EQ(schema.columns[2].type, ColumnType::number);
  EXPECT_EQ(read_table(folder.path() + "/t.csv", schema).rows.count(), 3u);
}

TEST(Draft, DatesAreLeftOut) {
  const TemporaryFolder folder;
  const std::string draft = draft_schema(
      folder.write("t.csv", "seen,y\n2026-11-18,a\n,b\n2026-01-02T10:30:00Z,a\n2026-1-2 9:05,b\n"), "y");
  EXPECT_THAT(
      draft, HasSubstr("# Column 'seen' has dates, of which no model makes anything as they are: left out."));
  EXPECT_EQ(parse_schema(draft).columns[0].type, ColumnType::ignore);
  for (const char* const date :
       {"2026-11-18", "18.11.2026", "1.2.2026", "11/18/2026", "11/18/2026 9:05 PM", "18.11.2026 23:59:59.5"})
    EXPECT_TRUE(is_date(date)) << date;
  for (const char* const other : {"", "2026", "18.11", "1.5", "2026-11", "2026-18-41", "11/18/26",
                                  "2026-11-18x", "192.168.1.20", "10-20", "2026-11-18 shop"})
    EXPECT_FALSE(is_date(other)) << other;
}

TEST(Draft, MissingNumbersGetTheMedian) {
  const TemporaryFolder folder;
  const std::string draft = draft_schema(folder.write("t.csv", "age,y\n70,a\n?,b\n20,a\n30,b\n31,a\n"), "y");
  EXPECT_EQ(parse_schema(draft).columns[0].fill, 30);
  EXPECT_THAT(draft, HasSubstr("# Column 'age' has missing numbers: fill is the median of the others.\n"));
}

TEST(Draft, SkewedNumbersGetALogScale) {
  const TemporaryFolder folder;
  const std::string draft = draft_schema(
      folder.write("t.csv",
                   "wide,less,rare,flag,debt,y\n5,5,0,0,-1,1\n10,10,0,0,10,200\n200,199,20,1,900,1\n"
                   "4,4,0,0,4,1\n11,11,0,0,5,1\n"),
      "y");
  const Schema schema = parse_schema(draft);
  const std::vector<Scale> scales = {Scale::log, Scale::linear, Scale::log, Scale::linear, Scale::linear};
  for (std::size_t i = 0; i < scales.size(); ++i)
    EXPECT_EQ(schema.columns[i].scale, scales[i]) << schema.columns[i].name;
  EXPECT_THAT(
      draft, HasSubstr("# Column 'wide' is skewed (none below 0, the largest at least 20 times the median or "
                       "1): scale = \"log\".\n"));
}

TEST(Draft, RefusesWhatItCannotUse) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", "a,b\n1,2\n");
  EXPECT_THAT(refusal([&] { draft_schema(path, "income"); }),
              AllOf(HasSubstr("target 'income' is none of the columns: a, b"), HasSubstr("--names FILE")));
  EXPECT_THAT(refusal([&] { draft_schema(path, "a", {"a"}); }),
              HasSubstr("t.csv:1: expected 1 fields, got 2"));
  EXPECT_THAT(refusal([&] { draft_schema(folder.write("e.csv", ""), "a"); }),
              HasSubstr("expected rows, got none"));
  EXPECT_THAT(refusal([&] { read_names(folder.write("n.txt", "\n\n")); }),
              HasSubstr("one column name per line"));
}

}  // namespace
}  // namespace ration::testing
