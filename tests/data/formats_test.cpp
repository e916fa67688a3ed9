// LIBSVM, NumPy, IDX, CIFAR and the content hash on small files made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/content_hash.h"
#include "data/images.h"
#include "data/named_data.h"
#include "support/binary_files.h"
#include "support/data_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kLibsvmSchema = R"(
format = "libsvm"
label = "y"
features = { count = 4, low = -2, high = 2 }
columns = [{ name = "y", type = "category", categories = [-1, 1] }]
)";

const std::string kNumberSchema = R"(
label = "y"
columns = [
  { name = "a", type = "number", low = 0, high = 10 },
  { name = "b", type = "category", categories = [1, 2, 3] },
  { name = "y", type = "category", categories = [0, 1] },
]
)";

std::vector<double> labels_of(const Table& table) {
  return {table.rows.labels().begin(), table.rows.labels().end()};
}

TEST(Libsvm, ReadsEntriesLabelsAndEmptyRows) {
  const Table table = read_text("+1 1:2 3:-1 \n-1\n1.0 4:0\n", parse_schema(kLibsvmSchema));
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(1, 0, -0.5, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(plain_row(table.rows, 2), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(labels_of(table), ElementsAre(1, 0, 1));
  EXPECT_THAT(table.column_names, ElementsAre("feature 1", "feature 2", "feature 3", "feature 4", "(bias)"));
}

TEST(Libsvm, ReadsGzip) {
  EXPECT_EQ(read_text(gzipped("1 1:1\r\n-1 2:2\r\n\r\n"), parse_schema(kLibsvmSchema)).rows.count(), 2u);
}

TEST(Libsvm, ClampsIfAsked) {
  const Table table = read_text("1 1:7 2:-9\n", parse_schema("out_of_bounds = \"clamp\"\n" + kLibsvmSchema));
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(1, -1, 0, 0, 1));
}

template <typename Number>
void expect_npy(const std::string& type) {
  const std::string file = npy(npy_header(type, "(2, 3)"), bytes_of<Number>({5, 2, 1, 10, 3, 0}));
  const Table table = read_text(file, parse_schema(kNumberSchema), "t.npy");
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0.5, 0, 1, 0, 1)) << type;
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(1, 0, 0, 1, 1)) << type;
  EXPECT_THAT(labels_of(table), ElementsAre(1, 0)) << type;
}

TEST(Numpy, ReadsEveryElementType) {
  expect_npy<double>("<f8");
  expect_npy<float>("<f4");
  expect_npy<std::int64_t>("<i8");
  expect_npy<std::int32_t>("<i4");
  expect_npy<std::int16_t>("<i2");
  expect_npy<std::int8_t>("|i1");
  expect_npy<std::uint64_t>("<u8");
  expect_npy<std::uint32_t>("<u4");
  expect_npy<std::uint16_t>("<u2");
  expect_npy<std::uint8_t>("|u1");
}

TEST(Numpy, ReadsVersionTwoHeaders) {
  const std::string header = npy_header("<f8", "(1, 3)");
  const std::string file = std::string("\x93NUMPY\x02\0", 8) +
                           little_endian(static_cast<std::uint32_t>(header.size())) + header +
                           bytes_of<double>({1, 1, 1});
  EXPECT_EQ(read_text(file, parse_schema(kNumberSchema), "t.npy").rows.count(), 1u);
}

TEST(Numpy, ReadsStoredAndDeflatedArchives) {
  for (const bool deflated : {false, true}) {
    const std::string archive =
        zip({{"X.npy", npy(npy_header("<f8", "(2, 2)"), bytes_of<double>({5, 2, 10, 3})), deflated},
             {"y.npy", npy(npy_header("<i8", "(2,)"), bytes_of<std::int64_t>({1, 0})), deflated}});
    const Table table = read_text(archive, parse_schema(kNumberSchema), "t.npz");
    EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0.5, 0, 1, 0, 1));
    EXPECT_THAT(labels_of(table), ElementsAre(1, 0));
  }
}

TEST(Idx, ReadsImagesAndLabels) {
  const TemporaryFolder folder;
  const auto images =
      folder.write("images.gz", gzipped(idx_images(2, 1, 3, std::string("\x00\x01\x02\xFF\x04\x05", 6))));
  const auto labels = folder.write("labels", idx_labels(2, std::string("\x07\x00", 2)));
  const Images read = read_idx(images, labels);
  EXPECT_EQ(read.count(), 2u);
  EXPECT_THAT(read.pixels, ElementsAre(0, 1, 2, 255, 4, 5));
  EXPECT_THAT(read.labels, ElementsAre(7, 0));
  Schema schema = *schema_of_data("fashion-mnist");
  schema.image = ImageShape{.channels = 1, .height = 1, .width = 3};
  const Table table = image_table(read, schema);
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(1, 4 / 255.0, 5 / 255.0, 1));
}

TEST(Cifar, ReadsSeveralFiles) {
  const TemporaryFolder folder;
  const auto one = folder.write("1.bin", '\x03' + std::string(3072, 'a'));
  const auto two =
      folder.write("2.bin", gzipped('\x09' + std::string(3072, 'b') + '\x00' + std::string(3072, 'c')));
  const Images images = read_cifar10({one, two});
  EXPECT_THAT(images.labels, ElementsAre(3, 9, 0));
  EXPECT_EQ(images.pixels[3072], 'b');
}

// Published test vectors of SHA-256.
TEST(ContentHash, IsSha256) {
  const TemporaryFolder folder;
  EXPECT_EQ(content_hash(folder.write("a", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_hash(folder.write("e", "")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string large(3'000'000, 'a');
  EXPECT_NE(content_hash(folder.write("l", large)), content_hash(folder.write("m", large + "a")));
  EXPECT_THAT(refusal([&] { content_hash(folder.path() + "/none"); }),
              HasSubstr("none: cannot read: No such file"));
}

TEST(ContentHash, OfSeveralFilesKnowsTheirOrder) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", "abc");
  const std::string b = folder.write("b", "abd");
  EXPECT_NE(content_hash(std::vector{a, b}), content_hash(std::vector{b, a}));
  EXPECT_EQ(content_hash(std::vector{a}), content_hash(a));
}

}  // namespace
}  // namespace ration::testing
