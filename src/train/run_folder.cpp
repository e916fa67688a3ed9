#include "train/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "ration/base/error.h"
#include "train/plan_files.h"
#include "train/private_rows.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "checkpoint/state.json";
// All that a run writes, beside its checkpoint.
const std::vector<std::string>& files_of_a_run() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"plan.toml",       "progress.csv", "certificate.json", "certificate.txt",
                                     "certificate.sig", "model.json",   kPrivateRows};
    for (const PlanFile& file : plan_files()) list.emplace_back(file.copy);
    return list;
  }();
  return names;
}

constexpr const char* kLock = "checkpoint/lock";

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw InputError(fmt::format("{}: cannot make this folder: {}", path.string(), error.message()));
}

// A process that finished meanwhile has removed the file that was locked.
bool is_still_at(const std::string& path, int descriptor) {
  struct stat there {};
  struct stat here {};
  return stat(path.c_str(), &there) == 0 && fstat(descriptor, &here) == 0 && there.st_ino == here.st_ino &&
         there.st_dev == here.st_dev;
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)), made_(other.made_), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  unlock();
}

void RunFolder::require_free() const {
  const std::string path = path_.string();
  if (has(kCheckpoint)) {
    throw InputError(
        fmt::format("{}: holds a run that is not finished; go on with it by --resume {}, or choose another "
                    "folder by --out",
                    path, path));
  }
  if (has("model.json")) {
    throw InputError(fmt::format("{}: holds a finished run; choose another folder by --out", path));
  }
  if (has("checkpoint")) return;  // what lies here is of a run that died before it began
  for (const std::string& name : files_of_a_run()) {
    if (has(name))
      throw InputError(fmt::format("{}: would be overwritten; choose another folder by --out", file(name)));
  }
}

RunFolder RunFolder::make(const std::string& path) {
  RunFolder folder{fs::path(path)};
  folder.require_free();
  folder.made_ = !folder.has("");
  make_folder(folder.path_ / "checkpoint");
  folder.lock();
  folder.require_free();  // another process may have been quicker
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  RunFolder folder{fs::path(path)};
  if (!folder.has(kCheckpoint)) {
    const bool finished = folder.has("model.json");
    if (finished) folder.remove_checkpoint();  // of a process that died while it did so
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
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 || !is_still_at(path, lock_)) {
    unlock();
    throw InputError(fmt::format("{}: another process is at work on this run", path_.string()));
  }
  remove_partly_written();
}

void RunFolder::unlock() {
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

bool RunFolder::has(const std::string& name) const {
  std::error_code ignored;
  return fs::exists(path_ / name, ignored);
}

void RunFolder::write(const std::string& name, const std::string& content) const {
  write_file_atomically(file(name), content);
}

std::string RunFolder::read(const std::string& name) const {
  return read_file(file(name));
}

std::string RunFolder::hash(const std::string& name) const {
  return sha256_of_file(file(name));
}

void RunFolder::save(const Checkpoint& checkpoint, const Sealer& seal) const {
  write(kCheckpoint, to_json(checkpoint, seal));
}

StoredCheckpoint RunFolder::load() const {
  return {read(kCheckpoint), file(kCheckpoint)};
}

// A checkpoint counts as long as its state is there.
void RunFolder::remove(const std::string& name) const {
  std::error_code ignored;
  fs::remove(path_ / name, ignored);
}

void RunFolder::remove_checkpoint() {
  std::error_code ignored;
  fs::remove(path_ / kCheckpoint, ignored);
  fs::remove_all(path_ / "checkpoint", ignored);
  unlock();
}

void RunFolder::remove_everything() {
  std::error_code ignored;
  fs::remove(path_ / kCheckpoint, ignored);
  for (const std::string& name : files_of_a_run()) fs::remove(path_ / name, ignored);
  remove_checkpoint();
  if (made_) fs::remove(path_, ignored);  // unless the user keeps something else there
}

// What a process that was killed while it wrote has left: see base/atomic_file.h.
void RunFolder::remove_partly_written() const {
  std::error_code ignored;
  for (const fs::path& folder : {path_, path_ / "checkpoint"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      const fs::path name = entry.path().filename();
      const std::string whole = name.stem().stem().string();
      const auto& names = files_of_a_run();
      const bool ours = whole == "state.json" || std::find(names.begin(), names.end(), whole) != names.end();
      if (ours && name.extension() == ".part") fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace ration
