// Every malformed file we could think of: one line that says file, place, value and rule, and nothing worse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "data/images.h"
#include "support/binary_files.h"
#include "support/data_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_one_line(const std::string& said, const std::string& path, const std::string& message) {
  EXPECT_THAT(said, StartsWith(path));
  EXPECT_THAT(said, HasSubstr(message));
  EXPECT_LT(said.size(), path.size() + 400) << "too long for one line";
  for (const char c : said) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << said;
}

struct BadFile {
  std::string name;
  std::string content;
  std::string message;  // after the path
};
void PrintTo(const BadFile& bad, std::ostream* out) {
  *out << bad.name;
}

class Malformed : public ::testing::TestWithParam<BadFile> {
 protected:
  void expect_refused(const std::string& name, const Schema& schema) const {
    const TemporaryFolder folder;
    const std::string path = folder.write(name, GetParam().content);
    expect_one_line(refusal([&] { read_table(path, schema); }), path, GetParam().message);
  }
};
const auto kName = [](const auto& test) { return test.param.name; };

const std::string kHeader = "age,work,note,rich\n";
const std::string kGood = kHeader + "30,shop,x,no\n";

class MalformedCsv : public Malformed {};
TEST_P(MalformedCsv, IsRefusedInOneLine) {
  expect_refused("t.csv", small_schema());
}

std::string corrupt_gzip() {
  std::string bytes = gzipped(kGood + kGood + kGood);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  return bytes;
}
std::string wrong_gzip_checksum() {
  std::string bytes = gzipped(kGood);
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] + 1);
  return bytes;
}
std::string cut(std::string bytes, std::size_t off) {
  return bytes.substr(0, bytes.size() - off);
}

