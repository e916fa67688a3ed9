#include "base/user_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "base/atomic_file.h"
#include "ration/base/error.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

// A relative one is ignored, as the XDG Base Directory Specification wants.
std::optional<fs::path> absolute_path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
  return fs::path(value);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

SecretKey read_key(const std::string& path) {
  std::string digits = read_file(path);
  if (!digits.empty() && digits.back() == '\n') digits.pop_back();
  if (const auto key = SecretKey::from_hexadecimal(digits)) return *key;
  throw InputError(
      fmt::format("{}: expected a key of 64 hexadecimal digits; remove the file to have a new "
                  "one made (runs without a ledger that are not finished cannot go on then)",
                  path));
}

void make_private_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder.parent_path(), ignored);
  ::mkdir(folder.c_str(), 0700);
}

bool write_new(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  return ::close(file) == 0 && written;
}

// Written beside and linked into its place, so that nobody reads half a key and the first of several
// processes wins.
void make_key(const std::string& path) {
  make_private_folder(fs::path(path).parent_path());
  const std::string beside = fmt::format("{}.{}.part", path, ::getpid());
  ::unlink(beside.c_str());
  if (write_new(beside, SecretKey::fresh().hexadecimal() + "\n"))
    std::ignore = ::link(beside.c_str(), path.c_str());
  ::unlink(beside.c_str());
}

}  // namespace

std::optional<std::string> user_key_file() {
  if (const auto state = absolute_path_in("XDG_STATE_HOME")) return (*state / "ration" / "key").string();
  if (const auto home = absolute_path_in("HOME")) return (*home / ".local/state/ration/key").string();
  return std::nullopt;
}

std::optional<SecretKey> user_key() {
  const auto path = user_key_file();
  if (!path) return std::nullopt;
  if (!exists(*path)) make_key(*path);
  if (!exists(*path)) return std::nullopt;
  return read_key(*path);
}

}  // namespace ration
