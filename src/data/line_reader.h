#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_source.h"

namespace ration::data {

// Walks through a text file line by line in constant memory. LF and CRLF end a line; the last may do without.
// A UTF-8 byte order mark is skipped.
//
// Refused   NUL bytes, text that is not UTF-8 (UTF-16 by its mark), a carriage return within a line, records
//           longer than kLongestRecord.
class LineReader {
 public:
  static constexpr std::size_t kLongestRecord = std::size_t{4} << 20;

  explicit LineReader(std::string path);

  // The next line becomes text(); false at the end of the file.
  bool next();
  // The same, but empty lines at the end of the file count as the end, and one before that is refused.
  bool next_filled();
  // text() grows by the following line, the line end between them included; false at the end of the file. For
  // quoted fields that span lines. Earlier views of text() are invalid, offsets into it are not.
  bool append_next();

  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }
  // Where text() begins, from 1.
  std::uint64_t line() const { return line_; }
  const std::string& path() const { return source_.path(); }
  [[noreturn]] void refuse_here(std::string_view message) const;

 private:
  bool find_line_end(std::size_t from);
  bool fill();
  void skip_byte_order_mark();
  void check(std::size_t from, std::uint64_t line) const;

  ByteSource source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;   // of text()
  std::size_t end_ = 0;     // of text(), before the line end
  std::size_t after_ = 0;   // of the following line
  std::size_t filled_ = 0;  // bytes of the buffer in use
  std::uint64_t line_ = 0;
  std::uint64_t lines_in_text_ = 1;
};

}  // namespace ration::data
