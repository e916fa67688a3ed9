// Stable: changes only with a new major version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ration/base/names.h"

namespace ration::data {

// What is public about a table: the columns with their bounds and categories, and how the file is written.
// Bounds and categories decide the encoding, so they must be known without looking at the private rows
// [privacy: what may leave the door]; nothing in this folder ever learns them from the rows it reads (except
// draft_schema, which says so loudly).

// What a column holds; an ignored one is not read.
enum class ColumnType { number, category, ignore };
// What happens to a number outside its bounds: the file is refused, or the nearest bound takes its place.
enum class OutOfBounds { error, clamp };
// What happens to a category that is not listed: the file is refused, or it counts as "other".
enum class UnknownCategory { error, other };
// How a number comes into [0, 1]: (x - low) / (high - low), or the same of log(1 + x - low), for sums of
// money and the like.
enum class Scale { linear, log };
// How the rows are stored; by_name goes by the ending of the file's name (read_table).
enum class FileFormat { by_name, delimited, libsvm, npy, npz, images, text };

// The names of the formats.
inline constexpr NamedValue<FileFormat> kFileFormats[] = {
    {FileFormat::by_name, "auto", "By the ending of the file's name; csv for most."},
    {FileFormat::delimited, "csv", "Fields with a delimiter between them."},
    {FileFormat::libsvm, "libsvm", "Sparse rows, 'label index:value ...'."},
    {FileFormat::npy, "npy", "A NumPy array."},
    {FileFormat::npz, "npz", "NumPy arrays of features and labels."},
    {FileFormat::images, "images", "MNIST, Fashion-MNIST or CIFAR-10."},
    {FileFormat::text, "text", "Lines of a text and its label."},
};
// Found by base/names.h.
constexpr NameTable<FileFormat> name_table(FileFormat) {
  return {"format", kFileFormats};
}

// One column of a table: its name, and what everybody may know of its values.
struct Column {
  std::string name;                      // not empty, unlike all others
  ColumnType type = ColumnType::ignore;  // decides which of the members below count

  // Of a number.

  double low = 0;               // low < high, both finite
  double high = 1;              // the largest value there is
  Scale scale = Scale::linear;  // how it comes into [0, 1]
  // low < cuts increasing < high: one-hot by interval [cut, next cut) in place of scaling.
  std::vector<double> cuts;
  // low < knots increasing < high, also once scaled: beside the scaled value there is a hat for each knot, a
  // function that is 1 at its knot, falls to 0 in a straight line up to the neighbouring knots or bounds, and
  // is 0 elsewhere. A linear model can then follow any function that is straight between knots. Not together
  // with cuts.
  std::vector<double> knots;
  std::optional<double> fill;                      // in [low, high]: takes the place of a missing value
  OutOfBounds out_of_bounds = OutOfBounds::error;  // for values below low or above high
  std::optional<double> above;  // label only, low <= above < high: two classes, at most so much and more

  // Of a category.

  std::vector<std::string> categories;  // at least one, all different; a label's class is its place here
  std::map<std::string, std::string> aliases;  // other spellings -> category
  std::optional<std::string> fill_category;    // one of the categories: takes the place of a missing value
  bool missing_category = false;               // a missing value is a category of its own
  UnknownCategory unknown_category = UnknownCategory::error;  // for values that are not listed
};

// Features of a LIBSVM file, which has no names: all alike.
struct IndexedFeatures {
  std::size_t count = 0;                           // >= 1; indices run from 1 to it
  double low = 0;                                  // low < high
  double high = 1;                                 // the largest value there is
  OutOfBounds out_of_bounds = OutOfBounds::error;  // for values below low or above high
};

// What a model sees of an image.
//
// Features    pixels: each scaled from [0, 255] into [0, 1]. scatter: the wavelet scattering transform of
//             depth 2, normalised within each image (src/data/scattering.h), a fixed public function of the
//             one image.
enum class ImageFeatures { pixels, scatter };

// Images of one size, as `mnist:` and its like name them (docs/networks.md): a byte per pixel, and the place
// of its class as label.
struct ImageShape {
  std::size_t channels = 1;  // 1 to 16
  std::size_t height = 1;    // 1 to 1024
  std::size_t width = 1;     // 1 to 1024
  // For scatter, height and width are multiples of 4 from 8 to 128.
  ImageFeatures features = ImageFeatures::pixels;

