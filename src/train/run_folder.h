#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/checkpoint.h"

namespace ration {

// A run's folder on the disk, locked against other processes while this object lives.
//
// checkpoint/ exists from the first charge to the end of the run; a folder with model.json and without it is
// finished.
class RunFolder {
 public:
  // A folder without a run, and without files a run would overwrite; InputError otherwise. One in which a run
  // died before its first checkpoint is free.
  static RunFolder make(const std::string& path);
  // One that holds an unfinished run.
  static RunFolder open(const std::string& path);
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  bool has(const std::string& name) const;
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  void remove(const std::string& name) const;       // if it is there
  std::string hash(const std::string& name) const;  // SHA-256

  void save(const Checkpoint& checkpoint, const Sealer& seal) const;
  // Read once.
  StoredCheckpoint load() const;
  // The run is finished.
  void remove_checkpoint();
  // The run never began, or is worthless. Leaves what is not the run's.
  void remove_everything();

 private:
  explicit RunFolder(std::filesystem::path path);
  void require_free() const;
  void lock();
  void unlock();
  void remove_partly_written() const;

  std::filesystem::path path_;
  bool made_ = false;  // the folder was not there before
  int lock_ = -1;
};

}  // namespace ration
