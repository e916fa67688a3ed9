#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ration::data {

// The bytes of a file, decompressed on the way if it begins like a gzip file (whatever its name).
//
// Edge cases  a missing or unreadable file, a folder, and a truncated or corrupt gzip stream are refused with
//             the file's name (and, for gzip, how many good bytes came before). Several gzip members are read
//             as one.
class ByteSource {
 public:
  explicit ByteSource(std::string path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Fills the span; returns fewer bytes only at the end of the file.
  std::size_t read(std::span<char> out);
  const std::string& path() const { return path_; }

 private:
  struct Stream;

  std::string path_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t delivered_ = 0;
};

// The whole file, decompressed. Grows with what is really there, never with what a header says; refuses more
// than `most` bytes.
std::vector<char> read_all(ByteSource& source, std::uint64_t most);

}  // namespace ration::data
