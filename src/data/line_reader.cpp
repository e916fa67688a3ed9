#include "data/line_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "data/complaint.h"

namespace ration::data {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

}  // namespace

LineReader::LineReader(std::string path) : source_(std::move(path)), buffer_(kBlock) {
  lines_in_text_ = 0;  // there is no text yet
  line_ = 1;
  fill();
  skip_byte_order_mark();
}

bool LineReader::next() {
  line_ += lines_in_text_;
  begin_ = end_ = after_;
  lines_in_text_ = 1;
  if (!find_line_end(begin_)) return false;
  check(begin_, line_);
  return true;
}

bool LineReader::next_filled() {
  if (!next()) return false;
  if (!is_blank(text())) return true;
  const std::uint64_t blank = line_;
  while (next()) {
    if (!is_blank(text()))
      refuse(path(), blank, "blank line between records; only the end of a file may have them");
  }
  return false;
}

bool LineReader::append_next() {
  const std::size_t already = after_ - begin_;
  if (!find_line_end(after_)) return false;
  check(begin_ + already, line_ + lines_in_text_);
  ++lines_in_text_;
  return true;
}

void LineReader::refuse_here(std::string_view message) const {
  refuse(path(), line_, message);
}

// Sets end_ and after_ to the end of the line that begins at `from`; false if the file has ended there.
bool LineReader::find_line_end(std::size_t from) {
  std::size_t searched = from;
  for (;;) {
    const void* found = std::memchr(buffer_.data() + searched, '\n', filled_ - searched);
    if (found != nullptr) {
      end_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      after_ = end_ + 1;
      break;
    }
    searched = filled_;
    const std::size_t moved = begin_;
    const bool more = fill();
    from -= moved;
    searched -= moved;
    if (more) continue;
    if (from == filled_) return false;
    end_ = after_ = filled_;
    break;
  }
  if (end_ > from && buffer_[end_ - 1] == '\r') --end_;
  return true;
}

// Moves what is unread to the front and reads on; false at the end of the file.
bool LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
  filled_ -= begin_;
  end_ -= begin_;
  after_ -= begin_;
  begin_ = 0;
  if (filled_ > kLongestRecord) {
    refuse_here(fmt::format("record longer than {} MiB; is a quote never closed, or is this no text file?",
                            kLongestRecord >> 20));
  }
  if (buffer_.size() - filled_ < kBlock) buffer_.resize(filled_ + kBlock);
  const std::size_t got = source_.read(std::span(buffer_).subspan(filled_, kBlock));
  filled_ += got;
  return got > 0;
}

void LineReader::skip_byte_order_mark() {
  const std::string_view start(buffer_.data(), filled_);
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    refuse(path(), 1, "expected UTF-8, got UTF-16 (by its byte order mark); convert it, e.g. with iconv");
  }
  if (start.starts_with("\xEF\xBB\xBF")) after_ = 3;
}

void LineReader::check(std::size_t from, std::uint64_t line) const {
  const std::string_view added(buffer_.data() + from, end_ - from);
  if (added.find('\0') != std::string_view::npos) {
    refuse(path(), line, fmt::format("NUL byte at byte {} of the line; expected text", added.find('\0') + 1));
  }
  if (!is_utf8(added)) refuse(path(), line, fmt::format("expected UTF-8, got {}", in_quotes(added)));
  if (added.find('\r') != std::string_view::npos) {
    refuse(path(), line, "carriage return within a line; end lines with LF or CRLF");
  }
}

}  // namespace ration::data
