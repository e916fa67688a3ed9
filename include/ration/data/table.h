// Stable: changes only with a new major version.
#pragma once

#include <string>
#include <vector>

#include "ration/data/bad_rows.h"
#include "ration/data/rows.h"
#include "ration/data/schema.h"

namespace ration::data {

// A table as a model sees it, with the names a report shows.
struct Table {
  Rows rows;  // encoded
  // Of the encoded columns: age, age near 30, workclass=Private, workclass=(missing), (bias).
  std::vector<std::string> column_names;
  std::vector<std::string> classes;  // a label c is classes[c]; empty if labels are numbers
  // Rows of the file that are not in `rows`, because they broke the schema (OnBadRow). They contribute
  // nothing, and count wherever rows are counted or drawn.
  std::size_t left_out = 0;
  // If they were asked for: which unit each of `rows` belongs to, numbered as they first appear, and how many
  // units there are, those of whose rows none is left included. A row that does not say whose it is, because
  // its unit is missing or it has too few or too many fields, breaks the schema and belongs to none.
  std::vector<std::size_t> unit_of_row{};
  std::size_t units = 0;  // how many there are, if they were asked for
};

// The encoded columns, known from the public schema before a row is read.
//
// Encoding    a number is scaled into [0, 1] by its public bounds, followed by a hat for each of its knots,
//             or one-hot by its cuts; hats are in [0, 1], two of them at most are not 0, and their sum is at
//             most 1. A category is one-hot, with a column more for missing values and for others if the
//             schema has them; the bias column is 1. Features of a LIBSVM file are divided by
//             max(|low|, |high|), so that zero stays zero. A class is its place in the list of categories; a
//             numeric label keeps its unit. Pixels are scaled from [0, 255] into [0, 1]; texts are encoded as
//             schema.h says. Last, rows are shortened to max_row_norm if there is one.
std::vector<std::string> encoded_column_names(const Schema& schema);

// How a file is read.
struct ReadOptions {
  bool labels = true;                      // false: the file may lack the label column, and labels are NaN
  OnBadRow on_bad_row = OnBadRow::refuse;  // what happens to rows that break the schema
  bool units = false;                      // whose each row is, by the schema's unit
};

// Reads data of any format (the schema's, or by the name's ending: .npy, .npz, otherwise CSV), gzip or not;
// `path` may be any name of docs/networks.md. A table without rows is refused.
//
// Throws PublicFault if the file as a whole does not fit the schema; BadRows, with file, line, column, value
// and rule of the first twenty complaints, if rows do not; InputError if it cannot be cut into rows.
Table read_table(const std::string& path, const Schema& schema, const ReadOptions& options = {});

// Values between delimiters, as the schema says.
Table read_csv(const std::string& path, const Schema& schema, const ReadOptions& options = {});
// Lines "label index:value index:value ...", indices from 1.
Table read_libsvm(const std::string& path, const Schema& schema, const ReadOptions& options = {});
// A matrix whose columns are those of the schema, in order.
Table read_npy(const std::string& path, const Schema& schema, const ReadOptions& options = {});
// A matrix of features and a vector of labels, by the names in the schema.
Table read_npz(const std::string& path, const Schema& schema, const ReadOptions& options = {});

// `name` is one of docs/networks.md. Images without labels are not read: options.labels = false only hides
// the labels.
Table read_images(const std::string& name, const Schema& schema, const ReadOptions& options = {});
// `name` is text:FILE or a file. Without labels, a line may be the text alone.
Table read_texts(const std::string& name, const Schema& schema, const ReadOptions& options = {});

}  // namespace ration::data
