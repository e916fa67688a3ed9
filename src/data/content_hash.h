#pragma once

#include <string>
#include <vector>

namespace ration::data {

// SHA-256 of a file's bytes as they lie on the disk (compressed if it is), in hexadecimal: what a ledger
// knows a data set by, under its key. Private: who guesses a whole file can check the guess by it
// (data/data_hash.h). Two encodings of the same rows are different files here, so a ledger is not
// fooled into merging, only into separating, data sets: keep one file per data set.
std::string content_hash(const std::string& path);
// One hash for a data set of several files: of their hashes, in order.
std::string content_hash(const std::vector<std::string>& paths);
// By which these files may be known elsewhere: the hash of all together first, then that of each.
std::vector<std::string> content_hashes(const std::vector<std::string>& paths);

}  // namespace ration::data
