#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/named_data.h"
#include "data/tokens.h"
#include "ration/data/table.h"
#include "support/child_process.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Schema schema_with(const std::string& text, const std::string& more = "header = false\n") {
  return parse_schema(
      "format = \"text\"\nlabel = \"kind\"\n" + more + "text = { " + text +
      " }\ncolumns = [ { name = \"kind\", type = \"category\", categories = [\"ham\", \"spam\"] } ]\n");
}

// Published test vectors of FNV-1a.
TEST(Tokens, TheHashIsFnv1a) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(Tokens, WordsAreHashedWithoutCapitals) {
  const TextShape shape{.vocabulary = 1000};
  const auto id = [](const char* word) { return static_cast<std::uint32_t>(1 + fnv1a(word) % 999); };
  EXPECT_THAT(token_ids("It's 10 Über-cool, IT", shape),
              ElementsAre(id("it"), id("s"), id("10"), id("Über"), id("cool"), id("it")));
  EXPECT_TRUE(token_ids(" .,! ", shape).empty());
}

TEST(Tokens, EveryIdIsBelowTheVocabulary) {
  const TextShape shape{.vocabulary = 2};
  EXPECT_THAT(token_ids("any word is one", shape), ElementsAre(1, 1, 1, 1));
  const TextShape bytes{.tokens = Tokens::bytes, .vocabulary = TextShape::kByteVocabulary};
  EXPECT_THAT(token_ids("a\xFF", bytes), ElementsAre('a' + 1, 256));
}

TEST(Texts, ABagHasNormOneAndABias) {
  const Table table =
      read_text("spam\tone two TWO three\nham\t...\n", schema_with("label_first = true, vocabulary = 5000"));
  EXPECT_EQ(table.rows.columns(), 5000u);
  EXPECT_FALSE(table.rows.is_dense());
  EXPECT_NEAR(table.rows.norms()[0], std::sqrt(2.0), 1e-12);
  EXPECT_EQ(table.rows.sparse_row(0).values.size(), 4u);
  EXPECT_DOUBLE_EQ(table.rows.sparse_row(0).values[0], 1 / std::sqrt(3.0));
  EXPECT_EQ(table.rows.norms()[1], 1);
  EXPECT_EQ(table.rows.labels()[0], 1);
  EXPECT_EQ(table.rows.labels()[1], 0);
}

TEST(Texts, IdsAreCutOrPadded) {
  const Schema schema = schema_with("tokens = \"bytes\", features = \"ids\", length = 3");
  const Table table = read_text("abcd\tham\nx\tspam\n", schema);
  EXPECT_TRUE(table.rows.is_dense());
  const auto row = [&](std::size_t i) {
    return std::vector<double>(table.rows.dense_row(i).begin(), table.rows.dense_row(i).end());
  };
  EXPECT_THAT(row(0), ElementsAre('a' + 1, 'b' + 1, 'c' + 1, 1));
  EXPECT_THAT(row(1), ElementsAre('x' + 1, 0, 0, 1));
  EXPECT_EQ(table.column_names, encoded_column_names(schema));
}

TEST(Texts, AHeaderIsSkippedAndQuotesMeanNothing) {
  const Table table = read_text("text\tkind\nsay \"hi\tham\n", schema_with("", ""));
  EXPECT_EQ(table.rows.count(), 1u);
}

TEST(Texts, WhatIsNotTwoFieldsIsRefused) {
  EXPECT_THAT(refusal([] { read_text("a\tham\nb c\n", schema_with("")); }),
              AllOf(HasSubstr(":2: "), HasSubstr("expected two fields with a tab between, got 1")));
  EXPECT_THAT(refusal([] { read_text("a\tb\tham\n", schema_with("")); }), HasSubstr("got 3"));
  EXPECT_THAT(refusal([] { read_text("a\teggs\n", schema_with("")); }),
              AllOf(HasSubstr(":1: "), HasSubstr("'kind'"), HasSubstr("'eggs'")));
}

TEST(Texts, WithoutLabelsALineMayBeTheTextAlone) {
  const TemporaryFolder folder;
  const std::string file = folder.write("t.tsv", "only a text\nanother\tspam\n");
  const Table table = read_table("text:" + file, *schema_of_data("text:" + file), {.labels = false});
  EXPECT_EQ(table.rows.count(), 2u);
  EXPECT_TRUE(std::isnan(table.rows.labels()[1]));
  EXPECT_EQ(table.rows.sparse_row(1).values.size(), 2u);
}

TEST(Texts, FaultsOfASchemaAreNamed) {
  EXPECT_THAT(refusal([] { schema_with("vocabulary = 1"); }), HasSubstr("expected 2 <= vocabulary"));
  EXPECT_THAT(refusal([] { schema_with("length = 0"); }), HasSubstr("expected 1 <= length"));
  EXPECT_THAT(refusal([] { schema_with("tokens = \"bytes\", vocabulary = 300"); }),
              HasSubstr("vocabulary of 257"));
  EXPECT_THAT(refusal([] { schema_with("tokens = \"syllables\""); }), HasSubstr("\"words\", \"bytes\""));
  EXPECT_THAT(refusal([] { schema_with("label_frist = true"); }),
              HasSubstr("text: unknown key 'label_frist'"));
  Schema without = *schema_of_data("text:x");
  without.text.reset();
  EXPECT_THAT(refusal([&] { require_sound(without); }), HasSubstr("[text] go together"));
  Schema number = *schema_of_data("fashion-mnist");
  number.columns[0].type = ColumnType::number;
  EXPECT_THAT(refusal([&] { require_sound(number); }), HasSubstr("label is a class"));
}

}  // namespace
}  // namespace ration::testing