const BadFile kBadCsv[] = {
    {"TooFewFields", kGood + "31,shop,no\n", ":3: expected 4 fields, got 3"},
    {"TooManyFields", kGood + "31,shop,x,no,5\n", ":3: expected 4 fields, got 5"},
    {"WrongDelimiter", kGood + "31;shop;x;no\n",
     ":3: expected 4 fields, got 1; is the delimiter the schema's?"},
    {"UnknownCategory", kGood + "31,boat,x,no\n",
     ":3: column 'work': value 'boat' is none of the 2 categories"},
    {"CategoryInOtherCase", kGood + "31,Shop,x,no\n", ":3: column 'work': value 'Shop' is none of"},
    {"EmptyCategory", kGood + "31,,x,no\n", ":3: column 'work': value '' is none of"},
    {"WrongLabel", kGood + "31,shop,x,maybe\n",
     ":3: column 'rich': value 'maybe' is none of the 2 categories of the label; add it to them or to "
     "aliases"},
    {"MissingLabel", kGood + "31,shop,x,?\n",
     ":3: column 'rich': missing value '?', but a label has to be one of 2 categories"},
    {"Nan", kGood + "nan,shop,x,no\n", ":3: column 'age': expected a finite number, got nan"},
    {"Infinity", kGood + "-inf,shop,x,no\n", ":3: column 'age': expected a finite number, got -inf"},
    {"TooLargeForADouble", kGood + "1e999,shop,x,no\n",
     ":3: column 'age': expected a finite number, got inf"},
    {"AboveTheBounds", kGood + "212,shop,x,no\n",
     ":3: column 'age': value 212 is outside the public bounds [10, 60]; clamp with out_of_bounds = "
     "\"clamp\" or widen the schema"},
    {"BelowTheBounds", kGood + "-1,shop,x,no\n", ":3: column 'age': value -1 is outside"},
    {"JustAbove", kGood + "60.000001,shop,x,no\n", ":3: column 'age': value 60.000001 is outside"},
    {"NotANumber", kGood + "old,shop,x,no\n", ":3: column 'age': expected a number, got 'old'"},
    {"NumberWithTail", kGood + "31y,shop,x,no\n", ":3: column 'age': expected a number, got '31y'"},
    {"Hexadecimal", kGood + "0x1F,shop,x,no\n", ":3: column 'age': expected a number, got '0x1F'"},
    {"DecimalComma", kGood + "\"31,5\",shop,x,no\n", ":3: column 'age': expected a number, got '31,5'"},
    {"TwoSigns", kGood + "+-31,shop,x,no\n", ":3: column 'age': expected a number, got '+-31'"},
    {"EmptyNumber", kGood + ",shop,x,no\n",
     ":3: column 'age': expected a number, got ''; name it in missing"},
    {"Empty", "", ": expected rows, got none"},
    {"OnlyHeader", kHeader, ": expected rows, got none"},
    {"OnlyBlankLines", "\n\n\n", ": expected rows, got none"},
    {"BlankLineWithin", kGood + "\n\n31,shop,x,no\n", ":3: blank line between records"},
    {"HeaderWithoutColumn", "age,work,rich\n30,shop,no\n", ":1: column 'note': missing from the header"},
    {"HeaderWithUnknownColumn", "age,work,note,rich,zip\n",
     ":1: column 'zip': in the header but not in the schema"},
    {"HeaderTwice", "age,work,note,rich,age\n", ":1: column 'age': twice in the header"},
    {"NoHeader", "30,shop,x,no\n",
     ":1: expected the schema's column names in the first line, got none of them in 4 fields, '30' first; if "
     "it is a row, set header = false"},
    {"OtherDelimiter", "age;work;note;rich\n30;shop;x;no\n",
     "got none of them in 1 fields, 'age;work;note;rich' first"},
    {"OtherDelimiterAfterQuote", "\"age\";\"work\"\n",
     ":1: field 1: text ';\"work\"' after the closing quote; set delimiter in the schema"},
    {"UnknownThatMarksMissing", kGood + "31,N/A,x,no\n",
     "set unknown_category = \"other\"; name it in missing = [...] if it marks a missing value"},
    {"UnterminatedQuote", kGood + "31,\"shop,x,no\n32,shop,x,no\n", ":3: field 2: the quote is never closed"},
    {"QuoteWithin", kGood + "31,sh\"op,x,no\n", ":3: field 2: quote within the unquoted value 'sh\"op'"},
    {"TextAfterQuote", kGood + "31,\"shop\"x,y,no\n", ":3: field 2: text 'x,y,no' after the closing quote"},
    {"NulByte", kGood + std::string("31,sh\0p,x,no\n", 13), ":3: NUL byte at byte 6 of the line"},
    {"Latin1", kGood + "31,shop,caf\xE9,no\n", ":3: expected UTF-8, got '31,shop,caf\\xE9,no'"},
    {"OverlongUtf8", kGood + "31,shop,\xC0\xAF,no\n", ":3: expected UTF-8"},
    {"SurrogateInUtf8", kGood + "31,shop,\xED\xA0\x80,no\n", ":3: expected UTF-8"},
    {"CutUtf8", kGood + "31,shop,\xE2\x82\n", ":3: expected UTF-8"},
    {"Utf16LittleEndian",
     std::string("\xFF\xFE"
                 "a\0g\0e\0\n\0",
                 10),
     ":1: expected UTF-8, got UTF-16"},
    {"Utf16BigEndian", std::string("\xFE\xFF\0a\0g\0e", 8), ":1: expected UTF-8, got UTF-16"},
    {"Utf16WithoutMark", std::string("a\0g\0e\0\n\0", 8), ":1: NUL byte at byte 2"},
    {"OldMacLineEnds", "age,work,note,rich\r30,shop,x,no\r", ":1: carriage return within a line"},
    {"HugeField", kGood + "31,shop," + std::string(10'000'000, 'x') + ",no\n",
     ":3: record longer than 4 MiB"},
    {"HugeQuotedField", kGood + "31,shop,\"" + std::string(10'000'000, '\n') + "\",no\n",
     ":3: record longer than 4 MiB"},
    {"LongButAllowedValue", kGood + std::string(100'000, '7') + ",shop,x,no\n",
     ":3: column 'age': expected a finite number"},
    {"LongUnknownCategory", kGood + "31," + std::string(100'000, 'b') + ",x,no\n",
     "...' (100000 bytes) is none of"},
    {"ControlCharacters", kGood + "31,\x1B[31mred,x,no\n",
     ":3: column 'work': value '\\x1B[31mred' is none of"},
    {"LineEndInTheValue", kGood + "31,\"a\nb\",x,no\n", ":3: column 'work': value 'a\\x0Ab' is none of"},
    {"LineNumbersAfterQuotedLines", kGood + "31,shop,\"a\nb\nc\",no\n99,shop,x,no\n",
     ":6: column 'age': value 99"},
    {"TruncatedGzip", cut(gzipped(kGood), 12), ": the gzip stream is truncated"},
    {"TruncatedGzipTrailer", cut(gzipped(kGood), 3), ": the gzip stream is truncated"},
    {"CorruptGzip", corrupt_gzip(), ": the gzip stream is corrupt"},
    {"GzipChecksum", wrong_gzip_checksum(), ": the gzip stream is corrupt (incorrect data check)"},
    {"BadRowInGzip", gzipped(kGood + "31,boat,x,no\n"), ":3: column 'work': value 'boat'"},
    {"NoTextAtAll",
     std::string("\x7F"
                 "ELF\x02\x01\x01\0\0\0",
                 10),
     ":1: NUL byte"},
};
INSTANTIATE_TEST_SUITE_P(Data, MalformedCsv, ::testing::ValuesIn(kBadCsv), kName);

const std::string kLibsvm = R"(
format = "libsvm"
label = "y"
features = { count = 123, low = 0, high = 1 }
columns = [{ name = "y", type = "category", categories = [-1, 1] }]
)";

class MalformedLibsvm : public Malformed {};
TEST_P(MalformedLibsvm, IsRefusedInOneLine) {
  expect_refused("t.svm", parse_schema(kLibsvm));
}

const BadFile kBadLibsvm[] = {
    {"IndexZero", "1 1:1\n1 0:1\n", ":2: expected 1 <= index <= 123, got '0'"},
    {"IndexNegative", "1 -3:1\n", ":1: expected 1 <= index <= 123, got '-3'"},
    {"IndexTooLarge", "1 124:1\n", ":1: expected 1 <= index <= 123, got '124'"},
    {"IndexHuge", "1 99999999999999999999:1\n", ":1: expected 1 <= index <= 123"},
    {"IndexFractional", "1 1.5:1\n", ":1: expected 1 <= index <= 123, got '1.5'"},
    {"IndexText", "1 age:1\n", ":1: expected 1 <= index <= 123, got 'age'"},
    {"IndexNan", "1 nan:1\n", ":1: expected 1 <= index <= 123, got 'nan'"},
    {"IndexAbsent", "1 :1\n", ":1: expected 1 <= index <= 123, got ''"},
    {"Descending", "1 5:1 3:1\n", ":1: expected increasing indices, got 3 after 5"},
    {"Twice", "1 5:1 5:1\n", ":1: expected increasing indices, got 5 after 5"},
    {"NoColon", "1 5\n", ":1: expected index:value, got '5'"},
    {"ValueText", "1 5:x\n", ":1: column '5': expected a finite number, got 'x'"},
    {"ValueAbsent", "1 5:\n", ":1: column '5': expected a finite number, got ''"},
    {"ValueNan", "1 5:nan\n", ":1: column '5': expected a finite number, got 'nan'"},
    {"ValueOutside", "1 5:2\n", ":1: column '5': value 2 is outside the public bounds [0, 1]"},
    {"TwoColons", "1 5:1:1\n", ":1: column '5': expected a finite number, got '1:1'"},
    {"WrongLabel", "1 5:1\n3 5:1\n", ":2: column 'y': value '3' is none of the 2 categories"},
    {"TextLabel", "yes 5:1\n", ":1: column 'y': expected a numeric label, got 'yes'"},
    {"SeveralLabels", "1,2 5:1\n", ":1: column 'y': expected a numeric label, got '1,2'"},
    {"NoLabel", "5:1 6:1\n", ":1: column 'y': expected a numeric label, got '5:1'"},
    {"Empty", "", ": expected rows, got none"},
    {"NulByte", std::string("1 5:1\n1 \0:1\n", 12), ":2: NUL byte at byte 3"},
    {"TruncatedGzip", cut(gzipped("1 5:1\n1 6:1\n"), 5), ": the gzip stream is truncated"},
};
INSTANTIATE_TEST_SUITE_P(Data, MalformedLibsvm, ::testing::ValuesIn(kBadLibsvm), kName);

const std::string kNumbers = R"(
label = "y"
columns = [{ name = "a", type = "number", low = 0, high = 10 },
           { name = "y", type = "category", categories = [0, 1] }]
)";

