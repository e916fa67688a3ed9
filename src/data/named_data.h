#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ration/data/schema.h"

namespace ration::data {

// What --data may name: a file of rows, or images and texts in a public format, which bring a schema of their
// own.
//
//   mnist:DIR       the IDX files of MNIST in the folder DIR, gzip or not; mnist:DIR:test for the test images
//   fashion-mnist   the same of Fashion-MNIST, where Debian's package dataset-fashion-mnist puts them;
//                   fashion-mnist:DIR, fashion-mnist:test, fashion-mnist:DIR:test
//   cifar10:DIR     every data_batch_*.bin in DIR, gzip or not, in the order of their names; cifar10:DIR:test
//                   every test_batch*.bin
//   text:FILE       lines "text<TAB>0" and "text<TAB>1"
//
// Anything else is a file's name; "./fashion-mnist" is one too. Relative paths are looked for as find_file.h
// says.

enum class DataKind { file, mnist, fashion_mnist, cifar10, text };

struct NamedData {
  DataKind kind = DataKind::file;
  std::string path{};  // the file or the folder; empty: Fashion-MNIST where its package puts it
  bool test = false;   // the test images, not those to train on

  bool operator==(const NamedData&) const = default;
};

NamedData parse_data_name(const std::string& name);
std::string to_string(const NamedData& data);

// The same data with the path where it was found; InputError that says what was expected there.
std::string find_data(const std::string& name, const std::string& beside = "");
// A name that means the same wherever it is read; nothing is looked for.
std::string with_absolute_path(const std::string& name);

// What the data is called, without the folder it lies in: "census.csv", "mnist:digits:test". What is
// published with a model names its data so.
std::string name_without_folder(const std::string& name);

// Every file of the data in a fixed order; InputError naming the one that is absent. A plain file is not
// looked for. content_hash(files_of(name)) is what a ledger knows the data by.
std::vector<std::string> files_of(const std::string& name);

// What the format makes public; nothing for a file, which needs a schema.
std::optional<Schema> schema_of_data(const std::string& name);

// The number of rows where it is public by the format: MNIST and Fashion-MNIST have 60,000 images to train on
// and 10,000 to test, a data_batch of CIFAR-10 has 10,000. Nobody's rows are counted.
std::optional<double> public_rows(const std::string& name);

}  // namespace ration::data
