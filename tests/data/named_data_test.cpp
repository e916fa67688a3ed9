#include "data/named_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/content_hash.h"
#include "ration/data/table.h"
#include "support/binary_files.h"
#include "support/child_process.h"
#include "support/data_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NamedData named(DataKind kind, const std::string& path, bool test = false) {
  return {.kind = kind, .path = path, .test = test};
}

// Two images of 28 x 28, the second all white, to train on, and one to test.
class MnistFolder {
 public:
  MnistFolder() {
    const std::string black(784, '\x00');
    const std::string white(784, '\xFF');
    folder_.write("train-images-idx3-ubyte.gz", gzipped(idx_images(2, 28, 28, black + white)));
    folder_.write("train-labels-idx1-ubyte", idx_labels(2, std::string("\x03\x09", 2)));
    folder_.write("t10k-images-idx3-ubyte", idx_images(1, 28, 28, white));
    folder_.write("t10k-labels-idx1-ubyte", idx_labels(1, "\x01"));
  }
  const std::string& path() const { return folder_.path(); }
  void write(const std::string& name, const std::string& bytes) const { folder_.write(name, bytes); }

 private:
  TemporaryFolder folder_;
};

TEST(NamedData, NamesAreTakenApart) {
  EXPECT_EQ(parse_data_name("rows.csv"), named(DataKind::file, "rows.csv"));
  EXPECT_EQ(parse_data_name("./fashion-mnist"), named(DataKind::file, "./fashion-mnist"));
  EXPECT_EQ(parse_data_name("mnist:a/b"), named(DataKind::mnist, "a/b"));
  EXPECT_EQ(parse_data_name("mnist:a/b:test"), named(DataKind::mnist, "a/b", true));
  EXPECT_EQ(parse_data_name("fashion-mnist"), named(DataKind::fashion_mnist, ""));
  EXPECT_EQ(parse_data_name("fashion-mnist:test"), named(DataKind::fashion_mnist, "", true));
  EXPECT_EQ(parse_data_name("fashion-mnist:d:test"), named(DataKind::fashion_mnist, "d", true));
  EXPECT_EQ(parse_data_name("cifar10:c"), named(DataKind::cifar10, "c"));
  EXPECT_EQ(parse_data_name("text:a.tsv"), named(DataKind::text, "a.tsv"));
  EXPECT_EQ(parse_data_name("text:a:test"), named(DataKind::text, "a:test"));
  EXPECT_THAT(refusal([] { parse_data_name("mnist:"); }), HasSubstr("expected mnist:PATH"));
}

TEST(NamedData, NamesAreWrittenBack) {
  for (const std::string name : {"rows.csv", "mnist:a", "mnist:a:test", "fashion-mnist", "fashion-mnist:test",
                                 "fashion-mnist:d", "cifar10:c:test", "text:t.tsv"}) {
    EXPECT_EQ(to_string(parse_data_name(name)), name);
  }
}

TEST(NamedData, AbsolutePathsStayWithTheirNames) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(with_absolute_path("mnist:a:test"), "mnist:" + here + "/a:test");
  EXPECT_EQ(with_absolute_path("fashion-mnist"), "fashion-mnist");
  EXPECT_EQ(with_absolute_path("t.csv"), here + "/t.csv");
}

TEST(NamedData, HasANameWithoutItsFolder) {
  EXPECT_EQ(name_without_folder("/home/me/rows.csv"), "rows.csv");
  EXPECT_EQ(name_without_folder("rows.csv"), "rows.csv");
  EXPECT_EQ(name_without_folder("mnist:/data/digits/:test"), "mnist:digits:test");
  EXPECT_EQ(name_without_folder("text:a/b.tsv"), "text:b.tsv");
  EXPECT_EQ(name_without_folder("fashion-mnist"), "fashion-mnist");
  EXPECT_EQ(name_without_folder("/data/fashion-mnist"), "./fashion-mnist");
  EXPECT_EQ(name_without_folder("/data/text:x"), "./text:x");
  EXPECT_EQ(name_without_folder(""), "");
}

TEST(NamedData, MnistIsReadByItsOwnSchema) {
  const MnistFolder folder;
  const std::string name = "mnist:" + folder.path();
  const Schema schema = *schema_of_data(name);
  const Table table = read_table(name, schema);
  EXPECT_EQ(table.rows.count(), 2u);
  EXPECT_EQ(table.rows.columns(), 785u);
  EXPECT_EQ(table.column_names, encoded_column_names(schema));
  EXPECT_EQ(table.rows.dense_row(0)[5], 0);
  EXPECT_EQ(table.rows.dense_row(1)[5], 1);
  EXPECT_EQ(table.rows.dense_row(0)[784], 1);
  EXPECT_THAT(std::vector<double>(table.rows.labels().begin(), table.rows.labels().end()), ElementsAre(3, 9));
  EXPECT_EQ(read_table(name + ":test", schema).rows.count(), 1u);
  EXPECT_EQ(public_rows(name), 60000);
  EXPECT_EQ(public_rows(name + ":test"), 10000);
}