class MalformedNpy : public Malformed {};
TEST_P(MalformedNpy, IsRefusedInOneLine) {
  expect_refused("t.npy", parse_schema(kNumbers));
}

const std::string kTwoRows = bytes_of<double>({1, 0, 2, 1});
const BadFile kBadNpy[] = {
    {"Empty", "", ": expected a .npy file"},
    {"BadMagic", "NUMPY" + npy(npy_header("<f8", "(2, 2)"), kTwoRows),
     ": expected a .npy file, which begins with \\x93NUMPY"},
    {"BadVersion", std::string("\x93NUMPY\x09\0\0\0", 10) + kTwoRows,
     ": expected .npy version 1, 2 or 3, got 9"},
    {"HeaderLongerThanFile", std::string("\x93NUMPY\x01\0\xFF\xFF", 10),
     ": the .npy header says 65535 bytes"},
    {"NoDescr", npy("{'shape': (2, 2), }", kTwoRows), ": the .npy header has no key 'descr'"},
    {"NoShape", npy("{'descr': '<f8', 'fortran_order': False, }", kTwoRows),
     ": the .npy header has no key 'shape'"},
    {"OpenShape", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2", kTwoRows),
     ": the .npy header ends within 'shape'"},
    {"NegativeShape", npy(npy_header("<f8", "(-2, 2)"), kTwoRows),
     ": expected a shape of whole numbers, got '(-2, 2'"},
    {"ShapeLies", npy(npy_header("<f8", "(3, 2)"), kTwoRows),
     ": the .npy header says 3 x 2 elements of 8 bytes, but 32 bytes follow"},
    {"ShapeOverflows", npy(npy_header("<f8", "(4611686018427387904, 4)"), kTwoRows),
     ": the .npy header says 4611686018427387904 x 4"},
    {"ShapeTooLong", npy(npy_header("<f8", "(99999999999999999999999, 2)"), kTwoRows),
     ": expected a shape of whole numbers"},
    {"NoDimension", npy(npy_header("<f8", "()"), kTwoRows), ": expected one or two dimensions, got 0"},
    {"ThreeDimensions", npy(npy_header("<f8", "(1, 2, 2)"), kTwoRows),
     ": expected one or two dimensions, got 3"},
    {"ObjectType", npy(npy_header("|O", "(2, 2)"), kTwoRows), "got dtype '|O'"},
    {"BigEndian", npy(npy_header(">f8", "(2, 2)"), kTwoRows), "got dtype '>f8'"},
    {"StructuredType", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (4,), }", kTwoRows),
     "got dtype '[('a''"},
    {"FortranOrder", npy(npy_header("<f8", "(2, 2)", "True"), kTwoRows),
     ": expected C order, got Fortran order"},
    {"TooManyColumns", npy(npy_header("<f8", "(1, 4)"), kTwoRows), ": expected 2 columns, got 4"},
    {"NoRows", npy(npy_header("<f8", "(0, 2)"), ""), ": expected rows, got none"},
    {"Nan", npy(npy_header("<f8", "(2, 2)"), bytes_of<double>({1, 0, NAN, 1})),
     ": row 2: column 'a': expected a finite number, got nan"},
    {"OutOfBounds", npy(npy_header("<f8", "(2, 2)"), bytes_of<double>({1, 0, 11, 1})),
     ": row 2: column 'a': value 11 is outside"},
    {"WrongLabel", npy(npy_header("<f8", "(2, 2)"), bytes_of<double>({1, 0, 1, 2})),
     ": row 2: column 'y': value '2' is none of the 2"},
};
INSTANTIATE_TEST_SUITE_P(Data, MalformedNpy, ::testing::ValuesIn(kBadNpy), kName);