  // Bytes of one image.
  std::size_t pixels() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

// What a text is cut into, and what a model sees of it.
//
// Tokens      words: runs of letters, digits and bytes above 127, capitals A to Z made small; a word's id is
//             1 + its 64-bit FNV-1a hash modulo vocabulary - 1. bytes: a byte's id is 1 + its value. No
//             vocabulary is ever learned from the rows.
// Features    bag: a column per id, 1 / sqrt(k) for each of the k ids in the text, so that the row has norm 1
//             (bias aside) whatever its length. ids: the first `length` ids in their order, then zeros.
enum class Tokens { words, bytes };
// The encoded columns of a text; see Tokens.
enum class TextFeatures { bag, ids };

// Lines of two fields with a tab between: a text and its label.
struct TextShape {
  // Every byte, and padding.
  static constexpr std::size_t kByteVocabulary = 257;

  Tokens tokens = Tokens::words;              // what has an id
  TextFeatures features = TextFeatures::bag;  // linear models take bags, networks ids
  std::size_t vocabulary = 1u << 14;          // 2 to 2^24, id 0 for padding included; 257 for bytes
  std::size_t length = 64;                    // 1 to 65536; ids only
  bool label_first = false;                   // the label comes before the text

  bool operator==(const TextShape&) const = default;
};

// All that is public about a table; docs/schema.md describes each key.
struct Schema {
  std::string file = "schema";              // named in messages
  FileFormat format = FileFormat::by_name;  // of the rows

  // How a delimited file is written.

  char delimiter = ',';              // ' ' stands for any run of blanks and tabs
  bool header = true;                // the first line names the columns, in any order
  bool trim = true;                  // blanks around an unquoted field do not count
  std::uint64_t skip_lines = 0;      // at the beginning
  std::string skip_lines_starting;   // lines that begin so are skipped; empty: none
  std::vector<std::string> missing;  // how a missing value is written

  std::string features_array = "X";  // of an .npz file: a matrix
  std::string labels_array = "y";    // of an .npz file: a vector

  std::vector<Column> columns;                      // in the file's order if it has no header
  std::string label;                                // one of the columns, of type number or category
  std::optional<IndexedFeatures> indexed_features;  // LIBSVM only, where `columns` holds the label alone
  std::optional<ImageShape> image;                  // images only, likewise
  std::optional<TextShape> text;                    // texts only, likewise
  bool bias = true;                                 // a last column of ones
  // The column that says whose a row is, of type ignore: what is protected is a unit with all its rows.
  // Empty: the row.
  std::string unit;
  std::size_t rows_per_unit = 0;       // >= 1 with a unit: no more rows of a unit are used
  std::optional<double> max_row_norm;  // > 0: longer rows are shortened to it

  // The column named by `label`; InputError if there is none.
  const Column& label_column() const;
  // Its place among `columns`.
  std::size_t label_index() const;
  // What the label's classes are called, in their order; none if the label is a number.
  std::vector<std::string> class_names() const;
  // How many classes the label has; 0 if it is a number.
  std::size_t classes() const { return class_names().size(); }
};

// The work and memory of a unit grow with the square of its rows.
inline constexpr std::size_t kMostRowsPerUnit = 256;

// What a schema breaks, and in which column if it is about one; nothing if it is sound.
struct SchemaFault {
  std::optional<std::size_t> column;  // its place
  std::string message;                // says the rule
};
// The first rule that the schema breaks.
std::optional<SchemaFault> find_fault(const Schema& schema);
// Throws InputError unless the schema is sound. Every reader asks; so does whoever changes a schema in
// memory.
void require_sound(const Schema& schema);

// From TOML; docs/schema.md lists the keys. An unknown key, a wrong type or a broken rule is refused with
// file, line, key and rule.
Schema parse_schema(std::string_view toml, std::string file = "schema");
// From a file; messages name it.
Schema read_schema(const std::string& path);
// The TOML that parse_schema reads back as the same schema.
std::string to_toml(const Schema& schema);

}  // namespace ration::data
