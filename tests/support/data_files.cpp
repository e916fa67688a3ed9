#include "support/data_files.h"

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace ration::testing {

std::optional<std::string> data_file(const std::string& relative_path) {
  const char* folder = std::getenv("RATION_DATA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  const std::string path = folder + ("/" + relative_path);
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzipWindow = MAX_WBITS + 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("zlib");
  return out;
}

}  // namespace ration::testing