class MalformedNpz : public Malformed {};
TEST_P(MalformedNpz, IsRefusedInOneLine) {
  expect_refused("t.npz", parse_schema(kNumbers));
}

const std::string kX = npy(npy_header("<f8", "(2, 1)"), bytes_of<double>({1, 2}));
const std::string kY = npy(npy_header("<i8", "(2,)"), bytes_of<std::int64_t>({0, 1}));
std::string good_npz(bool deflated) {
  return zip({{"X.npy", kX, deflated}, {"y.npy", kY, deflated}});
}
std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  return bytes;
}

const BadFile kBadNpz[] = {
    {"Empty", "", ": expected a zip archive with its directory at the end"},
    {"Truncated", cut(good_npz(true), 40), ": expected a zip archive with its directory at the end"},
    {"TruncatedInTheEndRecord", cut(good_npz(true), 10), ": the zip archive is truncated or corrupt"},
    {"NoFeatures", zip({{"y.npy", kY}}), ": no array 'X.npy' in the archive; it has 'y.npy'"},
    {"NoLabels", zip({{"X.npy", kX}}), ": no array 'y.npy' in the archive"},
    {"NoArrays", zip({}), ": no array 'X.npy' in the archive; it has none"},
    {"WrongChecksum", flipped(good_npz(false), 30 + 5 + kX.size() - 1), ": the checksum of 'X.npy' is wrong"},
    {"CorruptDeflate", flipped(good_npz(true), 30 + 5 + 2), ": "},
    {"NotNpyWithin", zip({{"X.npy", "hello, world"}, {"y.npy", kY}}), ": X: expected a .npy file"},
    {"FewerLabels",
     zip({{"X.npy", kX}, {"y.npy", npy(npy_header("<i8", "(1,)"), bytes_of<std::int64_t>({0}))}}),
     ": expected as many labels as rows, got 1 labels and 2 rows"},
    {"WideLabels", zip({{"X.npy", kX}, {"y.npy", npy(npy_header("|i1", "(2, 2)"), std::string(4, '\0'))}}),
     ": expected 1 columns in y, got 2"},
};
INSTANTIATE_TEST_SUITE_P(Data, MalformedNpz, ::testing::ValuesIn(kBadNpz), kName);

