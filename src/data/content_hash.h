#pragma once

#include <string>
#include <vector>

namespace ration::data {

// SHA-256 of a file's bytes as they lie on the disk (compressed if it is), in hexadecimal: what ledger and
// certificate know a data set by. Two encodings of the same rows are different files here, so a ledger is not
// fooled into merging, only into separating, data sets: keep one file per data set.
std::string content_hash(const std::string& path);
// One hash for a data set of several files: of their hashes, in order.
std::string content_hash(const std::vector<std::string>& paths);

}  // namespace ration::data
