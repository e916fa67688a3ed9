#include "data/byte_source.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "data/complaint.h"
#include "data/open_file.h"
#include "ration/base/error.h"

namespace ration::data {

struct ByteSource::Stream {
  explicit Stream(int descriptor) : file(gzdopen(descriptor, "rb")) {
    if (file == nullptr) {
      ::close(descriptor);
      throw InternalError("cannot set up the decompressor: out of memory");
    }
    gzbuffer(file, 1u << 18);
  }
  ~Stream() { gzclose_r(file); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::string trouble() const {
    int code = Z_OK;
    const char* text = gzerror(file, &code);
    if (code == Z_OK || code == Z_STREAM_END) return "";
    if (code == Z_ERRNO) return fmt::format("cannot read: {}", std::strerror(errno));
    if (code == Z_BUF_ERROR) return "the gzip stream is truncated";
    // zlib puts its own name of the file before the reason.
    const std::string_view said = text;
    const std::size_t name_end = said.find(": ");
    const std::string_view reason = name_end == said.npos ? said : said.substr(name_end + 2);
    return fmt::format("the gzip stream is corrupt ({})", reason);
  }

  gzFile file;
};

ByteSource::ByteSource(std::string path)
    : path_(std::move(path)), stream_(std::make_unique<Stream>(open_to_read(path_))) {}

ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(std::span<char> out) {
  constexpr std::size_t kMostAtOnce = 1u << 30;  // gzread counts in int
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto wanted = static_cast<unsigned>(std::min(out.size() - filled, kMostAtOnce));
    const int got = gzread(stream_->file, out.data() + filled, wanted);
    if (got > 0) delivered_ += static_cast<std::uint64_t>(got);
    // A stream that ends early delivers its last good bytes as if all were well, and says so only when asked.
    const std::string trouble = got < static_cast<int>(wanted) ? stream_->trouble() : "";
    if (got < 0 || !trouble.empty())
      refuse(path_, fmt::format("{} after {} good bytes", trouble, delivered_));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::vector<char> read_all(ByteSource& source, std::uint64_t most) {
  constexpr std::size_t kBlock = 1u << 16;
  std::vector<char> bytes;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kBlock);
    const std::size_t got = source.read(std::span(bytes).subspan(before));
    bytes.resize(before + got);
    if (bytes.size() > most) refuse(source.path(), fmt::format("expected at most {} bytes, got more", most));
    if (got < kBlock) return bytes;
  }
}

}  // namespace ration::data
