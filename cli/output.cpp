#include "output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ration/base/error.h"

namespace ration::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view reason) {
  throw InputError(fmt::format("{}: cannot write: {}", path, reason));
}

}  // namespace

void write_file(const std::string& path, std::string_view content) {
  if (path.empty() || std::filesystem::is_directory(path)) refuse("'" + path + "'", "expected a file name");
  const std::string beside = fmt::format("{}.{}.part", path, getpid());
  std::ofstream out(beside, std::ios::binary);
  if (!out) refuse(path, std::strerror(errno));
  out << content;
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, path, error);
  if (out && !error) return;
  const std::string reason = error ? error.message() : std::strerror(errno);
  std::filesystem::remove(beside, error);
  refuse(path, reason);
}

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw InternalError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

}  // namespace ration::cli
