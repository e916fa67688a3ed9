#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/line_reader.h"

namespace ration::data {

struct DelimitedOptions {
  char delimiter = ',';             // ' ' stands for any run of blanks and tabs
  bool trim = true;                 // blanks around an unquoted field do not count
  std::uint64_t skip_lines = 0;     // at the start
  std::string skip_lines_starting;  // empty: none
};

// The records of a CSV or TSV file, in constant memory: fields between delimiters; quotes around a field may
// hold delimiters, line ends and doubled quotes [RFC 4180].
//
// Refused   a quote within an unquoted field, text after a closing quote, a quote that is never closed, and
//           whatever LineReader refuses.
class DelimitedReader {
 public:
  DelimitedReader(std::string path, DelimitedOptions options);

  // The next record becomes fields(); false at the end. Views are good until the next call.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::uint64_t line() const { return lines_.line(); }
  const std::string& path() const { return lines_.path(); }

 private:
  struct Piece {
    std::size_t begin;
    std::size_t length;
    bool unescaped;  // in unescaped_ rather than in the record
  };

  bool next_record_line();
  void split_plain();
  void split_quoted();
  std::size_t take_quoted(std::size_t at);
  std::size_t take_unquoted(std::size_t at);
  std::size_t skip_blanks(std::size_t at) const;
  std::size_t closing_quote(std::size_t at, bool& doubled);
  void keep_unescaped(std::size_t begin, std::size_t end);
  std::string_view trimmed(std::string_view field) const;
  void check_no_quote(std::string_view field) const;
  bool is_blank(char c) const;

  LineReader lines_;
  DelimitedOptions options_;
  bool by_blanks_;
  std::vector<std::string_view> fields_;
  std::vector<Piece> pieces_;
  std::string unescaped_;
};

}  // namespace ration::data