TEST(NamedData, TheHashIsThatOfAllFiles) {
  const MnistFolder folder;
  const std::string name = "mnist:" + folder.path();
  const std::string before = content_hash(files_of(name));
  folder.write("train-labels-idx1-ubyte", idx_labels(2, std::string("\x03\x08", 2)));
  EXPECT_NE(content_hash(files_of(name)), before);
  EXPECT_EQ(files_of("one.csv"), std::vector<std::string>{"one.csv"});
}

TEST(NamedData, CifarTakesEveryBatch) {
  const TemporaryFolder folder;
  const auto record = [](char label) { return label + std::string(3072, '\xFF'); };
  folder.write("data_batch_2.bin", record('\x05'));
  folder.write("data_batch_1.bin.gz", gzipped(record('\x02')));
  folder.write("test_batch_part.bin", record('\x00'));
  folder.write("batches.meta.txt", "airplane\n");
  const std::string name = "cifar10:" + folder.path();
  const Table table = read_table(name, *schema_of_data(name));
  EXPECT_THAT(std::vector<double>(table.rows.labels().begin(), table.rows.labels().end()), ElementsAre(2, 5));
  EXPECT_EQ(table.classes[5], "dog");
  EXPECT_EQ(public_rows(name), 20000);
  EXPECT_EQ(public_rows(name + ":test"), std::nullopt);
  EXPECT_EQ(read_table(name + ":test", *schema_of_data(name)).rows.count(), 1u);
}

TEST(NamedData, WhatIsMissingIsNamedWithWhatWasExpected) {
  const TemporaryFolder empty;
  const std::string absent = empty.path() + "/absent";
  EXPECT_THAT(refusal([&] { files_of("mnist:" + absent); }),
              AllOf(HasSubstr(absent), HasSubstr("train-images-idx3-ubyte")));
  EXPECT_THAT(refusal([&] { files_of("mnist:" + empty.path()); }),
              HasSubstr("/train-images-idx3-ubyte: no such file"));
  EXPECT_THAT(refusal([&] { files_of("mnist:" + empty.path() + ":test"); }), HasSubstr("/t10k-images"));
  EXPECT_THAT(refusal([&] { files_of("fashion-mnist:" + absent); }), HasSubstr("dataset-fashion-mnist"));
  EXPECT_THAT(refusal([&] { files_of("cifar10:" + empty.path()); }),
              AllOf(HasSubstr(empty.path()), HasSubstr("data_batch_*.bin")));
  EXPECT_THAT(refusal([&] { files_of("text:" + absent); }),
              AllOf(HasSubstr(absent), HasSubstr("no such file")));
}

TEST(NamedData, ASchemaOfOtherDataIsRefused) {
  const MnistFolder folder;
  const std::string name = "mnist:" + folder.path();
  EXPECT_THAT(refusal([&] { read_table(name, *schema_of_data("cifar10:x")); }),
              AllOf(HasSubstr("expected images of 3 x 32 x 32"), HasSubstr("got 1 x 28 x 28")));
  EXPECT_THAT(refusal([&] { read_table("a.csv", *schema_of_data(name)); }), HasSubstr("expected mnist:DIR"));
  EXPECT_THAT(refusal([&] { read_table(name, *schema_of_data("text:x")); }), HasSubstr("expected text:FILE"));
  EXPECT_THAT(refusal([&] { read_table(name, small_schema()); }), HasSubstr("small.toml describes a table"));
}

TEST(NamedData, SchemasOfImagesSurviveToml) {
  for (const std::string name : {"mnist:x", "fashion-mnist", "cifar10:x", "text:x"}) {
    const Schema schema = *schema_of_data(name);
    const Schema read = parse_schema(to_toml(schema));
    EXPECT_EQ(to_toml(read), to_toml(schema)) << name;
    EXPECT_EQ(read.image, schema.image);
    EXPECT_EQ(read.text, schema.text);
    EXPECT_EQ(read.header, schema.header);
    EXPECT_EQ(encoded_column_names(read), encoded_column_names(schema));
  }
}

}  // namespace
}  // namespace ration::testing
