// Random damage to valid files: a reader reads what it gets or throws InputError; anything else is our bug.
#include <gtest/gtest.h>

#include <random>

#include "data/images.h"
#include "data/schema_draft.h"
#include "ration/data/bad_rows.h"
#include "support/binary_files.h"
#include "support/data_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : engine_(seed) {}

  std::string apply(std::string bytes) {
    for (std::size_t left = 1 + below(4); left > 0; --left) damage_once(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  // Bytes that mean something to some reader come more often.
  char some_byte() {
    static const std::string kSpecial("\"\",;\t \n\r\0\xFF\xFE\x80:+-.0189eEnN?", 26);
    return below(2) == 0 ? kSpecial[below(kSpecial.size())] : static_cast<char>(below(256));
  }
  void damage_once(std::string& bytes) {
    if (bytes.empty()) {
      bytes += some_byte();
      return;
    }
    const std::size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = some_byte();
        break;
      case 1:
        bytes.insert(at, 1, some_byte());
        break;
      case 2:
        bytes.erase(at, 1 + below(8));
        break;
      case 3:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(20)));
    }
  }

  std::mt19937_64 engine_;
};

// Runs `read` on many damaged copies; returns how many were still readable.
template <typename Read>
int survive(const std::string& name, const std::string& valid, Read read) {
  constexpr int kCopies = 1500;
  const TemporaryFolder folder;
  Damage damage(20240601);
  int readable = 0;
  for (int i = 0; i < kCopies; ++i) {
    const std::string path = folder.write(name, i == 0 ? valid : damage.apply(valid));
    try {
      read(path);
      ++readable;
    } catch (const InputError& error) {
      // One line, or one for each bad row.
      const std::string_view text = error.what();
      EXPECT_NE(text, "");
      EXPECT_FALSE(text.ends_with('\n')) << text;
      if (dynamic_cast<const BadRows*>(&error) == nullptr) EXPECT_EQ(text.find('\n'), text.npos) << text;
      EXPECT_EQ(text.find("\n\n"), text.npos) << text;
    }
  }
  EXPECT_GT(readable, 0) << "the undamaged file must be readable";
  EXPECT_LT(readable, kCopies) << "some damage must be seen";
  return readable;
}

const std::string kCsv =
    "age,work,note,rich\r\n30,shop,\"a \"\"b\"\"\nc\",no\r\n?,field,x,yes\n41.5,NA,,no\n";

TEST(Fuzz, Csv) {
  const Schema schema = small_schema();
  survive("t.csv", kCsv, [&](const std::string& path) { read_table(path, schema); });
}

TEST(Fuzz, GzippedCsv) {
  const Schema schema = small_schema();
  survive("t.csv.gz", gzipped(kCsv), [&](const std::string& path) { read_table(path, schema); });
}

TEST(Fuzz, BlankSeparated) {
  const Schema schema = small_schema("header = false\ndelimiter = \" \"\n");
  survive("t.dat", "30 shop \"a b\" no\n 31\tfield x  yes \n",
          [&](const std::string& path) { read_table(path, schema); });
}

TEST(Fuzz, Libsvm) {
  const Schema schema = parse_schema(
      "format=\"libsvm\"\nlabel=\"y\"\nfeatures={count=9,low=0,high=9}\ncolumns=[{name=\"y\",type="
      "\"category\",categories="
      "[-1,1]}]");
  survive("t.svm", "+1 1:1 3:2.5 9:1\n-1 2:1\n-1\n+1 8:9e0\n",
          [&](const std::string& path) { read_table(path, schema); });
}

const std::string kNumbers =
    "label=\"y\"\ncolumns=[{name=\"a\",type=\"number\",low=0,high=10},{name=\"y\",type=\"category\","
    "categories=[0,1]}]";
const std::string kMatrix = npy(npy_header("<i4", "(3, 2)"), bytes_of<std::int32_t>({1, 0, 2, 1, 3, 0}));

TEST(Fuzz, Npy) {
  const Schema schema = parse_schema(kNumbers);
  survive("t.npy", kMatrix, [&](const std::string& path) { read_table(path, schema); });
}

TEST(Fuzz, Npz) {
  const Schema schema = parse_schema(kNumbers);
  for (const bool deflated : {false, true}) {
    const std::string archive =
        zip({{"X.npy", npy(npy_header("<f4", "(2, 1)"), bytes_of<float>({1, 2})), deflated},
             {"y.npy", npy(npy_header("|u1", "(2,)"), std::string("\x00\x01", 2)), deflated}});
    survive("t.npz", archive, [&](const std::string& path) { read_table(path, schema); });
  }
}

TEST(Fuzz, Idx) {
  const TemporaryFolder folder;
  const auto labels = folder.write("labels", idx_labels(2, std::string("\x01\x02", 2)));
  survive("images", idx_images(2, 2, 3, "abcdefghijkl"),
          [&](const std::string& path) { read_idx(path, labels); });
  const auto images = folder.write("images", idx_images(2, 1, 1, "ab"));
  survive("labels", idx_labels(2, std::string("\x01\x02", 2)),
          [&](const std::string& path) { read_idx(images, path); });
}

TEST(Fuzz, Cifar) {
  survive("batch.bin", '\x03' + std::string(3072, 'a') + '\x04' + std::string(3072, 'b'),
          [](const std::string& path) { read_cifar10({path}); });
}

TEST(Fuzz, Schema) {
  survive("s.toml", kSmallSchema, [](const std::string& path) { read_schema(path); });
}

TEST(Fuzz, Draft) {
  survive("t.csv", kCsv, [](const std::string& path) { parse_schema(draft_schema(path, "rich")); });
}

}  // namespace
}  // namespace ration::testing
