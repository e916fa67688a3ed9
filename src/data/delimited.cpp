#include "data/delimited.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "data/complaint.h"

namespace ration::data {

DelimitedReader::DelimitedReader(std::string path, DelimitedOptions options)
    : lines_(std::move(path)), options_(std::move(options)), by_blanks_(options_.delimiter == ' ') {
  for (std::uint64_t i = 0; i < options_.skip_lines; ++i) {
    if (!lines_.next()) return;
  }
}

bool DelimitedReader::next() {
  if (!next_record_line()) return false;
  fields_.clear();
  const std::string_view text = lines_.text();
  if (std::memchr(text.data(), '"', text.size()) == nullptr) {
    split_plain();
  } else {
    split_quoted();
  }
  return true;
}

bool DelimitedReader::next_record_line() {
  while (lines_.next_filled()) {
    if (options_.skip_lines_starting.empty() || !lines_.text().starts_with(options_.skip_lines_starting))
      return true;
  }
  return false;
}

// The usual case: no quote in the line.
void DelimitedReader::split_plain() {
  const std::string_view text = lines_.text();
  if (by_blanks_) {
    for (std::size_t at = skip_blanks(0); at < text.size(); at = skip_blanks(at)) {
      const std::size_t begin = at;
      while (at < text.size() && !is_blank(text[at])) ++at;
      fields_.push_back(text.substr(begin, at - begin));
    }
    return;
  }
  const char delimiter = options_.delimiter;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != delimiter) continue;
    fields_.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  fields_.push_back(trimmed(text.substr(begin)));
}

// Offsets first, views last: a quoted field may pull in further lines, which moves the text.
void DelimitedReader::split_quoted() {
  pieces_.clear();
  unescaped_.clear();
  std::size_t at = by_blanks_ ? skip_blanks(0) : 0;
  for (;;) {
    const std::size_t start = options_.trim ? skip_blanks(at) : at;
    const bool is_quoted = start < lines_.text().size() && lines_.text()[start] == '"';
    at = is_quoted ? take_quoted(start) : take_unquoted(at);
    if (at == lines_.text().size()) break;
    at = by_blanks_ ? skip_blanks(at) : at + 1;
    if (by_blanks_ && at == lines_.text().size()) break;
  }
  for (const Piece& piece : pieces_) {
    const std::string_view from = piece.unescaped ? std::string_view(unescaped_) : lines_.text();
    fields_.push_back(from.substr(piece.begin, piece.length));
  }
}

// From the opening quote at `at` to the delimiter or end after the closing one.
std::size_t DelimitedReader::take_quoted(std::size_t at) {
  bool doubled = false;
  const std::size_t close = closing_quote(at + 1, doubled);
  if (doubled) {
    keep_unescaped(at + 1, close);
  } else {
    pieces_.push_back({at + 1, close - at - 1, false});
  }
  const std::string_view text = lines_.text();
  const std::size_t after = options_.trim && !by_blanks_ ? skip_blanks(close + 1) : close + 1;
  const bool ends =
      after == text.size() || text[after] == options_.delimiter || (by_blanks_ && is_blank(text[after]));
  if (!ends) {
    const bool separates = std::string_view(",;|\t").find(text[after]) != std::string_view::npos;
    lines_.refuse_here(fmt::format("field {}: text {} after the closing quote; {}", pieces_.size(),
                                   in_quotes(text.substr(after)),
                                   separates ? "set delimiter in the schema to what separates the fields"
                                             : "double a quote within quotes"));
  }
  return after;
}

std::size_t DelimitedReader::take_unquoted(std::size_t at) {
  const std::string_view text = lines_.text();
  std::size_t end = at;
  while (end < text.size() && !(by_blanks_ ? is_blank(text[end]) : text[end] == options_.delimiter)) ++end;
  const std::string_view field = trimmed(text.substr(at, end - at));
  check_no_quote(field);
  pieces_.push_back({static_cast<std::size_t>(field.data() - text.data()), field.size(), false});
  return end;
}

// Goes on to further lines where the quote is still open.
std::size_t DelimitedReader::closing_quote(std::size_t at, bool& doubled) {
  for (;;) {
    const std::size_t quote = lines_.text().find('"', at);
    if (quote == std::string_view::npos) {
      at = lines_.text().size();
      if (!lines_.append_next()) {
        lines_.refuse_here(fmt::format("field {}: the quote is never closed", pieces_.size() + 1));
      }
      continue;
    }
    const bool is_doubled = quote + 1 < lines_.text().size() && lines_.text()[quote + 1] == '"';
    if (!is_doubled) return quote;
    doubled = true;
    at = quote + 2;
  }
}

void DelimitedReader::keep_unescaped(std::size_t begin, std::size_t end) {
  const std::string_view text = lines_.text();
  const std::size_t start = unescaped_.size();
  for (std::size_t i = begin; i < end; ++i) {
    unescaped_ += text[i];
    if (text[i] == '"') ++i;  // the second of two
  }
  pieces_.push_back({start, unescaped_.size() - start, true});
}

std::size_t DelimitedReader::skip_blanks(std::size_t at) const {
  const std::string_view text = lines_.text();
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// A tab is a blank unless it is the delimiter.
bool DelimitedReader::is_blank(char c) const {
  return c == ' ' || (c == '\t' && options_.delimiter != '\t');
}

std::string_view DelimitedReader::trimmed(std::string_view field) const {
  if (!options_.trim) return field;
  while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  return field;
}

void DelimitedReader::check_no_quote(std::string_view field) const {
  if (field.find('"') == std::string_view::npos) return;
  lines_.refuse_here(
      fmt::format("field {}: quote within the unquoted value {}; quote the whole field and double the quote",
                  pieces_.size() + 1, in_quotes(field)));
}

}  // namespace ration::data