struct BadImages {
  std::string name;
  std::string images;
  std::string labels;
  std::string message;
};
void PrintTo(const BadImages& bad, std::ostream* out) {
  *out << bad.name;
}
class MalformedIdx : public ::testing::TestWithParam<BadImages> {};

TEST_P(MalformedIdx, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  const auto images = folder.write("images", GetParam().images);
  const auto labels = folder.write("labels", GetParam().labels);
  expect_one_line(refusal([&] { read_idx(images, labels); }), folder.path(), GetParam().message);
}

const std::string kPixels(8, 'p');
const std::string kTwoLabels = idx_labels(2, std::string("\x01\x02", 2));
const BadImages kBadIdx[] = {
    {"Empty", "", kTwoLabels, "images: the IDX header is truncated"},
    {"HeaderCut", idx_images(2, 2, 2, "").substr(0, 13), kTwoLabels, "images: the IDX header is truncated"},
    {"Magic", idx_images(2, 2, 2, kPixels, 0x802), kTwoLabels,
     "images: byte 0: expected the IDX magic number 0x00000803, got 0x00000802"},
    {"LabelsForImages", kTwoLabels, kTwoLabels,
     "images: byte 0: expected the IDX magic number 0x00000803, got 0x00000801"},
    {"CountTooLarge", idx_images(3, 2, 2, kPixels), kTwoLabels,
     "images: the header says 3 x 2 x 2 = 12 bytes, but 8 follow"},
    {"CountTooSmall", idx_images(1, 2, 2, kPixels), kTwoLabels,
     "images: the header says 1 x 2 x 2 = 4 bytes, but more follow"},
    {"CountEnormous", idx_images(0xFFFFFFFF, 2, 2, kPixels), kTwoLabels,
     "images: the header says 4294967295 x 2 x 2"},
    {"SizeOverflows", idx_images(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, kPixels), kTwoLabels,
     "bytes: impossible"},
    {"LabelMagic", idx_images(2, 2, 2, kPixels), idx_labels(2, "ab", 0x803),
     "labels: byte 0: expected the IDX magic number 0x00000801"},
    {"LabelCountLies", idx_images(2, 2, 2, kPixels), idx_labels(5, std::string("\x01\x02", 2)),
     "labels: the header says 5 labels = 5 bytes, but 2 follow"},
    {"FewerLabels", idx_images(2, 2, 2, kPixels), idx_labels(1, "\x01"),
     "labels: expected 2 labels, one per image, got 1"},
    {"LabelTen", idx_images(2, 2, 2, kPixels), idx_labels(2, std::string("\x01\x0A", 2)),
     "labels: record 2: expected a label < 10, got 10"},
    {"TruncatedGzip", cut(gzipped(idx_images(2, 2, 2, kPixels)), 9), kTwoLabels,
     "images: the gzip stream is truncated"},
};
INSTANTIATE_TEST_SUITE_P(Data, MalformedIdx, ::testing::ValuesIn(kBadIdx), kName);

