#include "train/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "ration/base/atomic_file.h"
#include "ration/base/error.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "checkpoint/state.json";
constexpr const char* kLock = "checkpoint/lock";

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw InputError(fmt::format("{}: cannot make this folder: {}", path.string(), error.message()));
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot read this file", path.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  unlock();
}

RunFolder RunFolder::make(const std::string& path) {
  RunFolder folder{fs::path(path)};
  if (fs::exists(folder.file(kCheckpoint))) {
    throw InputError(fmt::format(
        "{}: holds a run that is not finished; go on with it by --resume {}, or choose another folder", path,
        path));
  }
  if (fs::exists(folder.file("model.json"))) {
    throw InputError(fmt::format("{}: holds a finished run; choose another folder", path));
  }
  make_folder(folder.path_ / "checkpoint");
  folder.lock();
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  RunFolder folder{fs::path(path)};
  if (!fs::exists(folder.file(kCheckpoint))) {
    const bool finished = fs::exists(folder.file("model.json"));
    throw InputError(fmt::format("{}: {}", path,
                                 finished ? "this run is finished" : "there is no run to go on with here"));
  }
  folder.lock();
  return folder;
}

void RunFolder::lock() {
  const std::string path = file(kLock);
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) throw InputError(fmt::format("{}: cannot write here: {}", path, std::strerror(errno)));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  unlock();
  throw InputError(fmt::format("{}: another process is at work on this run", path_.string()));
}

void RunFolder::unlock() {
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

void RunFolder::write(const std::string& name, const std::string& content) const {
  write_file_atomically(file(name), content);
}

std::string RunFolder::read(const std::string& name) const {
  return contents(file(name));
}

void RunFolder::save(const Checkpoint& checkpoint) const {
  write(kCheckpoint, to_json(checkpoint));
}

Checkpoint RunFolder::load() const {
  return checkpoint_from_json(read(kCheckpoint), file(kCheckpoint));
}

void RunFolder::remove_checkpoint() {
  std::error_code ignored;
  fs::remove_all(path_ / "checkpoint", ignored);
  unlock();
}

void RunFolder::remove_everything() {
  std::error_code ignored;
  remove_checkpoint();
  for (const char* name : {"plan.toml", "schema.toml", "progress.csv"}) fs::remove(path_ / name, ignored);
  fs::remove(path_, ignored);  // unless the user keeps something else there
}

}  // namespace ration
