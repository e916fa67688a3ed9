#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "ration/base/error.h"

namespace ration {
namespace {

bool is_the_machines_failure(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EMFILE ||
         error == ENFILE;
}

[[noreturn]] void refuse(const std::string& path, int error) {
  const std::string message = fmt::format("{}: cannot write: {}", path, std::strerror(error));
  if (is_the_machines_failure(error)) throw InternalError(message);
  throw InputError(message);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  bool write(std::string_view content) const;
  bool flush_to_disk() const { return fsync(number_) == 0; }
  // False, with errno set, if the file system had kept an error back until now.
  bool close();

 private:
  int number_;
};

bool Descriptor::write(std::string_view content) const {
  while (!content.empty()) {
    const ssize_t written = ::write(number_, content.data(), content.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool Descriptor::close() {
  if (number_ < 0) return true;
  const int closed = ::close(number_);
  number_ = -1;
  return closed == 0;
}

bool write_whole_file(const std::string& path, std::string_view content) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  return file.is_open() && file.write(content) && file.flush_to_disk() && file.close();
}

// The rename is in the folder, so that is what must reach the disk. Some file systems cannot flush a folder;
// there the content is safe and the name is as safe as it gets.
void flush_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor entry(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entry.is_open() && !entry.flush_to_disk() && errno == EIO) refuse(path, errno);
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(path, ignored)) {
    throw InputError(fmt::format("'{}': cannot write: expected a file name", path));
  }
  const std::string beside = fmt::format("{}.{}.part", path, getpid());
  if (!write_whole_file(beside, content) || std::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(beside.c_str());
    refuse(path, error);
  }
  flush_folder_of(path);
}

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(fmt::format("{}: cannot read: it is a folder", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace ration