class MalformedCifar : public ::testing::TestWithParam<BadFile> {};
TEST_P(MalformedCifar, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  const auto path = folder.write("batch.bin", GetParam().content);
  expect_one_line(refusal([&] { read_cifar10({path}); }), path, GetParam().message);
}
const std::string kImage = '\x03' + std::string(3072, 'a');
const BadFile kBadCifar[] = {
    {"Empty", "", ": expected records, got an empty file"},
    {"CutRecord", kImage + kImage.substr(0, 100), ": record 2: expected 3073 bytes, got 100"},
    {"LabelTen", kImage + '\x0A' + std::string(3072, 'a'), ": record 2: expected a label < 10, got 10"},
    {"TruncatedGzip", cut(gzipped(kImage), 8), ": the gzip stream is truncated"},
};
INSTANTIATE_TEST_SUITE_P(Data, MalformedCifar, ::testing::ValuesIn(kBadCifar), kName);

TEST(MalformedPath, FolderMissingAndUnreadable) {
  const TemporaryFolder folder;
  const Schema schema = small_schema();
  const auto said = [&](const std::string& path) { return refusal([&] { read_table(path, schema); }); };
  expect_one_line(said(folder.path()), folder.path(), ": expected a file, got a folder");
  expect_one_line(said(folder.path() + "/none.csv"), folder.path(),
                  "none.csv: cannot read: No such file or directory");
  expect_one_line(said(folder.path() + "/none.npy"), folder.path(),
                  "none.npy: cannot read: No such file or directory");
  if (::geteuid() == 0) return;  // root can read everything
  const auto path = folder.write("secret.csv", kGood);
  ::chmod(path.c_str(), 0);
  expect_one_line(said(path), path, ": cannot read: Permission denied");
}

}  // namespace
}  // namespace ration::testing
